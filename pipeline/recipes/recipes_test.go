package recipes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/replay/tools"
)

// box is a sandbox whose states say what they are like: "// needs NAME" in go.mod installs only with that Debian package; in the file
// "do", "silent" runs no test, "slow" never ends, "down" is a network that is down.
type box struct {
	name  string
	mu    sync.Mutex
	calls []string // "prepare" or "run", with the state's first line of "do"
	fault error    // of Prepare, of every state
}

func (b *box) Name() string { return b.name }
func (*box) Close() error   { return nil }

func do(t replay.Tree) []string {
	data, _ := t.ReadFile(context.Background(), "do")
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func (b *box) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, "prepare "+do(t)[0])
	if b.fault != nil {
		return replay.Env{}, b.fault
	}
	if do(t)[0] == "down" {
		return replay.Env{}, errors.New("the network is down")
	}
	mod, _ := t.ReadFile(ctx, path.Join(r.Root, "go.mod")) // which is an input of recipes
	for line := range strings.Lines(string(mod)) {
		want, ok := strings.CutPrefix(strings.TrimSpace(line), "// needs ")
		has := false
		for _, s := range r.Install {
			has = has || slices.Contains(s.Args, want)
		}
		if ok && !has {
			return replay.Env{}, &replay.InstallError{Step: replay.StepResult{Name: "modules", Stop: replay.Exited}, Log: "no " + want}
		}
	}
	return replay.Env{Recipe: r, Sandbox: b.name, ID: r.Fingerprint, Digest: "sha256:" + r.Fingerprint, Log: "fine"}, nil
}

func (b *box) Run(_ context.Context, j replay.Job) (replay.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, "run "+do(j.Tree)[0])
	s := replay.StepResult{Name: tools.StepTest, Stop: replay.Exited, Stdout: []byte(
		`{"Action":"run","Package":"m","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"m","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"m"}` + "\n")}
	s.ExitCode = 1
	switch {
	case slices.Contains(do(j.Tree), "silent"):
		s.Stdout, s.ExitCode = []byte(`{"Action":"skip","Package":"m"}`+"\n"), 0
	case slices.Contains(do(j.Tree), "slow"):
		s.Stop = replay.Timeout
	}
	return replay.Result{Steps: []replay.StepResult{s}}, nil
}

// memo is a store in memory.
type memo struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (m *memo) once(ctx context.Context, w pipeline.Work, f func(context.Context) ([]byte, error)) ([]byte, error) {
	key, err := w.Key(0)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	b, ok := m.kept[key]
	m.mu.Unlock()
	if ok {
		return b, nil
	}
	if b, err = f(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[key] = b
	return b, nil
}

func ladder(t testing.TB, b *box, script string) (*Ladder, *gittest.Repo) {
	t.Helper()
	r := gittest.Build(t, script)
	m, err := gitrepo.Open(context.Background(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return &Ladder{History: history.New(m, ""), Sandbox: b}, r
}

// line is a try in a few words.
func line(r *gittest.Repo, t Try) string {
	s := t.Rung
	if t.Commit != "" {
		for name, id := range r.IDs {
			if id == t.Commit {
				s += fmt.Sprintf(" %s%+d (%s)", name, t.Distance, t.From)
			}
		}
	}
	if t.Provenance != "" {
		s += " workflow=" + t.Provenance
	}
	return s + ": " + string(t.Result)
}

const (
	workflow = "-- one/.github/workflows/ci.yml --\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: apt-get install -y libx && go test}]}}\n"
	code     = "-- one/a.go --\npackage m\n-- one/a_test.go --\npackage m\n"
	three    = "commit one \"1\" date=2024-01-02T00:00:00Z\ncommit two \"2\" date=2024-01-03T00:00:00Z\ncommit three \"3\" date=2024-01-04T00:00:00Z\n"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, sandbox, script, commit string
		proven, prove                 bool
		ok                            bool
		want                          []string
	}{
		{"heuristics are enough", "docker", three + code + "-- one/go.mod --\nmodule m\n", "two", false, true, true, []string{"heuristic: works"}},
		{"a failing test is no failing recipe, a silent one is", "docker", three + code + "-- one/go.mod --\nmodule m\n-- one/do --\nsilent\n", "two", false, true, false,
			[]string{"heuristic: nothing-ran"}},
		{"a limit ends the climb", "docker", three + code + workflow + "-- one/go.mod --\nmodule m\n-- one/do --\nslow\n", "two", false, true, false, []string{"heuristic: ended"}},
		{"its own workflow", "docker", three + code + workflow + "-- one/go.mod --\nmodule m\n// needs libx\n", "two", false, true, true,
			[]string{"heuristic: install-failed", "workflow workflow=original: works"}},
		{"its own workflow, between other walls", "docker runsc seccomp=unconfined", three + code + workflow + "-- one/go.mod --\nmodule m\n// needs libx\n", "two", false, true, true,
			[]string{"heuristic: install-failed", "workflow workflow=original: works"}},
		{"no Debian packages elsewhere", "local", three + code + workflow + "-- one/go.mod --\nmodule m\n// needs libx\n", "two", false, true, false,
			[]string{"heuristic: install-failed"}},
		{"a neighbour's workflow", "docker", three + code + "-- one/go.mod --\nmodule m\n// needs libx\n" + strings.ReplaceAll(workflow, "one/", "three/"), "two", false, true, true,
			[]string{"heuristic: install-failed", "neighbour three+1 (workflow) workflow=fallback: works"}},
		{"a neighbour's where no heuristic knows", "docker", three + code + "-- two/go.mod --\nnonsense\n-- one/go.mod --\nmodule m\n", "two", false, true, true,
			[]string{"heuristic: no-recipe", "neighbour one-1 (heuristic): works"}},
		{"no neighbour across languages", "docker", "commit one \"1\"\ncommit two \"2\"\n  rm a.go\n  rm a_test.go\n  rm go.mod\n" + code + "-- one/go.mod --\nmodule m\n-- two/a.txt --\nx\n", "two", false, true, false,
			[]string{"heuristic: no-recipe"}},
		{"no neighbour across a change of the root", "docker", "commit one \"1\"\ncommit two \"2\"\n  rm go.mod\n  rm a.go\n  rm a_test.go\n" + code + workflow + "-- one/go.mod --\nmodule m\n// needs libx\n-- two/sub/go.mod --\nmodule m\n// needs liby\n-- two/sub/a.go --\npackage m\n", "two", false, true, false,
			[]string{"heuristic: install-failed", "workflow workflow=original: install-failed"}},
		{"a recipe that works there and not here", "docker", three + code + workflow + "-- one/go.mod --\nmodule m\n// needs libx\n-- two/go.mod --\nmodule m\n// needs liby\n-- two/.github/workflows/ci.yml --\nx\n", "two", false, true, false,
			[]string{"heuristic: install-failed", "neighbour one-1 (workflow) workflow=fallback: install-failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &box{name: tt.sandbox}
			l, r := ladder(t, b, tt.script)
			m := &memo{kept: map[string][]byte{}}
			f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID(tt.commit), Paths: []string{"a.go"}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, try := range f.Tries {
				got = append(got, line(r, try))
				if (try.Result == Works) == (try.Log != "") && try.Result != NoRecipe && try.Result != Ended {
					t.Errorf("a failed try has a log, another has none: %+v", try)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" || f.OK != tt.ok {
				t.Errorf("ok=%t (-want +got):\n%s", f.OK, d)
			}
			if tt.ok && f.Recipe.Fingerprint != f.Tries[len(f.Tries)-1].Fingerprint {
				t.Error("the recipe is that of the last try")
			}
			tree, _ := l.History.Tree(t.Context(), r.ID(tt.commit))
			if again, err := tools.Seal(t.Context(), tree, f.Recipe); err != nil || f.Recipe.Runner != "" && again.Fingerprint != f.Recipe.Fingerprint {
				t.Error("the recipe is sealed for another tree")
			}
			n := len(b.calls)
			if second, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID(tt.commit), Paths: []string{"a.go"}}); err != nil || len(b.calls) != n || !cmp.Equal(f, second) {
				t.Errorf("a second climb did %v and found something else, %v", b.calls[n:], err)
			}
		})
	}
}

// TestProven: what ran on a sister state need not run again, but install.
func TestProven(t *testing.T) {
	t.Parallel()
	b := &box{name: "docker"}
	l, r := ladder(t, b, three+code+"-- one/go.mod --\nmodule m\n-- one/do --\nsilent\n")
	m := &memo{kept: map[string][]byte{}}
	tree, _ := l.History.Tree(t.Context(), r.ID("two"))
	recipe, err := tools.Detect(t.Context(), tree, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID("two"), Proven: map[string]bool{recipe.Fingerprint: true}})
	if err != nil || !f.OK || f.Trial.Ran || len(b.calls) != 1 || f.Tries[0].Reason != "it installs" {
		t.Errorf("%+v, %v, calls %v", f, err, b.calls)
	}
}

// TestInstallLimits: what did not install within one limit is tried again within another.
func TestInstallLimits(t *testing.T) {
	t.Parallel()
	b := &box{name: "docker"}
	l, r := ladder(t, b, "commit one \"1\"\n"+code+"-- one/go.mod --\nmodule m\n")
	b.fault = &replay.InstallError{Step: replay.StepResult{Name: "modules", Stop: replay.OOM}, Memory: 1 << 30}
	m := &memo{kept: map[string][]byte{}}
	q := Request{Once: m.once, Commit: r.ID("one")}
	if f, err := l.Find(t.Context(), q); err != nil || f.OK || f.Tries[0].Result != InstallFailed {
		t.Fatalf("%+v, %v", f, err)
	}
	b.fault = nil
	if f, err := l.Find(t.Context(), q); err != nil || f.OK {
		t.Errorf("a failure is kept as long as nothing changes: %+v, %v", f, err)
	}
	l.Limits.Memory = 4 << 30
	if f, err := l.Find(t.Context(), q); err != nil || !f.OK {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestLast: a change that landed after the last one that counts decides nothing.
func TestLast(t *testing.T) {
	t.Parallel()
	b := &box{name: "docker"}
	l, r := ladder(t, b, three+code+"-- one/go.mod --\nmodule m\n// needs libx\n"+strings.ReplaceAll(workflow, "one/", "three/"))
	m := &memo{kept: map[string][]byte{}}
	f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID("two"), Last: r.ID("two")})
	if err != nil || f.OK || len(f.Tries) != 1 {
		t.Errorf("%+v, %v", f.Tries, err)
	}
}

// TestFault: a fault of the machinery is no verdict on a recipe, and is kept nowhere.
func TestFault(t *testing.T) {
	t.Parallel()
	b := &box{name: "docker"}
	l, r := ladder(t, b, three+code+workflow+"-- one/go.mod --\nmodule m\n-- one/do --\ndown\n")
	m := &memo{kept: map[string][]byte{}}
	f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID("two")})
	if err == nil || len(m.kept) != 0 || len(f.Tries) != 0 || f.Recipe.Runner != "gotest" {
		t.Errorf("%+v, %v, %d kept", f, err, len(m.kept))
	}
}

// TestOrder: what the ladder finds for the states of a history does not depend on the order in which it is asked, on how many ask at
// once, or on what the store holds already.
func TestOrder(t *testing.T) {
	t.Parallel()
	const n = 14
	script, archive := "", code
	var names []string
	rnd := rand.New(rand.NewPCG(7, 11))
	for i := range n {
		name := fmt.Sprintf("c%d", i)
		names = append(names, name)
		script += fmt.Sprintf("commit %s \"%d\" date=2024-02-%02dT00:00:00Z\n", name, i, i+1)
		archive += fmt.Sprintf("-- %s/do --\n%s\n", name, []string{"plain", "plain", "silent"}[rnd.IntN(3)])
		archive += fmt.Sprintf("-- %s/go.mod --\n%s\n", name, []string{"module m", "module m\n// needs libx", "nonsense", "module m\n// needs liby"}[rnd.IntN(4)])
		if rnd.IntN(3) == 0 {
			archive += strings.ReplaceAll(workflow, "one/", name+"/")
		}
	}
	l, r := ladder(t, &box{name: "docker"}, script+strings.ReplaceAll(archive, "one/", "c0/"))
	climb := func(order []int, workers int) map[string]string {
		m := &memo{kept: map[string][]byte{}}
		out := map[string]string{}
		var mu sync.Mutex
		var g sync.WaitGroup
		token := make(chan struct{}, workers)
		for _, i := range order {
			g.Go(func() {
				token <- struct{}{}
				defer func() { <-token }()
				f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID(names[i]), Paths: []string{"a.go"}})
				b, _ := json.Marshal(f)
				mu.Lock()
				defer mu.Unlock()
				out[names[i]] = fmt.Sprint(string(b), err)
			})
		}
		g.Wait()
		return out
	}
	want := climb(rnd.Perm(n), 1)
	won := 0
	for _, s := range want {
		if strings.Contains(s, `"rung":"neighbour"`) && strings.Contains(s, `"OK":true`) {
			won++
		}
	}
	if won == 0 {
		t.Fatal("no neighbour's recipe was taken: the history tries nothing")
	}
	for range 4 {
		if d := cmp.Diff(want, climb(rnd.Perm(n), 3)); d != "" {
			t.Fatalf("another order, another recipe:\n%s", d)
		}
	}
}
