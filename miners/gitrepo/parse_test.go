package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var someID = strings.Repeat("a", 40)

// What a child that died in the middle leaves is an error, never a short answer.
func TestParsersRefuseWhatIsCutShort(t *testing.T) {
	t.Parallel()
	raw := someID + "\x00:100644 100644 " + someID + " " + someID
	diffs := func(s string) error { return parseDiffs(reading([]byte(s)), func(string, []FileChange) {}) }
	hunks := func(s string) error { return parseHunks(reading([]byte(s)), func(FileHunks) {}) }
	log := func(s string) error { return parseLog(reading([]byte(s)), func(record) error { return nil }) }
	blame := func(s string) error { _, err := parseBlame(reading([]byte(s))); return err }
	header := "--- a/f\n+++ b/f\n"
	for name, c := range map[string]struct {
		parse func(string) error
		text  string
	}{
		"diff, no path":            {diffs, raw + " M\x00"},
		"diff, half a path":        {diffs, raw + " M\x00pa"},
		"diff, one path of two":    {diffs, raw + " R090\x00old\x00"},
		"diff, empty path":         {diffs, raw + " M\x00\x00"},
		"diff, unknown status":     {diffs, raw + " Z\x00f\x00"},
		"diff, no commit":          {diffs, ":100644 100644 " + someID + " " + someID + " M\x00f\x00"},
		"diff, noise":              {diffs, "noise\x00"},
		"diff, lines of no file":   {diffs, raw + " M\x00f\x001\t2\tg\x00"},
		"diff, no number":          {diffs, raw + " M\x00f\x00x\t2\tf\x00"},
		"diff, negative":           {diffs, raw + " M\x00f\x00-1\t2\tf\x00"},
		"diff, half a rename":      {diffs, raw + " M\x00f\x001\t2\t\x00f\x00"},
		"hunk, too few lines":      {hunks, header + "@@ -1,2 +1 @@\n-a\n+b\n"},
		"hunk, too many deletions": {hunks, header + "@@ -1 +1 @@\n-a\n-a\n+b\n"},
		"hunk, no file":            {hunks, "@@ -1 +1 @@\n-a\n+b\n"},
		"hunk, broken header":      {hunks, header + "@@ -x +1 @@\n+b\n"},
		"hunk, huge":               {hunks, header + "@@ -1,9999999999 +1 @@\n+b\n"},
		"hunk, odd name":           {hunks, "--- f\n"},
		"hunk, odd quoting":        {hunks, "--- \"a/f\n"},
		"log, few fields":          {log, someID + "\n\n\x00"},
		"log, no id":               {log, "x\n\n1\n1\na\nb\x00"},
		"log, odd parent":          {log, someID + "\nx\n1\n1\na\nb\x00"},
		"blame, no header":         {blame, "noise\n"},
		"blame, no content":        {blame, someID + " 1 1 1\nfilename f\n"},
		"blame, no line":           {blame, someID + " 0 1 1\n\tx\n"},
		"blame, odd name":          {blame, someID + " 1 1 1\nfilename \"f\n\tx\n"},
	} {
		if err := c.parse(c.text); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestParseLog(t *testing.T) {
	t.Parallel()
	text := someID + "\n" + someID + " " + someID + "\n10\n\nAnn <a@b>\n\n\nSubject\nmore\n\n\nbody\n\nend\n\n\x00" +
		someID + "\n\n99999999999999999999\n-5\nA\xff <>\nlast, without NUL"
	var got []string
	err := parseLog(reading([]byte(text)), func(rec record) error {
		subject, body := rec.subject()
		got = append(got, fmt.Sprintf("%d %d %d %q %q %q", len(rec.parents), rec.authored.Unix(), rec.committed.Unix(), rec.author, subject, body))
		return nil
	})
	want := []string{`2 10 0 "Ann <a@b>" "Subject more" "body\n\nend"`, `0 0 0 "A\xff <>" "last, without NUL" ""`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, commits (-want +got):\n%s", err, diff)
	}
	stop := errors.New("enough")
	if err := parseLog(reading([]byte(text)), func(record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
}

func TestGitError(t *testing.T) {
	t.Parallel()
	for stderr, missing := range map[string]bool{
		"fatal: unable to read " + someID:                                         true,
		"error: Could not read " + someID + "\nfatal: revision walk setup failed": true,
		"fatal: bad object " + someID:                                             true,
		"fatal: Not a valid commit name " + someID:                                true,
		"fatal: unable to read tree (" + someID + ")":                             true,
		"fatal: missing blob object '" + someID + "'":                             true,
		"fatal: could not read Username for 'https://host.example': no terminal":  false,
		"fatal: no such path f in " + someID:                                      false,
		"error: patch failed: f:1\nerror: f: patch does not apply " + someID[:12]: false,
		"": false,
	} {
		err := gitError("x", errors.New("exit status 128"), stderr)
		if errors.Is(err, ErrMissingObject) != missing {
			t.Errorf("%q gives %v", stderr, err)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	g := git{dir: t.TempDir()}
	_, err := g.output(t.Context(), nil, "log")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("error %v", err)
	}
	if _, err := (git{dir: "/nonexistent"}).output(t.Context(), nil, "version"); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var all tail
	for i := range 3000 {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	io.WriteString(&all, "the end")
	if got := all.String(); len(got) != tailSize || !strings.HasSuffix(got, "line 2999\nthe end") {
		t.Errorf("%d bytes kept, at the end %q", len(got), got[len(got)-20:])
	}
}
