package build

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/judges"
	"sluice/judges/judgestest"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
	"sluice/store"
)

// modelsAt is a configuration of two models at one address, of which the first judges alone. Each question costs something.
func modelsAt(url string) judging.Config {
	c := judging.Config{Config: model.Config{Endpoints: []model.Endpoint{{Name: "test", URL: url, Concurrent: 16, Tries: 1}}}}
	for _, name := range []string{"a", "b"} {
		c.Models = append(c.Models, model.Spec{Name: name, Endpoint: "test", MaxOutput: 1000, InputUSD: "1", OutputUSD: "2"})
	}
	c.Panels = map[string]judges.Panel{judging.DefaultPanel: {Models: []string{"a"}}}
	return c
}

// judged is a copy of the store of the shared build, which is built on with models. Its sandbox runs are done: none may run again.
type judged struct {
	dir, source string // the store's folder, the repository
	repo        calm
	server      *modeltest.Server
	config      judging.Config
}

// judgedBy copies the shared build for a test whose models answer as m does.
func judgedBy(t testing.TB, m judgestest.Model) *judged {
	t.Helper()
	return copied(t, modeltest.New(t, m.Reply))
}

func copied(t testing.TB, server *modeltest.Server) *judged {
	t.Helper()
	c := built(t)
	j := &judged{dir: filepath.Join(t.TempDir(), "store"), source: c.repo.Dir, repo: c, server: server, config: modelsAt(server.URL)}
	if err := os.CopyFS(j.dir, os.DirFS(c.snapshot())); err != nil {
		t.Fatal(err)
	}
	return j
}

// panel has the judge of that name, or all others, asked by these models.
func (j *judged) panel(judge string, models ...string) {
	j.config.Panels[judge] = judges.Panel{Models: models}
}

// build goes on building, in the way of a process of its own.
func (j *judged) build(ctx context.Context, replayOnly bool) (Report, error) {
	return buildJudged(ctx, j.dir, j.source, &Models{Config: j.config, ReplayOnly: replayOnly, Options: judging.Options{Clock: time.Now}})
}

func buildJudged(ctx context.Context, dir, source string, m *Models) (Report, error) {
	s, err := store.OpenDir(ctx, dir, store.Options{MustExist: true})
	if err != nil {
		return Report{}, err
	}
	defer s.Close()
	rep, err := Run(ctx, Config{
		Store: s, Dir: dir, Source: source, Family: foresight.Name, Workers: 2, Clock: time.Now, Models: m,
		Settings: foresight.Settings{Judge: foresight.JudgeModels, Repeats: 2}, Sandbox: SandboxConfig{Kind: "local"},
	})
	if _, serr := os.Stat(filepath.Join(dir, "local")); !errors.Is(serr, fs.ErrNotExist) {
		err = errors.Join(err, errors.New("a sandbox was opened, though all runs are stored"))
	}
	return rep, err
}

// must builds and wants no error.
func (j *judged) must(t testing.TB) Report {
	t.Helper()
	rep, err := j.build(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// open opens the store for looking at it.
func (j *judged) open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), j.dir, store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ends are where the candidates stand, by the demo's step; those that ended before any judge are left out.
func (j *judged) ends(t testing.TB) map[string]store.Candidate {
	t.Helper()
	steps := map[string]string{}
	for _, l := range j.repo.repo.Changes {
		steps[l.Head] = l.ID
	}
	s := j.open(t)
	all, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]store.Candidate{}
	for _, c := range all {
		p, err := foresight.Decode(c)
		if err != nil {
			t.Fatal(err)
		}
		_, reached, err := s.LatestEvidence(t.Context(), c.ID, "dossier")
		if err != nil {
			t.Fatal(err)
		}
		if reached {
			out[steps[p.Fix.Head]] = c
		}
	}
	return out
}

// count tells how many candidates stand so: "admitted", "rejected carried".
func (j *judged) count(t testing.TB) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, c := range j.ends(t) {
		end := string(c.State)
		if c.Code != "" {
			end += " " + c.Code
		}
		out[end]++
	}
	return out
}

// stages lists the stages that have run, in order, each as often as it did, of all candidates.
func (j *judged) stages(t testing.TB) map[string]int {
	t.Helper()
	s := j.open(t)
	all, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, c := range all {
		attempts, err := s.Attempts(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range attempts {
			out[a.Stage]++
		}
	}
	return out
}

// calls are the questions of the store, by state.
func (j *judged) calls(t testing.TB) map[store.CallState][]store.ModelCall {
	t.Helper()
	all, err := j.open(t).ModelCalls(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[store.CallState][]store.ModelCall{}
	for _, c := range all {
		out[c.State] = append(out[c.State], c)
	}
	return out
}
