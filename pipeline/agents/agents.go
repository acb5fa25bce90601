// Package agents leads agents through sessions in sandboxes: it joins the loop of judges/agent, the shell of a replay session, and
// the store's memo.
//
// Everything that a command printed is kept under the commands that led there, and a finished session as a whole. A run that goes
// on after a kill therefore asks the model nothing that it has answered, and shows it the outputs of the first time, whatever
// times and temporary names a second execution prints: commands run again only when a new one needs the state that they made.
//
// It knows no task, decides nothing about a candidate, and believes no report: that is for the packages that use it.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/pipeline/judging"
	"sluice/replay"
)

// Once runs a piece of work once and keeps its result; pipeline's Case.Once is one.
type Once func(ctx context.Context, w pipeline.Work, f func(context.Context) ([]byte, error)) ([]byte, error)

// Crew says who works where, and how much a session may use.
type Crew struct {
	Sandbox replay.Opener
	Asker   model.Asker
	Model   string // the configured name
	// Parameters are those of the model that decide its answers: another model under the same name leads other sessions.
	Parameters model.Parameters
	Limits     agent.Limits
	// Box bounds the state that the agent works in. Wall bounds the session with all that the model thinks; zero: twice
	// Limits.Time, at least an hour.
	Box     replay.Limits
	Command time.Duration // time-out of one command; zero: ten minutes
	Price   func(model.Usage) int64
	Clock   func() time.Time
}

// Settings are what of a crew decides the outcome of a session, for the memo keys of stages.
type Settings struct {
	Sandbox    string           `json:"sandbox"`
	Model      string           `json:"model"`
	Parameters model.Parameters `json:"parameters"`
	Limits     agent.Limits     `json:"limits"`
	// Prices are those of a million tokens of input, cached input and output, where a limit of money makes them matter.
	Prices  []int64       `json:"prices,omitempty"`
	Box     replay.Limits `json:"box"`
	Command time.Duration `json:"command"`
	Version int           `json:"version"`
}

// version is part of every key: raise it when the same replies would lead to another session.
const version = 1

// Settings returns the crew's.
func (c Crew) Settings() Settings {
	c = c.withDefaults()
	return Settings{c.Sandbox.Name(), c.Model, c.Parameters, c.Limits, c.prices(), c.Box, c.Command, version}
}

func (c Crew) prices() []int64 {
	const million = 1_000_000
	if c.Price == nil || c.Limits.MicroUSD <= 0 {
		return nil
	}
	return []int64{
		c.Price(model.Usage{Input: million}), c.Price(model.Usage{Input: million, Cached: million}), c.Price(model.Usage{Output: million}),
	}
}

// keptOutput is how much is kept of a command's output, in bytes. The model sees less of it.
const keptOutput = 64 << 10

func (c Crew) withDefaults() Crew {
	c.Limits = c.Limits.WithDefaults()
	if c.Command == 0 {
		c.Command = 10 * time.Minute
	}
	if c.Box.Wall == 0 {
		c.Box.Wall = max(time.Hour, 2*c.Limits.Time)
	}
	if c.Box.Output == 0 {
		c.Box.Output = keptOutput
	}
	return c
}

// Job is one session.
type Job struct {
	Once   Once
	Charge model.Charge
	Label  string // for people: "setup of h1"
	Spec   replay.SessionSpec
	// Ready is a recipe whose environment the session starts from; it is prepared when a command has to run. Nil: Spec says all.
	Ready *replay.Recipe
	Task  agent.Task
}

// Log is what is kept of a session.
type Log struct {
	Transcript agent.Transcript `json:"transcript"`
	Changes    Changes          `json:"changes"` // of the tree, at the session's end
}

// Lead leads a session to its end, or returns the one that is stored. Spent is zero for a stored one. Errors tell the engine what they end;
// see judging.Fault.
func (c Crew) Lead(ctx context.Context, j Job) (Log, agent.Spent, error) {
	c = c.withDefaults()
	key, err := c.key(j)
	if err != nil {
		return Log{}, agent.Spent{}, err
	}
	var spent agent.Spent
	w := pipeline.Work{Kind: "agent", Label: j.Label, Inputs: key}
	b, err := j.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		log, s, err := c.lead(ctx, j, key)
		spent = s
		if err != nil {
			return nil, err
		}
		return json.Marshal(log)
	})
	if err != nil {
		return Log{}, spent, judging.Fault(fmt.Errorf("leading the agent for the %s: %w", j.Label, err))
	}
	var log Log
	if err := json.Unmarshal(b, &log); err != nil {
		return Log{}, spent, pipeline.Permanent(fmt.Errorf("decoding the session of the %s: %w", j.Label, err))
	}
	return log, spent, nil
}

// key is all that a session depends on.
func (c Crew) key(j Job) (any, error) {
	over, err := replay.Baseline(context.Background(), empty{}, j.Spec.Overlays)
	if err != nil {
		return nil, err
	}
	var removed []pipeline.Text
	for _, o := range j.Spec.Overlays {
		for _, p := range o.Remove {
			removed = append(removed, pipeline.Text(p))
		}
	}
	env := ""
	if j.Ready != nil {
		env = j.Ready.Fingerprint
	}
	var files []any
	for _, ch := range replay.Compare(nil, over) {
		files = append(files, []any{pipeline.Text(ch.Path), ch.After})
	}
	return []any{
		c.Settings(), j.Task.Prompt, j.Task.Version, j.Task.Opening, j.Spec.Tree.ID(), files, removed, j.Spec.Recipe, env, j.Spec.Build, j.Spec.ReadOnly,
	}, nil
}

type empty struct{}

func (empty) ID() string                                          { return "" }
func (empty) Each(context.Context, func(replay.File) error) error { return nil }
func (empty) Select(context.Context, func(replay.File) bool, func(replay.File) error) error {
	return nil
}
func (empty) ReadFile(_ context.Context, path string) ([]byte, error) { return nil, errors.New(path) }

func (c Crew) lead(ctx context.Context, j Job, key any) (log Log, spent agent.Spent, err error) {
	sh := &shell{crew: c, job: j, key: key}
	defer func() { err = errors.Join(err, sh.close()) }()
	o := agent.Options{Asker: c.Asker, Charge: j.Charge, Model: c.Model, Limits: c.Limits, Price: c.Price, Clock: c.Clock}
	if log.Transcript, spent, err = agent.Run(ctx, o, j.Task, sh); err != nil {
		return log, spent, err
	}
	log.Changes, err = sh.changes(ctx)
	return log, spent, err
}

// shell is an agent's shell over a session that is opened when a command really has to run.
type shell struct {
	crew Crew
	job  Job
	key  any

	mu       sync.Mutex // an interrupted Once may still run when its caller has gone
	commands []string
	done     int // how many of them the open session has run
	session  replay.Session
	closed   bool
}

// Run implements agent.Shell.
func (s *shell) Run(ctx context.Context, command string) (agent.Output, error) {
	s.commands = append(s.commands, command)
	commands := s.commands
	w := pipeline.Work{
		Kind: "agent-command", Label: fmt.Sprintf("command %d of the %s", len(commands), s.job.Label), Inputs: []any{s.key, commands},
	}
	b, err := s.job.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		out, err := s.execute(ctx, commands)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	})
	if err != nil {
		return agent.Output{}, err
	}
	var out agent.Output
	if err := json.Unmarshal(b, &out); err != nil {
		return out, pipeline.Permanent(fmt.Errorf("decoding a command's output: %w", err))
	}
	return out, nil
}

// execute brings the session to where all commands have run, and returns what the last one did.
func (s *shell) execute(ctx context.Context, commands []string) (out agent.Output, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return out, errors.New("the session is closed")
	}
	if err := s.open(ctx); err != nil {
		return out, err
	}
	for s.done < len(commands) {
		// The two streams come as one, as people see them on a terminal.
		r, err := s.session.Exec(ctx, replay.Step{
			Name: fmt.Sprintf("command %d", s.done+1), Args: []string{"sh", "-c", "exec 2>&1\n" + commands[s.done]}, Timeout: s.crew.Command,
		})
		if err != nil {
			return out, err
		}
		s.done++
		out = outputOf(r)
	}
	return out, nil
}

// open makes the session, if there is none yet.
func (s *shell) open(ctx context.Context) (err error) {
	if s.session != nil {
		return nil
	}
	spec := s.job.Spec
	spec.Name, spec.Limits = s.job.Label, s.crew.Box
	if s.job.Ready != nil {
		env, err := s.crew.Sandbox.Prepare(ctx, *s.job.Ready, spec.Tree)
		if err != nil {
			return err
		}
		vars := map[string]string{EnvVar: "{env}", TreeVar: "{tree}"}
		maps.Copy(vars, env.Recipe.Env)
		env.Recipe.Env, spec.Env = vars, &env
	}
	s.session, err = s.crew.Sandbox.Open(ctx, spec)
	return err
}

func outputOf(r replay.StepResult) agent.Output {
	text := string(r.Stdout)
	if len(r.Stderr) > 0 { // what the sandbox itself says
		text += "\n" + string(r.Stderr)
	}
	return agent.Output{
		ExitCode: r.ExitCode, Stop: string(r.Stop), Text: strings.ToValidUTF8(text, "\uFFFD"), Cut: r.Truncated,
		Lingering: r.Lingering, Duration: r.Duration.Round(time.Millisecond),
	}
}

func (s *shell) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}
