package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// options freezes both fixture instances.
func options(t *testing.T) (Options, *ledger) {
	t.Helper()
	l := newLedger()
	l.end(store.Rejected, "execute", "anticipation-not-executable")
	l.admit(t, pyInstance("p__q-2"))
	l.admit(t, goInstance("o__r-1"))
	l.end(store.Rejected, "execute", "anticipation-not-executable")
	l.end(store.Held, "statement", "no-model")
	l.end(store.Rejected, "screens", "revert")
	return Options{
		Store: l, Name: "first", Dir: t.TempDir(), Family: "foresight", Tool: "0.1.0", Clock: clock,
		Settings: map[string]string{"repeats": "3"}, Seeds: map[string]int64{"sample": 7},
	}, l
}

func TestFreezeGolden(t *testing.T) {
	t.Parallel()
	o, l := options(t)
	m, err := Freeze(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	want := []string{"card.md", "instances.jsonl", "swebench-anticipation.jsonl", "swebench.jsonl", "tasks.jsonl"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range append(names, manifestFile) {
		got, err := os.ReadFile(filepath.Join(o.Dir, "first", name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, got)
	}
	if len(l.releases) != 1 || l.releases[0].Name != "first" {
		t.Fatalf("the store holds releases %v", l.releases)
	}
	if diff := cmp.Diff([]string{"cand-01", "cand-02"}, l.releases[0].Candidates); diff != "" {
		t.Errorf("candidates of the release (-want +got):\n%s", diff)
	}
}

// TestFreezeInStore goes through the real store.
func TestFreezeInStore(t *testing.T) {
	t.Parallel()
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := json.Marshal(pyInstance("p__q-2"))
	if err != nil {
		t.Fatal(err)
	}
	admitInStore(t, s, b)
	o := Options{Store: s, Name: "r", Dir: t.TempDir(), Family: "foresight", Tool: "0", Clock: clock}
	for range 2 {
		if _, err := Freeze(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(filepath.Join(o.Dir, "r"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Releases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Release{{Name: "r", Digest: r.Digest, Created: clock(), Candidates: []string{"fs-1"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
}

// admitInStore leaves one admitted candidate with its instance in a store.
func admitInStore(t *testing.T, s *store.Store, instance []byte) {
	t.Helper()
	digest, err := s.Put(t.Context(), instance)
	if err != nil {
		t.Fatal(err)
	}
	cand := store.Candidate{ID: "fs-1", Family: "foresight", Repo: "p/q", Data: []byte("{}"), Position: store.Position{State: store.Open, Stage: "assemble"}}
	if _, err := s.AddCandidates(t.Context(), []store.Candidate{cand}); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Lease(t.Context(), "fs-1", "me", time.Hour); err != nil || !ok {
		t.Fatalf("lease: %v, %v", ok, err)
	}
	a := store.Attempt{
		Candidate: "fs-1", Stage: "assemble", Version: 1, Key: "k", Outcome: "pass", Owner: "me", Started: clock(), Ended: clock(),
		Evidence: []store.Evidence{{Name: pipeline.InstanceEvidence, MediaType: "application/json", Digest: digest, Size: int64(len(instance))}},
	}
	if _, err := s.Commit(t.Context(), a, store.Position{State: store.Admitted, Stage: "assemble"}); err != nil {
		t.Fatal(err)
	}
}

// golden compares with testdata/<name>.golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestFreezeTwice(t *testing.T) {
	t.Parallel()
	o, l := options(t)
	first, err := Freeze(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Freeze(t.Context(), o)
	if err != nil {
		t.Fatalf("freezing the same again: %v", err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("manifests (-first +second):\n%s", diff)
	}
	if len(l.releases) != 1 {
		t.Errorf("the store holds %d releases, want 1", len(l.releases))
	}
	o.Settings = map[string]string{"repeats": "5"}
	if _, err := Freeze(t.Context(), o); !errors.Is(err, ErrExists) {
		t.Errorf("freezing other bytes under the same name: %v, want ErrExists", err)
	}
	left, err := os.ReadDir(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 {
		t.Errorf("%d entries beside the release, want none: %v", len(left)-1, left)
	}
}

// TestFreezeElsewhere shows that the bytes do not depend on the store's order or on the folder.
func TestFreezeElsewhere(t *testing.T) {
	t.Parallel()
	o, _ := options(t)
	a, err := Freeze(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p, l := options(t)
	for i, j := 0, len(l.candidates)-1; i < j; i, j = i+1, j-1 {
		l.candidates[i], l.candidates[j] = l.candidates[j], l.candidates[i]
	}
	b, err := Freeze(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("manifests (-first +second):\n%s", diff)
	}
}

func TestFreezeFilters(t *testing.T) {
	t.Parallel()
	o, _ := options(t)
	o.Labels = map[string]string{"achievable": "proven"}
	m, err := Freeze(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if m.Counts.Instances != 1 || m.Counts.Admitted != 2 {
		t.Errorf("counts = %+v, want 1 instance of 2 admitted", m.Counts)
	}
	want := []Excluded{{ID: "p__q-2", Reason: `label achievable is "unknown", not "proven"`}}
	if diff := cmp.Diff(want, m.Excluded); diff != "" {
		t.Errorf("excluded (-want +got):\n%s", diff)
	}
	o.Name, o.Labels = "none", map[string]string{"achievable": "never"}
	if _, err := Freeze(t.Context(), o); !errors.Is(err, ErrEmpty) {
		t.Errorf("freezing nothing: %v, want ErrEmpty", err)
	}
}

func TestFreezeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		change     func(*testing.T, *Options, *ledger)
	}{
		{"release name", `"../x" does not match`, func(_ *testing.T, o *Options, _ *ledger) { o.Name = "../x" }},
		{"long release name", "more than 200 characters", func(_ *testing.T, o *Options, _ *ledger) { o.Name = strings.Repeat("x", 201) }},
		{"id with a slash", `"a/b" does not match`, func(t *testing.T, _ *Options, l *ledger) { l.admit(t, goInstance("a/b")) }},
		{"ids equal without case", "O__R-1 and o__r-1 are equal", func(t *testing.T, _ *Options, l *ledger) { l.admit(t, goInstance("O__R-1")) }},
		{"same id twice", "o__r-1 and o__r-1 are equal", func(t *testing.T, _ *Options, l *ledger) { l.admit(t, goInstance("o__r-1")) }},
		{"no check", "it has no check", func(t *testing.T, _ *Options, l *ledger) {
			l.admit(t, pipeline.Instance{ID: "x", Family: "foresight"})
		}},
		{"no F2P", "check task has no test", func(t *testing.T, _ *Options, l *ledger) {
			l.admit(t, pipeline.Instance{ID: "x", Family: "foresight", Checks: []pipeline.Check{{Name: "task"}}})
		}},
		{"no record", "no stage left its record", func(_ *testing.T, _ *Options, l *ledger) { l.end(store.Admitted, "assemble", "") }},
		{"record that is not one", "decoding the instance of cand-02", func(_ *testing.T, _ *Options, l *ledger) {
			l.blobs[l.evidence["cand-02"]] = []byte("{")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, l := options(t)
			tt.change(t, &o, l)
			_, err := Freeze(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			if left, _ := os.ReadDir(o.Dir); len(left) != 0 {
				t.Errorf("a refused release left %v", left)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	o, l := options(t)
	if _, err := Freeze(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(o.Dir, "first")
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Digest != l.releases[0].Digest {
		t.Errorf("digest = %s, the store has %s", r.Digest, l.releases[0].Digest)
	}
	// Text, link and statement come back as they were.
	want, _ := json.Marshal(goInstance("o__r-1"))
	inst, ok := r.Instance("o__r-1")
	if !ok {
		t.Fatal("o__r-1 is not in the release")
	}
	got, _ := json.Marshal(inst)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("instance (-want +got):\n%s", diff)
	}
	if _, ok := r.Instance("absent"); ok {
		t.Error("the release claims an instance that it does not have")
	}
}

// What a killed export left is gone after the next one, whether that writes or finds the release there; other names' is not touched.
func TestFreezeRemovesLeftovers(t *testing.T) {
	t.Parallel()
	o, _ := options(t)
	for range 2 {
		for _, name := range []string{".first.tmp-1", ".second.tmp-1"} {
			if err := os.MkdirAll(filepath.Join(o.Dir, name, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Freeze(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		left, _ := filepath.Glob(filepath.Join(o.Dir, ".*"))
		if diff := cmp.Diff([]string{filepath.Join(o.Dir, ".second.tmp-1")}, left); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{InstancesFile, TasksFile, SWEbenchFile, CardFile} {
		o, _ := options(t)
		if _, err := Freeze(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Dir, "first", name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(b, []byte("a"), []byte("b"), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(filepath.Join(o.Dir, "first")); !errors.Is(err, ErrCorrupt) {
			t.Errorf("opening with one byte of %s changed: %v, want ErrCorrupt", name, err)
		}
	}
}
