// Package agent is the one loop of every agent: one model, one shell, one command a turn, a final report by schema.
//
// It knows what a turn looks like, when a session ends, and what must be kept of it. It never runs anything itself (the shell
// is passed in), never believes a report (its caller checks it against the transcript), and never takes what a command printed
// for anything but evidence: it is fenced like all evidence, so that a hostile repository cannot speak for us.
//
// A session is repeatable: the transcript depends on the questions' stored replies and on the commands' outputs alone. A shell
// that returns stored outputs therefore makes a second run that asks nobody and executes nothing. Nothing is smoothed away in
// outputs to reach that, since two real runs of a command may well differ in what matters.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/judges/model"
	"sluice/judges/reply"
)

// Output is what one command did.
type Output struct {
	ExitCode  int           `json:"exit_code"`
	Stop      string        `json:"stop"` // "exited", or what ended it: "timeout", "oom", …
	Text      string        `json:"text"` // what it printed, in valid UTF-8, cut in the middle with a mark
	Cut       bool          `json:"cut,omitempty"`
	Lingering bool          `json:"lingering,omitempty"` // processes outlived it and were ended
	Duration  time.Duration `json:"duration_ns"`
}

// Failed reports whether the command did anything but exit with code 0.
func (o Output) Failed() bool { return o.Stop != Exited || o.ExitCode != 0 }

// Exited is the Stop of a command that ended by itself.
const Exited = "exited"

// Shell runs commands one after another in one state. Its errors are the machinery's and end the session.
type Shell interface {
	Run(ctx context.Context, command string) (Output, error)
}

// Limits bound a session; a zero field does not, but for Turns and Output.
type Limits struct {
	Turns    int           `json:"turns"`     // questions to the model; default 40
	Tokens   int64         `json:"tokens"`    // of all questions and replies together
	MicroUSD int64         `json:"micro_usd"` // millionths of a dollar
	Time     time.Duration `json:"time_ns"`   // of thinking and of commands together
	Output   int           `json:"output"`    // bytes of a command's output that the model sees; default 12 KiB
}

// WithDefaults fills what must not be zero.
func (l Limits) WithDefaults() Limits {
	if l.Turns <= 0 {
		l.Turns = 40
	}
	if l.Output <= 0 {
		l.Output = 12 << 10
	}
	return l
}

// Options say who is asked, and how much it may cost.
type Options struct {
	Asker  model.Asker
	Charge model.Charge
	Model  string // the configured name
	Limits Limits
	// Price says what a reply is worth, stored or not, so that a resumed session reaches its limit where the first one would
	// have. Nil: what was paid for it now.
	Price func(model.Usage) int64
	Clock func() time.Time // measures how long the model thinks; required with Limits.Time
}

// Task is what the agent is to do.
type Task struct {
	Prompt  string
	Version int
	Opening []model.Message // system and user
	Schema  json.RawMessage // of the report
	// Check looks at a report that fits the schema. Its error is told to the model in one line and costs a turn. May be nil.
	Check func(report json.RawMessage, turns []Turn) error
}

// Kind says what a turn was.
type Kind string

// The kinds of turns. Refused is a report that Check did not accept.
const (
	Command    Kind = "command"
	Report     Kind = "report"
	Refused    Kind = "refused"
	Unreadable Kind = "unreadable"
)

// Turn is one question and what followed.
type Turn struct {
	N       int         `json:"n"`   // from 1
	Key     string      `json:"key"` // of the question in the ledger
	Reply   string      `json:"reply"`
	Usage   model.Usage `json:"usage"`
	Kind    Kind        `json:"kind"`
	Command string      `json:"command,omitempty"`
	Output  *Output     `json:"output,omitempty"`
	Said    string      `json:"said,omitempty"` // the line that told the model what was wrong
}

// End says why a session ended.
type End string

// The ends. Only Reported has a report.
const (
	Reported End = "reported"
	Turns    End = "turns"
	Tokens   End = "tokens"
	Money    End = "money"
	Time     End = "time"
	Repeats  End = "repeats" // the same command with the same outcome, or the same useless reply, again
	NoReply  End = "no-reply"
)

// Transcript is everything that a session was.
type Transcript struct {
	Prompt  string          `json:"prompt"`
	Version int             `json:"version"`
	Model   string          `json:"model"`
	Limits  Limits          `json:"limits"`
	Turns   []Turn          `json:"turns"`
	End     End             `json:"end"`
	Why     string          `json:"why,omitempty"` // one line about an end without a report
	Report  json.RawMessage `json:"report,omitempty"`
}

// Commands are the turns that ran a command.
func (t Transcript) Commands() []Turn {
	var out []Turn
	for _, turn := range t.Turns {
		if turn.Kind == Command {
			out = append(out, turn)
		}
	}
	return out
}

// Spent is what a session cost this time. It is no part of the transcript: a repetition costs nothing.
type Spent struct {
	Calls    int   `json:"calls"` // questions that were really asked
	Cached   int   `json:"cached"`
	Tokens   int64 `json:"tokens"` // of both
	MicroUSD int64 `json:"micro_usd"`
}

// session is the state of one Run.
type session struct {
	Options
	task     Task
	schema   *reply.Schema
	shell    Shell
	messages []model.Message
	out      Transcript
	spent    Spent
	worth    int64 // of all replies, by Price
	elapsed  time.Duration
	seen     map[string]int // useless replies, and commands with their outcomes
	last     string         // the command before with its outcome
}

// Run leads one session to its end. The transcript holds all turns so far also when there is an error: that is the machinery's,
// the budget's or ctx's, and another run may go on. A model that fails the task is no error: the transcript's End says so.
func Run(ctx context.Context, o Options, t Task, shell Shell) (Transcript, Spent, error) {
	o.Limits = o.Limits.WithDefaults()
	if o.Limits.Time > 0 && o.Clock == nil {
		return Transcript{}, Spent{}, errors.New("running an agent: a limit of time wants a clock")
	}
	schema, err := reply.Compile(t.Schema)
	if err != nil {
		return Transcript{}, Spent{}, fmt.Errorf("running agent %s: %w", t.Prompt, err)
	}
	s := &session{Options: o, schema: schema, task: t, shell: shell, messages: append([]model.Message{}, t.Opening...), seen: map[string]int{}}
	s.out = Transcript{Prompt: t.Prompt, Version: t.Version, Model: o.Model, Limits: o.Limits, Turns: []Turn{}}
	for s.out.End == "" {
		if err := ctx.Err(); err != nil {
			return s.out, s.spent, err
		}
		if s.reached() {
			break
		}
		if err := s.turn(ctx); err != nil {
			return s.out, s.spent, fmt.Errorf("turn %d of agent %s: %w", len(s.out.Turns)+1, t.Prompt, err)
		}
	}
	return s.out, s.spent, nil
}

// reached ends the session when a limit is used up. What the next reply costs nobody knows: the last one may exceed a limit.
func (s *session) reached() bool {
	l := s.Limits
	switch {
	case len(s.out.Turns) >= l.Turns:
		s.end(Turns, fmt.Sprintf("%d turns without a report", l.Turns))
	case l.Tokens > 0 && s.spent.Tokens >= l.Tokens:
		s.end(Tokens, fmt.Sprintf("%d of %d tokens are used", s.spent.Tokens, l.Tokens))
	case l.MicroUSD > 0 && s.worth >= l.MicroUSD:
		s.end(Money, fmt.Sprintf("%d of %d millionths of a dollar are spent", s.worth, l.MicroUSD))
	case l.Time > 0 && s.elapsed >= l.Time:
		s.end(Time, fmt.Sprintf("%v of %v are over", s.elapsed.Round(time.Second), l.Time))
	}
	return s.out.End != ""
}

func (s *session) end(e End, why string) { s.out.End, s.out.Why = e, why }

// turn asks once and does what the reply says.
func (s *session) turn(ctx context.Context) error {
	answer, unwell := s.ask(ctx)
	if unwell != nil && answer.Finish != model.Length {
		return s.unanswered(unwell)
	}
	t := Turn{N: len(s.out.Turns) + 1, Key: answer.Key, Reply: answer.Text, Usage: answer.Usage}
	a, err := read(answer.Text, s.schema)
	if unwell != nil {
		err = errCut // even if a block of it is whole: another one may have followed
	}
	switch {
	case err != nil:
		t.Kind, t.Said = Unreadable, err.Error()
	case a.report != nil:
		s.report(&t, a.report)
	default:
		t.Kind, t.Command = Command, a.command
		out, err := s.shell.Run(ctx, a.command)
		if err != nil {
			return fmt.Errorf("running a command: %w", err)
		}
		t.Output = &out
		s.elapsed += out.Duration
	}
	s.out.Turns = append(s.out.Turns, t)
	s.follow(t)
	return nil
}

// ask asks for the next turn and counts what it costs.
func (s *session) ask(ctx context.Context) (model.Answer, error) {
	var begun time.Time
	if s.Clock != nil {
		begun = s.Clock()
	}
	a, err := s.Asker.Ask(ctx, model.Request{
		Model: s.Model, Prompt: s.task.Prompt, Version: s.task.Version, Messages: append([]model.Message{}, s.messages...),
	}, s.Charge)
	if s.Clock != nil && !a.Cached {
		s.elapsed += s.Clock().Sub(begun)
	}
	if err != nil && a.Finish == "" {
		return a, err // with a reply that did not end well it is paid all the same
	}
	if a.Cached {
		s.spent.Cached++
	} else {
		s.spent.Calls++
	}
	u := s.counted(a.Reply)
	s.spent.Tokens += u.Input + u.Output
	s.spent.MicroUSD += a.MicroUSD
	if s.Price != nil {
		s.worth += s.Price(u)
	} else {
		s.worth += a.MicroUSD
	}
	return a, err
}

// mostTokens bounds what one reply counts: an endpoint may make numbers up, and a sum of them must not turn negative.
const mostTokens = 1 << 50

// counted is what a reply counts against the limits. Of what the endpoint does not report each byte is a token: else an endpoint that
// reports nothing would have no limit. It depends on stored texts alone, so that a resumed session ends where the first one would have.
func (s *session) counted(r model.Reply) model.Usage {
	u := r.Usage
	if u.Input <= 0 {
		u.Input = 0
		for _, m := range s.messages {
			u.Input += int64(len(m.Content))
		}
	}
	if u.Output <= 0 {
		u.Output = int64(len(r.Text))
	}
	u.Input, u.Output = min(u.Input, mostTokens), min(u.Output, mostTokens)
	return u
}

// unanswered tells what ends this session only from what every other would meet too.
func (s *session) unanswered(err error) error {
	for _, own := range []error{model.ErrTooLong, model.ErrFiltered, model.ErrRejected} {
		if errors.Is(err, own) {
			s.end(NoReply, oneLine(err.Error()))
			return nil
		}
	}
	return err
}

// report accepts or refuses a report.
func (s *session) report(t *Turn, report json.RawMessage) {
	t.Kind = Report
	if s.task.Check != nil {
		if err := s.task.Check(report, s.out.Turns); err != nil {
			t.Kind, t.Said = Refused, oneLine(err.Error())
			return
		}
	}
	s.out.Report = report
	s.end(Reported, "")
}

// follow ends a session that turns in circles, and else adds the turn to the conversation.
func (s *session) follow(t Turn) {
	if t.Kind == Report {
		return
	}
	mark := s.mark(t)
	s.seen[mark]++
	if mark == s.last || t.Kind != Command && s.seen[mark] > 1 || s.seen[mark] > 2 {
		s.end(Repeats, fmt.Sprintf("turn %d repeats an earlier one, with the same outcome", t.N))
		return
	}
	s.last = mark
	s.messages = append(s.messages,
		model.Message{Role: model.Assistant, Content: said(t.Reply)},
		model.Message{Role: model.User, Content: s.next(t)})
}

// mark names a turn with its outcome. The clock and the names of temporary files make no difference to it.
func (s *session) mark(t Turn) string {
	if t.Kind != Command {
		return string(t.Kind) + "\n" + t.Reply
	}
	return fmt.Sprintf("command\n%s\n%s %d\n%s", t.Command, t.Output.Stop, t.Output.ExitCode, steady(t.Output.Text))
}
