package states

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/pipeline"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/store"
)

// past has a state for each end. What the fake sandbox does with a state stands in its file "do".
const past = `
commit none "No project"
commit pass "Begin" date=2024-01-02T00:00:00Z
commit fail "Break it" date=2024-01-03T00:00:00Z
commit deps "Another dependency" date=2024-01-04T00:00:00Z
commit slow "Sleep" date=2024-01-05T00:00:00Z
commit big "Allocate" date=2024-01-06T00:00:00Z
commit full "Write" date=2024-01-07T00:00:00Z
commit build "Misspell" date=2024-01-08T00:00:00Z
commit empty "Nothing" date=2024-01-09T00:00:00Z
commit lie "Exit at once" date=2024-01-10T00:00:00Z
commit infra "Network" date=2024-01-11T00:00:00Z
commit doc "Explain" date=2024-01-12T00:00:00Z
-- none/README --
-- pass/go.mod --
module m
-- pass/do --
pass
-- pass/a_test.go --
package m
-- fail/do --
fail
-- fail/a_test.go --
package m // again
-- deps/go.mod --
module m

require example.com/x v1.0.0
-- deps/do --
install
-- slow/go.mod --
module m
-- slow/do --
slow
-- big/do --
big
-- full/do --
full
-- build/do --
build
-- empty/do --
empty
-- lie/do --
lie
-- infra/do --
infra
-- doc/do --
pass
-- doc/README --
words
`

// sandbox is a fake: it prints what go test would.
type sandbox struct {
	replay.Sandbox
	mu            sync.Mutex
	prepared, ran int
	trouble       error // of the state "infra"
	target        [][]string
}

func (*sandbox) Name() string { return "fake" }

func do(ctx context.Context, t replay.Tree) string {
	b, _ := t.ReadFile(ctx, "do")
	return strings.TrimSpace(string(b))
}

func (s *sandbox) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared++
	if do(ctx, t) == "install" {
		return replay.Env{}, &replay.InstallError{Step: replay.StepResult{Name: "modules", Stop: replay.Exited}, Log: "x@v1.0.0: not found\n"}
	}
	return replay.Env{Recipe: r, Sandbox: "fake", ID: r.Fingerprint}, nil
}

func event(action, test string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":"m","Test":%q}`+"\n", action, test)
}

func (s *sandbox) Run(ctx context.Context, j replay.Job) (replay.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran++
	s.target = append(s.target, j.Steps[len(j.Steps)-2].Args)
	passes := event("run", "TestA") + event("pass", "TestA") + `{"Action":"pass","Package":"m"}`
	r := replay.StepResult{Name: "test", Stop: replay.Exited, Stdout: []byte(passes)}
	switch do(ctx, j.Tree) {
	case "infra":
		if s.trouble != nil {
			return replay.Result{}, s.trouble
		}
	case "fail":
		r.ExitCode = 1
		r.Stdout = []byte(event("run", "TestA") + event("pass", "TestA") + event("run", "TestB") + event("fail", "TestB") + `{"Action":"fail","Package":"m"}`)
	case "slow":
		r.Stop = replay.Timeout
	case "big":
		r.Stop = replay.OOM
	case "full":
		r.Stop = replay.DiskFull
	case "build":
		r.ExitCode = 1
		r.Stdout = []byte(`{"ImportPath":"m [m.test]","Action":"build-output","Output":"# m [m.test]\na.go:1:1: undefined: x\n"}` + "\n" +
			`{"ImportPath":"m [m.test]","Action":"build-fail"}` + "\n" + `{"Action":"start","Package":"m"}` + "\n" + `{"Action":"output","Package":"m","Output":"FAIL\tm [build failed]\n"}` + "\n" + `{"Action":"fail","Package":"m","FailedBuild":"m [m.test]"}`)
	case "empty":
		r.Stdout = []byte(`{"Action":"skip","Package":"m"}`)
	case "lie":
		r.ExitCode = 1
	}
	return replay.Result{Steps: []replay.StepResult{r}}, nil
}

func options(t *testing.T, s *sandbox, st *store.Store) (Options, *gittest.Repo) {
	t.Helper()
	r := gittest.Build(t, past)
	m, err := gitrepo.Open(t.Context(), r.Dir, t.TempDir(), gitrepo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return Options{Store: st, History: history.New(m, ""), Sandbox: s, Workers: 2, Clock: func() time.Time { return at }}, r
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// view is a state in a line.
func view(s State) string {
	shared := "new"
	if s.Shared {
		shared = "shared"
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s %d/%d %s %s", s.Title, s.Tool, shared, s.Passed, s.Tests, s.End, s.Why()))
}

func TestEnds(t *testing.T) {
	t.Parallel()
	s := &sandbox{trouble: errors.New("the network is down")}
	o, r := options(t, s, openStore(t))
	list, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, view(s))
	}
	want := []string{
		"No project:  new 0/0 no-recipe", "Begin: gotest new 1/1 ran", "Break it: gotest shared 1/2 ran",
		"Another dependency: gotest new 0/0 install-failed installing: step modules exited: x@v1.0.0: not found",
		"Sleep: gotest shared 1/1 timeout the tests did not end within the time limit", "Allocate: gotest shared 1/1 oom the tests took more memory than the limit",
		"Write: gotest shared 1/1 disk the tests' files took more than the limit", "Misspell: gotest shared 0/0 build-failed",
		"Nothing: gotest shared inconsistent no test ran", "Exit at once: gotest shared inconsistent", "Network: gotest shared 0/0 infrastructure the network is down",
		"Explain: gotest shared 1/1 ran",
	}
	if len(got) != len(want) {
		t.Fatalf("%d states of %d", len(got), len(want))
	}
	for i := range want {
		start, end, _ := strings.Cut(want[i], " inconsistent")
		if !strings.HasPrefix(got[i], start) || end == "" && strings.Contains(want[i], "inconsistent") && !strings.Contains(got[i], "inconsistent") {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	if list[1].Commit != r.ID("pass") || list[7].Broken != 1 || !strings.Contains(list[7].Reason, "undefined: x") {
		t.Errorf("details: %+v", list[7])
	}
	sum := Summarise(list)
	shares := []Share{sum.Ran, sum.Installed, sum.AllPass}
	for i := range shares {
		shares[i].Interval.Low, shares[i].Interval.High = 0, 0
	}
	if d := cmp.Diff([]Share{{N: 3, Of: 11}, {N: 9, Of: 11}, {N: 2, Of: 3}}, shares); d != "" || sum.Unknown != 1 || sum.Environments != 1 {
		t.Errorf("(-want +got):\n%s%+v", d, sum)
	}
}

// TestOnce: what is known is not done again, and what was the machinery's fault is.
func TestOnce(t *testing.T) {
	t.Parallel()
	s := &sandbox{trouble: errors.New("the network is down")}
	o, _ := options(t, s, openStore(t))
	first, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.ran != 9+tries-1+1 {
		t.Errorf("%d runs", s.ran)
	}
	s.prepared, s.ran, s.trouble = 0, 0, nil
	second, err := Run(t.Context(), o)
	if err != nil || s.ran != 1 || second[10].End != Ran {
		t.Errorf("the second run ran %d, %+v, %v", s.ran, second[10], err)
	}
	s.prepared, s.ran = 0, 0
	third, err := Run(t.Context(), o)
	if err != nil || s.ran != 0 || s.prepared != 0 {
		t.Errorf("the third run prepared %d and ran %d, %v", s.prepared, s.ran, err)
	}
	first[10] = second[10]
	if d := cmp.Diff(first, third); d != "" {
		t.Errorf("stored answers differ (-first +third):\n%s", d)
	}
}

// TestTrouble: a fault that every state would meet ends the run, and so does the end of the context.
func TestTrouble(t *testing.T) {
	t.Parallel()
	s := &sandbox{trouble: pipeline.Abort(errors.New("no engine"))}
	o, _ := options(t, s, openStore(t))
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no engine") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		edit func(*Options)
		want string
	}{
		{"the last two", func(o *Options) { o.N = 2 }, "Network, Explain"},
		{"since a day", func(o *Options) { o.Since = time.Date(2024, 1, 11, 0, 0, 0, 0, time.UTC) }, "Network, Explain"},
		{"with tests", func(o *Options) { o.Files = true }, "Begin, Break it"},
		{"the last with tests", func(o *Options) { o.Files, o.N = true, 1 }, "Break it"},
		{"nothing", func(o *Options) { o.Since = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }, ""},
	} {
		s := &sandbox{}
		o, _ := options(t, s, openStore(t))
		told := 0
		o.Done = func(n, total int, _ State) {
			if told++; n != told || total < n {
				t.Errorf("%s: told of %d of %d as the %d.", tt.name, n, total, told)
			}
		}
		tt.edit(&o)
		list, err := Run(t.Context(), o)
		var got []string
		for _, s := range list {
			got = append(got, s.Title)
		}
		if err != nil || strings.Join(got, ", ") != tt.want || told != len(list) {
			t.Errorf("%s: %q, %v, told of %d", tt.name, got, err, told)
		}
		if o.Files && !strings.HasSuffix(strings.Join(s.target[0], " "), " .") && !strings.Contains(strings.Join(s.target[0], " "), "./") {
			t.Errorf("%s: ran %q", tt.name, s.target[0])
		}
	}
}
