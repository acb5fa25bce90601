package build

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/demo"
	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/store"
)

// calm is one undisturbed build of the demo repository, which the tests of this package share.
type calm struct {
	dir    string // holds the repository and the store
	repo   demo.Repository
	report Report
}

var number = regexp.MustCompile(`#\d`)

// calmDir is the folder to remove after the tests.
var calmDir string

// keepEnv names a folder that keeps the build from one run of the tests to the next, for whoever works on them: only what changed is done
// again.
const keepEnv = "SLUICE_TEST_DEMO"

var buildOnce = sync.OnceValues(func() (calm, error) {
	dir, err := os.MkdirTemp("", "sluice-build-*")
	if err != nil {
		return calm{}, err
	}
	calmDir = dir
	c := calm{dir: dir}
	if keep := os.Getenv(keepEnv); keep != "" {
		c.dir = keep
	}
	to := filepath.Join(c.dir, demo.Name)
	if _, err := os.Stat(to); err == nil { // the same objects are written wherever they are
		to = filepath.Join(dir, demo.Name)
	}
	if c.repo, err = demo.Author(context.Background(), to); err != nil {
		return c, err
	}
	c.repo.Dir = filepath.Join(c.dir, demo.Name)
	if c.report, err = buildDemo(context.Background(), filepath.Join(c.dir, "store"), c.repo.Dir); err != nil {
		return c, err
	}
	return c, c.snap()
})

// snapshot is the store as the build left it, for tests that go on from there with other settings: without environments, since all that
// has to run did run.
func (c calm) snapshot() string { return filepath.Join(c.dir, "snapshot") }

func (c calm) snap() error {
	if err := os.RemoveAll(c.snapshot()); err != nil {
		return err
	}
	all := os.DirFS(filepath.Join(c.dir, "store"))
	entries, err := fs.ReadDir(all, ".")
	for _, e := range entries {
		if err != nil || e.Name() == "local" {
			continue
		}
		if to := filepath.Join(c.snapshot(), e.Name()); e.IsDir() {
			var sub fs.FS
			if sub, err = fs.Sub(all, e.Name()); err == nil {
				err = os.CopyFS(to, sub)
			}
		} else if err = os.MkdirAll(c.snapshot(), 0o755); err == nil {
			var b []byte
			if b, err = fs.ReadFile(all, e.Name()); err == nil {
				err = os.WriteFile(to, b, 0o600)
			}
		}
	}
	return err
}

func built(t testing.TB) calm {
	t.Helper()
	if testing.Short() && os.Getenv(keepEnv) == "" {
		t.Skip("builds a repository, which takes a minute")
	}
	c, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c calm) open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), filepath.Join(c.dir, "store"), store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestNoRunTwice: the run that shows a candidate's recipe to work is the matrix's first one. A key is run once whatever happens; this says
// that the two have one key.
func TestNoRunTwice(t *testing.T) {
	c := built(t)
	s := c.open(t)
	all, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, cand := range all {
		runs, err := s.Runs(t.Context(), cand.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if strings.HasPrefix(r.Label, "recipe ") {
				shown++
			}
			if strings.HasPrefix(r.Label, "h2 #1 ") {
				t.Errorf("%s ran besides the one that shows the recipe to work", r.Label)
			}
		}
	}
	if shown == 0 {
		t.Error("no run shows a recipe to work")
	}
}

// TestDemoEndsAsAuthored compares every candidate with what the demo's history says about it.
func TestDemoEndsAsAuthored(t *testing.T) {
	c := built(t)
	s := c.open(t)
	heads := map[string]string{}
	for _, l := range c.repo.Changes {
		heads[l.ID] = l.Head
	}
	byHead := map[string]store.Candidate{}
	all, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cand := range all {
		p, err := foresight.Decode(cand)
		if err != nil {
			t.Fatal(err)
		}
		byHead[p.Fix.Head] = cand
	}
	codes := map[string]bool{}
	for _, l := range c.repo.Changes {
		t.Run(l.ID, func(t *testing.T) {
			cand, ok := byHead[l.Head]
			if !ok {
				if l.Expect.State != "none" {
					t.Fatal("the change is no candidate")
				}
				return
			}
			codes[cand.Code] = true
			if string(cand.State) != l.Expect.State || cand.State == store.Rejected && !slices.Contains(l.Expect.Codes, cand.Code) {
				t.Errorf("%s at %s: %s (%s), want %s %v: %s", cand.State, cand.Stage, cand.Code, cand.Reason, l.Expect.State, l.Expect.Codes, l.Expect.Why)
			}
			if l.Expect.Introducer != "" {
				checkLink(t, s, cand, heads[l.Expect.Introducer], l.Expect.Method)
			}
			if cand.State == store.Admitted {
				checkInstance(t, s, cand, l)
			}
		})
	}
	if len(codes) < 9 { // eight reasons and none
		t.Errorf("only these codes: %v", codes)
	}
}

func evidence(t *testing.T, s *store.Store, cand store.Candidate, name string, v any) {
	t.Helper()
	e, ok, err := s.LatestEvidence(t.Context(), cand.ID, name)
	if err != nil || !ok {
		t.Fatalf("evidence %s: found %v, %v", name, ok, err)
	}
	b, err := s.Get(t.Context(), e.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func checkLink(t *testing.T, s *store.Store, cand store.Candidate, head, method string) {
	t.Helper()
	var link foresight.Link
	evidence(t, s, cand, "link", &link)
	if link.Intro == nil || link.Intro.Head != head || link.Method != method {
		t.Errorf("linked to %+v by %s, want %s by %s", link.Intro, link.Method, head, method)
	}
	if method != "szz" && link.Quote == "" {
		t.Error("a claim without its quotation")
	}
}

func checkInstance(t *testing.T, s *store.Store, cand store.Candidate, l demo.Landed) {
	t.Helper()
	var in pipeline.Instance
	evidence(t, s, cand, pipeline.InstanceEvidence, &in)
	for _, name := range l.Expect.Narrowed {
		if !slices.ContainsFunc(in.Dropped, func(d string) bool { return strings.HasSuffix(d, ": "+name) }) {
			t.Errorf("narrowing dropped %v, want %s among them", in.Dropped, name)
		}
	}
	for _, c := range in.Checks {
		if len(c.FailToPass) == 0 {
			t.Errorf("check %s has no test", c.Name)
		}
		for _, id := range append(slices.Clone(c.FailToPass), c.PassToPass...) {
			if strings.Contains(id, "TestClock") {
				t.Errorf("the random test %s is in a list of check %s", id, c.Name)
			}
		}
	}
	if in.Labels["judged"] != "rules" || in.Statement == "" || number.MatchString(in.Statement) {
		t.Errorf("labels %v, statement %q", in.Labels, in.Statement)
	}
	checkPublic(t, in)
}

// checkPublic: what an agent sees names neither change, nor a test that grades it.
func checkPublic(t *testing.T, in pipeline.Instance) {
	t.Helper()
	b, err := json.Marshal(in.Public())
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{in.Fix.Base, in.Fix.Head, in.Fix.Title, in.Task.Head}
	for _, c := range in.Checks {
		for _, id := range c.FailToPass {
			_, name, _ := strings.Cut(id, "::")
			secrets = append(secrets, name)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(string(b), secret) {
			t.Errorf("%s shows %q", in.ID, secret)
		}
	}
}

// TestSecondBuildDoesNothing: with nothing new no candidate is looked at, and no sandbox is opened.
func TestSecondBuildDoesNothing(t *testing.T) {
	c := built(t)
	s := c.open(t)
	// A sandbox that is opened makes its folder.
	sandbox := filepath.Join(c.dir, "store", "local")
	if err := os.Rename(sandbox, sandbox+".away"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Rename(sandbox+".away", sandbox) }()
	started := time.Now()
	rep, err := Run(t.Context(), Config{
		Store: s, Dir: filepath.Join(c.dir, "store"), Source: c.repo.Dir, Family: foresight.Name, Workers: 2, Clock: time.Now,
		Settings: foresight.Settings{Judge: foresight.JudgeRules, Repeats: 2},
		Sandbox:  SandboxConfig{Kind: "local"},
	})
	if err != nil || rep.Engine.Candidates != 0 || rep.Proposed != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := os.Stat(sandbox); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a sandbox was opened: %v", err)
	}
	t.Logf("a second build took %s", time.Since(started))
}
