package agents

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
	"sluice/store"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

const schema = `{"type":"object","additionalProperties":false,"required":["reasoning"],"properties":{"reasoning":{"type":"string"}}}`

func job(m *agentstest.Memo) Job {
	opening := []model.Message{{Role: model.System, Content: "s"}, {Role: model.User, Content: "u"}}
	return Job{
		Once: m.Once, Label: "test", Task: agent.Task{Prompt: "p", Version: 1, Opening: opening, Schema: []byte(schema)},
		Spec: replay.SessionSpec{Tree: sandboxtest.NewTree("t", sandboxtest.Text("a.py", "a\n"), sandboxtest.Text("b.md", "b\n")), Build: true},
	}
}

func crew(t *testing.T, lines ...string) (Crew, *agentstest.Script) {
	t.Helper()
	ask := &agentstest.Script{Lines: append(lines, agentstest.Says(map[string]string{"reasoning": "r"}))}
	return Crew{Sandbox: agentstest.Local(t, ""), Asker: ask, Model: "m", Command: 20 * time.Second}, ask
}

func TestLead(t *testing.T) {
	t.Parallel()
	c, ask := crew(t, agentstest.Sh("echo x > a.py; echo out; echo err >&2; printf '\\377\\n'"),
		agentstest.Sh("cat a.py; rm b.md; mkdir -p build __pycache__; touch build/x __pycache__/y.pyc; echo n > n.py; exit 3"))
	m := agentstest.NewMemo()
	got, spent, err := c.Lead(t.Context(), job(m))
	if err != nil {
		t.Fatal(err)
	}
	one, two := got.Transcript.Turns[0].Output, got.Transcript.Turns[1].Output
	if one.Text != "out\nerr\n\uFFFD\n" || one.Failed() || two.Text != "x\n" || two.ExitCode != 3 || got.Transcript.End != agent.Reported {
		t.Errorf("outputs %+v, %+v", one, two)
	}
	want := Changes{Whole: true, Left: 2, Files: []Changed{
		{Path: pipeline.Text("a.py"), Kind: replay.Modified, Role: operation.Production, Mode: 0o644, Was: 0o644, Data: []byte("x\n")},
		{Path: pipeline.Text("b.md"), Kind: replay.Deleted, Role: operation.Other, Was: 0o644},
		{Path: pipeline.Text("n.py"), Kind: replay.Added, Role: operation.Production, Mode: 0o644, Data: []byte("n\n")},
	}}
	if d := cmp.Diff(want, got.Changes); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"agent": 1, "agent-command": 2}, m.Ran); d != "" || spent.Calls != 3 {
		t.Errorf("ran (-want +got):\n%s\nspent %+v", d, spent)
	}
	again, spent, err := c.Lead(t.Context(), job(m))
	if d := cmp.Diff(got, again); err != nil || d != "" || spent != (agent.Spent{}) || len(ask.Heard) != 3 {
		t.Errorf("a second run: %+v, %v\n%s", spent, err, d)
	}

	// What a session depends on makes another one.
	other := job(m)
	other.Spec.Overlays = []replay.Overlay{{Files: []replay.File{sandboxtest.Text("a.py", "over\n")}}}
	if _, spent, err := c.Lead(t.Context(), other); err != nil || spent.Calls+spent.Cached == 0 {
		t.Errorf("another state shares the session: %+v, %v", spent, err)
	}
}

// TestStoredOutputs: a session whose end is not stored asks with the outputs of the first time, and runs its commands only for
// what it has to look at.
func TestStoredOutputs(t *testing.T) {
	t.Parallel()
	c, ask := crew(t, agentstest.Sh("date +%N > t; cat t"), agentstest.Sh("cat t"))
	m := agentstest.NewMemo()
	first, _, err := c.Lead(t.Context(), job(m))
	if err != nil {
		t.Fatal(err)
	}
	for k := range m.Kept {
		if strings.HasPrefix(k, "agent ") {
			delete(m.Kept, k)
		}
	}
	asked := ask.Asked
	again, spent, err := c.Lead(t.Context(), job(m))
	if err != nil || ask.Asked != asked || spent.Cached != 3 {
		t.Fatalf("asked %d times more, spent %+v, %v", ask.Asked-asked, spent, err)
	}
	if d := cmp.Diff(first.Transcript, again.Transcript); d != "" {
		t.Errorf("the transcript differs:\n%s", d)
	}
	if cmp.Equal(first.Changes, again.Changes) {
		t.Error("the commands did not run again: their file is the same")
	}
}

// What decides a session decides its key: the model behind a name, its limits, and prices where money is a limit.
func TestCrewSettings(t *testing.T) {
	t.Parallel()
	price := func(n int64) func(model.Usage) int64 {
		return func(u model.Usage) int64 { return n * (u.Input + 5*u.Output) / 1000 }
	}
	base := Crew{Sandbox: agentstest.Local(t, ""), Model: "m", Parameters: model.Parameters{ID: "m-1", MaxOutput: 10}, Price: price(1)}
	for _, tt := range []struct {
		name  string
		alter func(*Crew)
		same  bool
	}{
		{"nothing", func(*Crew) {}, true},
		{"another model under the name", func(c *Crew) { c.Parameters.ID = "m-2" }, false},
		{"another temperature", func(c *Crew) { c.Parameters.Temperature = 1 }, false},
		{"fewer turns", func(c *Crew) { c.Limits.Turns = 3 }, false},
		{"a price without a limit of money", func(c *Crew) { c.Price = price(2) }, true},
	} {
		c := base
		tt.alter(&c)
		if got := cmp.Equal(base.Settings(), c.Settings()); got != tt.same {
			t.Errorf("%s: the same settings: %v, want %v", tt.name, got, tt.same)
		}
	}
	base.Limits.MicroUSD = 100
	dearer := base
	dearer.Price = price(2)
	if cmp.Equal(base.Settings(), dearer.Settings()) {
		t.Error("a price makes no difference where money is a limit")
	}
}

func TestCancelledLead(t *testing.T) {
	t.Parallel()
	c, _ := crew(t, agentstest.Sh("sleep 300"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	m := agentstest.NewMemo()
	if _, _, err := c.Lead(ctx, job(m)); !errors.Is(err, context.DeadlineExceeded) || len(m.Kept) != 0 {
		t.Errorf("%v, %d results are kept", err, len(m.Kept))
	}
}

type broke struct{ error }

func (b broke) Ask(context.Context, model.Request, model.Charge) (model.Answer, error) {
	return model.Answer{}, b.error
}

// What every question would meet ends the run of any stage that leads an agent; the rest is the candidate's.
func TestLeadEndsTheRun(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{model.ErrConfig: true, model.ErrNotStored: true, model.ErrTransient: false} {
		s, serr := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
		if serr != nil {
			t.Fatal(serr)
		}
		defer s.Close()
		if _, err := s.AddCandidates(t.Context(), []store.Candidate{{ID: "a", Family: "toy", Repo: "o/r", Data: []byte("{}")}}); err != nil {
			t.Fatal(err)
		}
		c, _ := crew(t)
		c.Asker = broke{err}
		stage := pipeline.Stage{Name: "lead", Version: 1, Pool: pipeline.Sandbox, Run: func(ctx context.Context, cs *pipeline.Case) (pipeline.Outcome, error) {
			j := job(agentstest.NewMemo())
			j.Once = cs.Once
			_, _, err := c.Lead(ctx, j)
			return pipeline.Outcome{}, err
		}}
		_, got := pipeline.New(s, pipeline.Options{Owner: "me", Tries: 1}).Run(t.Context(), &pipeline.Family{Name: "toy", Stages: []pipeline.Stage{stage}}, "")
		if (got != nil) != want || want && !errors.Is(got, err) {
			t.Errorf("%v: the run ended with %v", err, got)
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain-1.2/x": "plain-1.2/x", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "{env}/venv": `"$SLUICE_ENV/venv"`,
		"{tree}/a b$`\"\\": "\"$SLUICE_TREE/a b\\$\\`\\\"\\\\\"", "--x={out}/j": `"--x=/tmp/report/j"`, "{other}": "'{other}'",
	} {
		if got := word(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
