package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// full is a store with one of everything.
func full(t *testing.T) *Store {
	t.Helper()
	s, c := fresh(t)
	add(t, s, "is-1", "is-2", "is-3")
	for _, of := range [][2]string{{"is-1", "reject"}, {"is-2", "hold"}, {"is-3", "pass"}} {
		id, outcome := of[0], of[1]
		lease(t, s, id, "me")
		commit(t, s, attempt(t, s, id, "k1", outcome, "log of "+id))
	}
	ok(t, s.PutRun(t.Context(), Run{Key: "r1", Digest: put(t, s, "result"), Candidate: "is-1", Started: c.Now()}))
	ok(t, s.PutRelease(t.Context(), Release{Name: "v1", Digest: put(t, s, "manifest"), Candidates: []string{"is-3"}}))
	settle(t, s, reserve(t, s, question("q1", "is-1")), "reply")
	ok(t, s.UseModelCall(t.Context(), "q1", "is-2", "judge"))
	ok(t, s.PutMark(t.Context(), "mined:issue:o/r", put(t, s, "of a mark")))
	return s
}

func TestCheckClean(t *testing.T) {
	t.Parallel()
	ps, err := full(t).Check(t.Context())
	ok(t, err)
	same(t, "problems", ps, nil)
}

func TestCheckFinds(t *testing.T) {
	t.Parallel()
	unguarded := func(s *Store, q ...string) { // as another program would do it
		for _, q := range append([]string{`PRAGMA foreign_keys = 0`, `DROP TRIGGER evidence_no_update`}, q...) {
			_, err := s.exec(t.Context(), q)
			ok(t, err)
		}
	}
	remove := func(s *Store, data string) { ok(t, os.Remove(blobPath(t, s, Digest([]byte(data))))) }
	for _, tc := range []struct {
		name string
		harm func(s *Store)
		want []Problem // without details
	}{
		{"evidence gone", func(s *Store) { remove(s, "log of is-1") }, []Problem{{What: "missing-blob", Where: "evidence log of attempt 1"}}},
		{"run gone", func(s *Store) { remove(s, "result") }, []Problem{{What: "missing-blob", Where: "run r1"}}},
		{"manifest gone", func(s *Store) { remove(s, "manifest") }, []Problem{{What: "missing-blob", Where: "release v1"}}},
		{"reply gone", func(s *Store) { remove(s, "reply") }, []Problem{{What: "missing-blob", Where: "exchange of model call 1"}}},
		{"blob overwritten", func(s *Store) {
			ok(t, os.WriteFile(blobPath(t, s, Digest([]byte("result"))), []byte("x"), 0o644))
		}, []Problem{{What: "corrupt-blob", Where: "run r1"}}},
		{"blob unreadable", func(s *Store) {
			remove(s, "result")
			ok(t, os.Mkdir(blobPath(t, s, Digest([]byte("result"))), 0o755))
		}, []Problem{{What: "unreadable-blob", Where: "run r1"}}},
		{"not a digest", func(s *Store) { unguarded(s, `UPDATE run SET digest = 'x'`) },
			[]Problem{{What: "unreadable-blob", Where: "run r1"}}},
		{"shared blob gone", func(s *Store) {
			ok(t, s.PutRun(t.Context(), Run{Key: "r2", Digest: put(t, s, "result")}))
			remove(s, "result")
		}, []Problem{{What: "missing-blob", Where: "run r1 and 1 more"}}},
		{"wrong size", func(s *Store) { unguarded(s, `UPDATE evidence SET size = 1 WHERE attempt = 2`) },
			[]Problem{{What: "wrong-size", Where: "evidence log of attempt 2"}}},
		{"candidate gone", func(s *Store) { unguarded(s, `UPDATE run SET candidate = 'is-9'`) },
			[]Problem{{What: "foreign-key", Where: "run row 1"}}},
		{"rejected, nobody knows why", func(s *Store) {
			ok(t, s.SetPosition(t.Context(), "is-3", Position{State: Rejected, Stage: "build", Code: "no-tests"}))
		}, []Problem{{What: "position", Where: "is-3"}}},
		{"held for another code", func(s *Store) {
			ok(t, s.SetPosition(t.Context(), "is-2", Position{State: Held, Stage: "build", Code: "other"}))
		}, []Problem{{What: "position", Where: "is-2"}}},
		{"rejected what was held", func(s *Store) {
			ok(t, s.SetPosition(t.Context(), "is-2", Position{State: Rejected, Stage: "build", Code: "no-tests"}))
		}, []Problem{{What: "position", Where: "is-2"}}},
		{"rejected in another generation", func(s *Store) {
			ok(t, s.Unlease(t.Context(), "is-1", "me"))
			ok(t, s.Reopen(t.Context(), "is-1", Review{Decision: "reopen"}))
			ok(t, s.SetPosition(t.Context(), "is-1", Position{State: Rejected, Stage: "build", Code: "no-tests"}))
		}, []Problem{{What: "position", Where: "is-1"}}},
		{"a total is off", func(s *Store) { unguarded(s, `UPDATE model_total SET tokens = 7 WHERE scope = 'candidate'`) },
			[]Problem{{What: "total", Where: "models candidate is-1"}}},
		{"a total is gone", func(s *Store) { unguarded(s, `DELETE FROM model_total WHERE scope = 'store'`) },
			[]Problem{{What: "total", Where: "models store"}}},
		{"leftovers", func(s *Store) {
			for _, name := range []string{"tmp/put-1", "notes.txt", "ab/short.zst"} {
				path := filepath.Join(s.dir, "blobs", name)
				ok(t, os.MkdirAll(filepath.Dir(path), 0o755))
				ok(t, os.WriteFile(path, []byte("x"), 0o644))
			}
		}, []Problem{
			{What: "stray-file", Where: "blobs/ab/short.zst", Harmless: true},
			{What: "stray-file", Where: "blobs/notes.txt", Harmless: true},
			{What: "leftover-temp", Where: "blobs/tmp/put-1", Harmless: true},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := full(t)
			tc.harm(s)
			got, err := s.Check(t.Context())
			ok(t, err)
			if d := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Problem{}, "Detail")); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
			for _, p := range got {
				if p.Detail == "" {
					t.Errorf("no detail: %+v", p)
				}
			}
		})
	}
}

// A page of an index, overwritten.
func TestCheckDamagedDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, dir, newClock())
	add(t, s, numbered(2000)...)
	pages, err := list(t.Context(), s.r, scanOne[int64], `SELECT rootpage FROM sqlite_master WHERE name = 'candidate_order'`)
	ok(t, err)
	ok(t, s.Close())
	f, err := os.OpenFile(filepath.Join(dir, dbName), os.O_RDWR, 0)
	ok(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("damage", 100)), (pages[0]-1)*4096)
	ok(t, err)
	ok(t, f.Close())
	s = openAt(t, dir, newClock())
	ps, err := s.Check(t.Context())
	ok(t, err)
	if len(ps) == 0 || ps[0].What != "integrity" || ps[0].Harmless {
		t.Errorf("got %+v", ps)
	}
}
