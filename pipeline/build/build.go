// Package build takes a repository all the way: it refreshes the mirror, lets a family propose candidates for what is new, and
// runs the engine over them.
//
// It is where families, sandboxes and the store meet; it prints nothing and has no rule of its own.
package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"sluice/internal/process"
	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/pipeline/history"
	"sluice/replay"
	"sluice/store"
)

// ErrUnknownFamily says that this version has no family of that name.
var ErrUnknownFamily = errors.New("unknown family")

// Config is what one build needs.
type Config struct {
	Store    *store.Store
	Dir      string // the store's folder: mirrors and environments live there too
	Source   string // path or URL
	Name     string // "owner/name" in records; "" derives it from the source
	Branch   string // "" is the default branch
	Family   string
	Settings foresight.Settings
	Sandbox  SandboxConfig
	Models   *Models // who judges and sets up; nil: nobody is asked
	Workers  int     // candidates in sandboxes at once; 0: the machine's cores
	Budget   pipeline.Budget
	Progress pipeline.Progress
	Log      *slog.Logger
	Clock    func() time.Time
}

// Report is what a build did.
type Report struct {
	Repo     string           `json:"repo"`
	Tip      string           `json:"tip"`
	Changes  int              `json:"changes"`  // in the window; 0 when nothing was new
	Proposed int              `json:"proposed"` // new candidates
	Mining   time.Duration    `json:"mining_ns"`
	Engine   pipeline.Summary `json:"engine"`
}

// Run builds. It is resumable at any point: what is stored counts.
func Run(ctx context.Context, c Config) (Report, error) {
	if c.Family != foresight.Name {
		return Report{}, fmt.Errorf("%w %q: this version knows %s", ErrUnknownFamily, c.Family, foresight.Name)
	}
	started := c.Clock()
	m, h, rep, err := c.open(ctx)
	if err != nil {
		return rep, err
	}
	defer m.Close()
	if c.Settings, err = window(ctx, h, c.Settings); err != nil {
		return rep, err
	}
	if err := errors.Join(c.keepSettings(ctx, rep.Repo), mine(ctx, c, h, &rep)); err != nil {
		return rep, err
	}
	rep.Mining = c.Clock().Sub(started)
	sandbox := c.Sandbox.lazy(c.Dir)
	deps := foresight.Deps{History: h, Sandbox: sandbox, Repo: rep.Repo, Image: c.Sandbox.Image}
	err = c.models(ctx, &deps, sandbox)
	if err == nil {
		rep.Engine, err = c.run(ctx, foresight.New(deps, c.Settings), rep.Repo)
	}
	if deps.Desk != nil {
		err = errors.Join(err, deps.Desk.Close(context.WithoutCancel(ctx)))
	}
	return rep, errors.Join(err, sandbox.Close())
}

// open refreshes the mirror and says what is to be mined.
func (c Config) open(ctx context.Context) (*gitrepo.Mirror, *history.History, Report, error) {
	rep := Report{Repo: c.Name}
	m, err := gitrepo.Open(ctx, c.Source, filepath.Join(c.Dir, "mirrors"), gitrepo.Options{Branch: c.Branch})
	if err != nil {
		return nil, nil, rep, err
	}
	if rep.Repo == "" {
		rep.Repo = m.Name()
	}
	if m.Shallow() { // a change at the border would be rejected as a root, and stay so when the rest of the history arrives
		err := fmt.Errorf("mining %s: %w: its history is cut off", m.Source(), gitrepo.ErrMissingObject)
		return nil, nil, Report{}, errors.Join(err, m.Close())
	}
	if rep.Tip, err = m.Tip(ctx); err != nil {
		return nil, nil, rep, errors.Join(fmt.Errorf("finding the branch to mine: %w", err), m.Close())
	}
	if err := history.ClaimName(ctx, c.Store, rep.Repo, m); err != nil {
		return nil, nil, rep, errors.Join(err, m.Close())
	}
	return m, history.New(m, c.Branch), rep, nil
}

func (c Config) run(ctx context.Context, f *pipeline.Family, repo string) (pipeline.Summary, error) {
	self, err := process.Self()
	if err != nil {
		return pipeline.Summary{}, err
	}
	e := pipeline.New(c.Store, pipeline.Options{
		Pools: c.pools(), Clock: c.Clock, Owner: self.String(), Dead: process.DeadOwner,
		Free: func() (uint64, error) { return freeBytes(c.Dir) }, Budget: c.Budget, Progress: c.Progress, Log: c.Log,
	})
	return e.Run(ctx, f, repo)
}

// pools are the limits of the machine: git's children and the store's writes wait for the disk more than for a core.
func (c Config) pools() map[pipeline.Pool]int {
	n := 4 * runtime.NumCPU() // measured: 2 leaves the cores idle for a third of the time
	return map[pipeline.Pool]int{pipeline.Sandbox: Workers(c.Workers), pipeline.Git: n, pipeline.CPU: n, pipeline.Model: c.Models.askers()}
}

// mine proposes candidates unless the store's mark says that this tip and window have been mined.
func mine(ctx context.Context, c Config, h *history.History, rep *Report) error {
	name := "mined:" + c.Family + ":" + rep.Repo
	mark := foresight.MineMark(rep.Tip, c.Settings)
	old, ok, err := c.Store.Mark(ctx, name)
	if err != nil || ok && old == mark {
		return err
	}
	proposed, err := foresight.Propose(ctx, h, rep.Repo, c.Settings)
	if err != nil {
		return fmt.Errorf("mining %s: %w", rep.Repo, err)
	}
	rep.Changes = len(proposed)
	if rep.Proposed, err = c.Store.AddCandidates(ctx, proposed); err != nil {
		return fmt.Errorf("mining %s: %w", rep.Repo, err)
	}
	return c.Store.PutMark(ctx, name, mark)
}

// window fills the default: five years that end with the branch's tip. It begins with a month, so that new commits do not move it each day.
func window(ctx context.Context, h *history.History, s foresight.Settings) (foresight.Settings, error) {
	if !s.Since.IsZero() || s.Whole {
		return s, nil
	}
	changes, _, err := h.Changes(ctx)
	if err != nil || len(changes) == 0 {
		return s, err
	}
	last := changes[len(changes)-1].Committed.UTC()
	s.Since = time.Date(last.Year()-5, last.Month(), 1, 0, 0, 0, 0, time.UTC)
	return s, nil
}

// day writes a border of the window; "" is none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func freeBytes(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("asking for the free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// Families returns every family with no repository behind it: for its stages, codes and documentation.
func Families() []*pipeline.Family {
	return []*pipeline.Family{foresight.New(foresight.Deps{}, foresight.Settings{})}
}

// FamilyNames lists what --family takes.
func FamilyNames() string {
	var names []string
	for _, f := range Families() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

var _ replay.Opener = (*lazy)(nil)

// Workers is n, or the machine's cores for 0.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.NumCPU()
}
