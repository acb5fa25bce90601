package imports_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline/mining"
	"sluice/pipeline/mining/imports"
	"sluice/store"
)

const (
	a = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	b = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	c = "cccccccccccccccccccccccccccccccccccccccc"
)

func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// files writes files into a new folder.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// leads are short and sorted.
func leads(t *testing.T, s *store.Store) []string {
	t.Helper()
	all, err := s.Leads(t.Context(), store.LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range all {
		line := fmt.Sprintf("%s %s %s", l.Kind, l.Repo, l.Method)
		if l.Kind == store.PairLead {
			var p mining.Pair
			if err := json.Unmarshal(l.Data, &p); err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %s %.1s<-%.1s %v", p.ID, p.Fix.SHA, p.Intro.SHA, p.Unknown)
		} else {
			line += " " + string(l.Data)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func osv(id, events string) string {
	return `{"id": "` + id + `", "affected": [{"ranges": [{"type": "GIT", "repo": "https://github.com/O/r", "events": [` + events + `]}]}]}`
}

const (
	introA = `{"introduced": "` + a + `"}`
	fixB   = `{"fixed": "` + b + `"}`
	fixC   = `{"fixed": "` + c + `"}`
)

func TestAdvisories(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for _, name := range []string{"in.json", "readme.txt"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, osv("Z-1", `{"introduced": "0"},`+fixC))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{
		"one.json": osv("X-1", introA+","+fixB), "alias.json": osv("Y-1", introA+","+fixB), "z.zip": z.String(), "bad.zip": "PK",
		"broken.json": `{"id": "X`, "other.json": `{"a": 1}`, "ignored.txt": "x",
		"many.jsonl": osv("X-2", introA+","+fixC) + "\nnot json\n" + `{"id": "X-3", "withdrawn": "2024-01-01T00:00:00Z"}` + "\n" + `{"id": "X-4", "affected": []}`,
	})
	s := open(t)
	rep, err := imports.Advisories(t.Context(), s, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pair o/r advisory X-2 c<-a []", "pair o/r advisory Y-1 b<-a []", "pair o/r advisory Z-1 c<- [intro]"}
	if diff := cmp.Diff(want, leads(t, s)); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	problems := map[string]int{"bad-archive": 1, "not-json": 2, "not-an-advisory": 1, "withdrawn": 1, "no-commits": 1}
	if diff := cmp.Diff(problems, rep.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%+v", diff, rep.Named)
	}
	if rep.Added != 3 || rep.Files != 7 || rep.Unknown["intro"] != 1 || len(rep.Named) != 6 {
		t.Errorf("report %+v", rep)
	}
	again, err := imports.Advisories(t.Context(), s, []string{dir})
	if err != nil || again.Added != 0 || again.Unchanged != 1 || again.Records != 0 {
		t.Errorf("a second run: %+v, %v", again, err)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	row := `{"instance_id": "o__r-12", "repo": "o/r", "base_commit": "` + a + `", "FAIL_TO_PASS": "['x']", "patch": "a\u0085b"}`
	dir := files(t, map[string]string{
		"pairs.csv":  "fix,intro\n" + a + "," + b + "\n" + a + ",zzz\n",
		"rows.jsonl": row + "\n" + `{"repo": "O/R", "fix_sha": "` + b + `", "intro_sha": "` + c + `"}` + "\n",
	})
	s := open(t)
	rep, err := imports.Lists(t.Context(), s, "x/y", []string{filepath.Join(dir, "pairs.csv"), filepath.Join(dir, "rows.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`instance o/r swe-bench {"format":"swe-bench","id":"o__r-12","base":"` + a + `","pr":12,"f2p":1,"p2p":null,"unknown":["p2p"]}`,
		"pair o/r list  b<-c []", "pair x/y list  a<-b []",
	}
	if diff := cmp.Diff(want, leads(t, s)); diff != "" {
		t.Errorf("leads (-want +got):\n%s", diff)
	}
	wantProblems := []imports.Problem{{Where: filepath.Join(dir, "pairs.csv"), Line: 3, Reason: "not-a-commit", Value: "zzz"}}
	if diff := cmp.Diff(wantProblems, rep.Named); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	all, err := s.Leads(t.Context(), store.LeadFilter{Kind: store.InstanceLead})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	evidence, err := s.Get(t.Context(), all[0].Evidence)
	if err != nil || strings.Split(string(evidence), "\n")[all[0].Line-1] != strings.ReplaceAll(strings.ReplaceAll(row, ": ", ":"), ", ", ",") {
		t.Errorf("the row is kept as %q (%v)", evidence, err)
	}
	again, err := imports.Lists(t.Context(), s, "x/y", []string{dir + "/rows.jsonl"})
	if err != nil || again.Added != 0 || again.Unchanged != 1 {
		t.Errorf("a second run: %+v, %v", again, err)
	}
}

func TestManyRowsAreManyBlobs(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("repo,fix,intro\n")
	for i := range 12000 {
		fmt.Fprintf(&text, "o/r,%040x,%s\n", i+1, a)
	}
	dir := files(t, map[string]string{"p.csv": text.String()})
	s := open(t)
	rep, err := imports.Lists(t.Context(), s, "", []string{dir + "/p.csv"})
	if err != nil || rep.Added != 12000 {
		t.Fatal(rep, err)
	}
	all, err := s.Leads(t.Context(), store.LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	blobs := map[string]int{}
	for _, l := range all {
		blobs[l.Evidence] = max(blobs[l.Evidence], l.Line)
	}
	if len(blobs) != 3 {
		t.Errorf("blobs and their last lines: %v", blobs)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := open(t)
	dir := files(t, map[string]string{"x.csv": "a,b\n1,2\n"})
	if _, err := imports.Lists(t.Context(), s, "", []string{dir + "/x.csv"}); !errors.Is(err, imports.ErrSchema) || !strings.Contains(err.Error(), "x.csv") {
		t.Errorf("a file of another form: %v", err)
	}
	if _, err := imports.Advisories(t.Context(), s, []string{dir + "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
