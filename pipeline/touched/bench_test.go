package touched

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"sluice/miners/gitrepo"
	"sluice/miners/lang/testcode"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
	"sluice/store"
)

// realChanges is how many test-touching changes of a repository are looked at, the last ones.
const realChanges = 300

// TestRealNames compares the tests that changes touch with the reports of `sluice states --files`, whose stores
// SLUICE_TOUCHED names: "REPOSITORY=STORE …". For each repository it logs the shares that docs/tools/touched.md states.
func TestRealNames(t *testing.T) {
	setting := os.Getenv("SLUICE_TOUCHED")
	if setting == "" {
		t.Skip("SLUICE_TOUCHED names no repositories and stores")
	}
	for pair := range strings.FieldsSeq(setting) {
		repo, dir, _ := strings.Cut(pair, "=")
		m, err := gitrepo.Open(t.Context(), repo, t.TempDir(), gitrepo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, reports := history.New(m, ""), storedReports(t, dir)
		changes, _, err := h.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var s shares
		slices.Reverse(changes)
		for _, c := range changes {
			if s.changes == realChanges {
				break
			}
			s.look(t, h, c, reports)
		}
		if t.Logf("%s: %+v", filepath.Base(filepath.Dir(repo)), s.counts); s.changes == 0 {
			t.Error("no change touches tests")
		}
		for _, l := range s.lost[:min(len(s.lost), 40)] {
			t.Log("  in no report: " + l)
		}
		_ = m.Close()
	}
}

// counts are of one repository.
type counts struct {
	changes, touched, unsure, unread, states int
	functions, named                         int // touched in states with a report, not deleted; and those with an id there
	ids, marked                              int // of the reports; and those that are touched
	all, allNamed                            int // functions of the touched files; with an id
	reported, explained                      int // ids of the touched files; those of a function that the file has
}

type shares struct {
	counts
	lost []string
}

func (s *shares) look(t *testing.T, h *history.History, c gitrepo.Change, reports map[string][]replay.Test) {
	got, err := Of(t.Context(), h, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Files) == 0 {
		return
	}
	s.changes++
	for _, f := range got.Files {
		if s.touched += len(f.Touched); f.Unread {
			s.unread++
		}
		for _, x := range f.Touched {
			if x.How == testcode.Unsure {
				s.unsure++
			}
		}
	}
	tests, ok := reports[c.Head[:12]]
	if !ok || len(tests) == 0 {
		return
	}
	s.states++
	r, ids := recipe(t, h, c), []string{}
	for _, x := range tests {
		ids = append(ids, x.ID)
	}
	for _, f := range got.Files {
		s.file(t, h, c, r, f, ids)
	}
	for _, m := range got.Mark(r, ids).Tests {
		if s.ids++; m.How != "" {
			s.marked++
		}
	}
}

func (s *shares) file(t *testing.T, h *history.History, c gitrepo.Change, r replay.Recipe, f File, ids []string) {
	for _, x := range f.Touched {
		if x.How == testcode.Deleted {
			continue
		}
		s.functions++
		if mine, _ := tools.TestsOf(r, Function(string(f.Path), x.Test), ids); len(mine) > 0 {
			s.named++
		} else {
			s.lost = append(s.lost, c.Head[:12]+" "+string(f.Path)+": "+x.String())
		}
	}
	src, err := read(t.Context(), h, c.Head, string(f.Path))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := testcode.Read(string(f.Path), src)
	found := map[string]bool{}
	for _, x := range file.Tests {
		mine, _ := tools.TestsOf(r, Function(string(f.Path), x), ids)
		if s.all++; len(mine) > 0 {
			s.allNamed++
		}
		for _, id := range mine {
			found[id] = true
		}
	}
	for _, id := range ids {
		if strings.HasPrefix(id, string(f.Path)+"::") {
			if s.reported++; found[id] {
				s.explained++
			} else if len(s.lost) < 40 {
				s.lost = append(s.lost, "(of no function) "+id)
			}
		}
	}
}

func recipe(t *testing.T, h *history.History, c gitrepo.Change) replay.Recipe {
	tree, err := h.Tree(t.Context(), c.Head)
	if err != nil {
		t.Fatal(err)
	}
	files, err := h.Files(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	split := history.SplitFiles(files)
	r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: append(split.Tests(), split.Code()...)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// storedReports are the tests of each commit's run, by the first twelve letters of the commit.
func storedReports(t *testing.T, dir string) map[string][]replay.Test {
	s, err := store.OpenDir(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "sluice.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), "SELECT label, digest FROM run WHERE kind LIKE '%run'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string][]replay.Test{}
	for rows.Next() {
		var label, digest string
		if err := rows.Scan(&label, &digest); err != nil {
			t.Fatal(err)
		}
		b, err := s.Get(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		var run struct{ Report replay.Report }
		if json.Unmarshal(b, &run) == nil && run.Report.Inconsistent == "" && len(run.Report.Tests) > 0 {
			commit := label[strings.LastIndexByte(label, ' ')+1:]
			out[commit[:min(12, len(commit))]] = run.Report.Tests
		}
	}
	return out
}
