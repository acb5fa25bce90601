package advisory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	a = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	b = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	c = "cccccccccccccccccccccccccccccccccccccccc"
	d = "dddddddddddddddddddddddddddddddddddddddd"
)

// brief writes findings with ids of one letter.
func brief(found []Finding) []string {
	var out []string
	for _, f := range found {
		s := fmt.Sprintf("%s/%s %.1s<-%.1s %s", f.Repo.Owner, f.Repo.Name, f.Fix, f.Intro, f.Cue)
		if f.Repo.Host != "" {
			s = f.Repo.Host + ":" + s
		}
		if f.PR > 0 {
			s += fmt.Sprintf(" #%d", f.PR)
		}
		if f.LastAffected != "" {
			s += fmt.Sprintf(" last %.1s", f.LastAffected)
		}
		if f.Limit != "" {
			s += fmt.Sprintf(" limit %.1s", f.Limit)
		}
		if f.Guessed {
			s += " guessed"
		}
		for _, u := range f.Unknown() {
			s += " ?" + u
		}
		out = append(out, s)
	}
	return out
}

// git is a record with one range of commits.
func git(events string) string {
	return `{"id": "X-1", "affected": [{"ranges": [{"type": "GIT", "repo": "https://github.com/o/r.git", "events": [` + events + `]}]}]}`
}

func TestFindings(t *testing.T) {
	t.Parallel()
	in := func(id string) string { return `{"introduced": "` + id + `"}` }
	fix := func(id string) string { return `{"fixed": "` + id + `"}` }
	for name, tt := range map[string]struct {
		record string
		want   []string
	}{
		"a pair":               {git(in(a) + "," + fix(b)), []string{"o/r b<-a events"}},
		"unknown origin":       {git(in("0") + "," + fix(b)), []string{"o/r b<- events ?intro"}},
		"all zeros":            {git(in(strings.Repeat("0", 40)) + "," + fix(b)), []string{"o/r b<- events ?intro"}},
		"two pairs":            {git(in(a) + "," + fix(b) + "," + in(c) + "," + fix(d)), []string{"o/r b<-a events", "o/r d<-c events"}},
		"two branches":         {git(in(a) + "," + fix(b) + "," + fix(c)), []string{"o/r b<-a events", "o/r c<-a events"}},
		"two origins":          {git(in(a) + "," + in(b) + "," + fix(c)), []string{"o/r c<-a events", "o/r c<-b events"}},
		"two and two":          {git(in(a) + "," + in(b) + "," + fix(c) + "," + fix(d)), []string{"o/r c<-a events guessed", "o/r d<-b events guessed"}},
		"last affected":        {git(in(a) + `,{"last_affected": "` + b + `"}`), []string{"o/r <-a events last b ?fix"}},
		"limit":                {git(in(a) + "," + fix(b) + `,{"limit": "` + c + `"}`), []string{"o/r b<-a events limit c"}},
		"origin only":          {git(in(a)), []string{"o/r <-a events ?fix"}},
		"nothing known":        {git(in("0")), nil},
		"no ids":               {git(in("1.0") + "," + fix("2.0")), nil},
		"capitals":             {git(in(strings.ToUpper(a)) + "," + fix(b)), []string{"o/r b<-a events"}},
		"withdrawn":            {`{"id": "X", "withdrawn": "2024-01-01T00:00:00Z", "affected": [{"ranges": [{"type": "GIT", "repo": "https://github.com/o/r", "events": [` + in(a) + "," + fix(b) + `]}]}]}`, nil},
		"versions are no ids":  {`{"id": "X", "affected": [{"ranges": [{"type": "SEMVER", "events": [{"introduced": "1.0"}, {"fixed": "2.0"}]}]}]}`, nil},
		"reference":            {`{"id": "X", "references": [{"type": "FIX", "url": "https://github.com/o/r/commit/` + a + `"}, {"type": "WEB", "url": "https://github.com/o/r/commit/` + b + `"}]}`, []string{"o/r a<- reference ?intro"}},
		"reference to request": {`{"id": "X", "references": [{"type": "FIX", "url": "https://github.com/o/r/pull/12"}]}`, []string{"o/r <- reference #12 ?intro"}},
		"reference on GitLab":  {`{"id": "X", "references": [{"type": "FIX", "url": "https://gitlab.example.org/g/s/p/-/merge_requests/3"}]}`, []string{"gitlab.example.org:s/p <- reference #3 ?intro"}},
		"reference to cgit":    {`{"id": "X", "references": [{"type": "FIX", "url": "https://git.example.org/pub/linux.git/commit/?id=` + a + `"}]}`, []string{"git.example.org:pub/linux a<- reference ?intro"}},
		"known already": {strings.Replace(git(in(a)+","+fix(b)), `"id"`, `"references": [{"type": "FIX", "url": "https://github.com/O/r/commit/`+b+`"}], "id"`, 1),
			[]string{"o/r b<-a events"}},
		"database":      {`{"id": "X", "affected": [{"database_specific": {"fix": "https://github.com/o/r/commit/` + a + `"}}]}`, []string{"o/r a<- database ?intro"}},
		"another host":  {strings.Replace(git(in(a)+","+fix(b)), "github.com/o/r.git", "git.example.org/x/y/z.git", 1), []string{"git.example.org:y/z b<-a events"}},
		"no repository": {strings.Replace(git(in(a)+","+fix(b)), "https://github.com/o/r.git", "", 1), nil},
	} {
		r, err := Parse([]byte(tt.record))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, brief(r.Findings())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "[]", "{}", `{"id": 3}`, `{"id": "X"}`, `{"id": "X", "affected": {}}`} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "reading an advisory") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(git(`{"introduced": "` + a + `"}, {"fixed": "` + b + `"}, {"limit": "` + c + `"}`)))
	f.Add([]byte(`{"id": "X", "references": [{"type": "FIX", "url": "https://x.org/a/b/commit/?id=` + a + `"}], "database_specific": {"a": "https://x/y/z/commit/` + a + `"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		for _, found := range r.Findings() {
			if found.Repo.Name == "" || found.Intro == "" && found.Fix == "" && found.PR == 0 && found.LastAffected == "" {
				t.Errorf("%+v says nothing", found)
			}
			for _, id := range []string{found.Intro, found.Fix, found.LastAffected} {
				if id != "" && !commitID.MatchString(id) {
					t.Errorf("%+v: %q is no id", found, id)
				}
			}
		}
	})
}
