package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/store"
)

// The variables that make TestVictim lead a session in a process of its own.
const (
	victimFolder = "SLUICE_TEST_SETUP_FOLDER"
	victimHangs  = "SLUICE_TEST_SETUP_HANGS"
)

// ledger is a scripted model whose answers are kept in a file, as the store keeps them: what was answered is not asked again. It
// hangs at one question, so that its process can be killed there.
type ledger struct {
	t     *testing.T
	file  string
	lines []string
	hang  int // number of the question; -1: none
}

func (l *ledger) answers() map[string]string {
	kept := map[string]string{}
	f, err := os.Open(l.file)
	if err != nil {
		return kept
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var entry [2]string
		if json.Unmarshal(in.Bytes(), &entry) == nil {
			kept[entry[0]] = entry[1]
		}
	}
	return kept
}

func (l *ledger) note(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		l.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\n", b)
}

func (l *ledger) Ask(ctx context.Context, r model.Request, _ model.Charge) (model.Answer, error) {
	key, err := r.Key(model.Parameters{})
	if err != nil {
		return model.Answer{}, err
	}
	kept := l.answers()
	if text, ok := kept[key]; ok {
		return model.Answer{Reply: model.Reply{Text: text}, Key: key, Cached: true}, nil
	}
	l.note(l.file+".asked", key)
	if len(kept) == l.hang {
		<-ctx.Done()
		return model.Answer{}, ctx.Err()
	}
	one := &agentstest.Script{Lines: l.lines[len(kept):]}
	a, err := one.Ask(ctx, r, model.Charge{})
	l.note(l.file, [2]string{key, a.Text})
	return a, err
}

// counting is a sandbox that counts what it is asked to do.
type counting struct {
	replay.Opener
	opened, prepared, ran int
}

func (c *counting) Open(ctx context.Context, s replay.SessionSpec) (replay.Session, error) {
	c.opened++
	return c.Opener.Open(ctx, s)
}

func (c *counting) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	c.prepared++
	return c.Opener.Prepare(ctx, r, t)
}

func (c *counting) Run(ctx context.Context, j replay.Job) (replay.Result, error) {
	c.ran++
	return c.Opener.Run(ctx, j)
}

// lead takes one candidate through a family of one stage that sets a state up, over a store in a folder.
func lead(t *testing.T, folder string, hang int) (*counting, string) {
	t.Helper()
	ctx := t.Context()
	s, err := store.OpenDir(ctx, filepath.Join(folder, "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	box := &counting{Opener: agentstest.Local(t, filepath.Join(folder, "sandbox"))}
	su, _ := newSetup(t, box)
	su.Crew.Asker = &ledger{t: t, file: filepath.Join(folder, "ledger"), lines: good(), hang: hang}
	family := &pipeline.Family{Name: "toy", Stages: []pipeline.Stage{{
		Name: "environment", Version: 1, Pool: pipeline.Sandbox, Codes: []pipeline.Code{{Name: "no-recipe", Text: "None."}},
		Run: func(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
			q := request(t, agentstest.NewMemo())
			q.Once = c.Once
			r, err := su.Find(ctx, q)
			if err == nil && !r.Accepted {
				return pipeline.Reject("no-recipe", r.Reason), nil
			}
			return pipeline.Pass(), err
		},
	}}}
	if _, err := s.AddCandidates(ctx, []store.Candidate{{ID: "toy-1", Family: "toy", Repo: "o/r", Data: []byte("{}"), Position: store.Position{State: store.Open}}}); err != nil {
		t.Fatal(err)
	}
	e := pipeline.New(s, pipeline.Options{Owner: fmt.Sprint("p", os.Getpid()), Dead: func(string) bool { return true },
		BackOff: func() backoff.BackOff { return &backoff.ZeroBackOff{} }, Tries: 1})
	if _, err := e.Run(ctx, family, ""); err != nil {
		t.Fatal(err)
	}
	c, err := s.Candidate(ctx, "toy-1")
	if err != nil {
		t.Fatal(err)
	}
	return box, string(c.State) + " " + c.Reason
}

// TestVictim is not a test: it is the process that TestKilledSession kills.
func TestVictim(t *testing.T) {
	folder := os.Getenv(victimFolder)
	if folder == "" {
		t.Skip("only run by another test")
	}
	var hang int
	if _, err := fmt.Sscan(os.Getenv(victimHangs), &hang); err != nil {
		t.Fatal(err)
	}
	lead(t, folder, hang)
}

func linesOf(name string) int {
	b, _ := os.ReadFile(name)
	n := 0
	for _, c := range b {
		if c == '\n' {
			n++
		}
	}
	return n
}

// TestKilledSession kills the process that leads a session while the model thinks about each of its turns. The next one goes on:
// nothing that was answered is asked again, and a run after the end neither asks nor executes.
func TestKilledSession(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	asked := filepath.Join(folder, "ledger.asked")
	kills := []int{1, 3, 5}
	for i, hang := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
		cmd.Env = append(os.Environ(), victimFolder+"="+folder, fmt.Sprint(victimHangs, "=", hang))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		want := hang + 1 + i // every question once, and each that was cut off by a kill once more
		for range 1200 {
			if linesOf(asked) >= want {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n := linesOf(asked); n != want {
			t.Fatalf("before kill %d the model was asked %d times, want %d", i+1, n, want)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	box, end := lead(t, folder, -1)
	if n := linesOf(asked); !strings.HasPrefix(end, "admitted") || n != len(good())+len(kills) {
		t.Errorf("the candidate is %s; the model was asked %d times, want %d", end, n, len(good())+len(kills))
	}
	if box.opened > 1 || box.ran != 1 {
		t.Errorf("the last run opened %d sessions and ran %d jobs", box.opened, box.ran)
	}
	s, err := os.ReadDir(filepath.Join(folder, "sandbox", "states"))
	if err != nil || len(s) != 0 {
		t.Errorf("states are left: %v, %v", s, err)
	}
	again := &ledger{t: t, file: filepath.Join(folder, "ledger"), lines: good(), hang: 99}
	if n := len(again.answers()); n != len(good()) {
		t.Errorf("%d answers are kept, want %d", n, len(good()))
	}
}
