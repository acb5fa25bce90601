package judges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges/leak"
	"sluice/judges/model"
)

// StatementTask is what a statement is written from, and what it is held against.
type StatementTask struct {
	Repository string
	TaskText   string // title and description of the change that is the task
	TaskPatch  string // its source diff
	Interfaces string // that are given besides; may be empty
	Documents  string // the part of its diff that is documentation; may be empty

	FixText  string // the later change in its author's words; may be empty
	FixPatch string
	FixTests string

	// Static is what the rules need besides: the tree from before, ids, numbers, the cutoff. Its texts are added to those above.
	Static leak.Input
}

// StatementOptions say who writes and who judges.
type StatementOptions struct {
	Writer  string // the configured name of the model that writes and repairs
	Sample  int    // another one gives another statement of the same task
	Clarity Panel  // of the judge StatementClarity
	Leakage Panel  // of the judge StatementLeakage
}

// The ends of a statement.
const (
	StatementAccepted = "accepted"
	StatementUnclear  = "unclear" // StatementClarity does not keep it
	StatementLeaks    = "leaks"   // a rule or StatementLeakage found something in it
	StatementFailed   = "failed"  // there is no statement that could be judged, or no judgement
)

// StatementStep is one thing that was done on the way.
type StatementStep struct {
	Kind       string      `json:"kind"`            // "write", "rules", "repair", or the name of a judge
	Text       *Statement  `json:"text,omitempty"`  // of write and repair
	Leaks      []leak.Leak `json:"leaks,omitempty"` // of rules
	Ruling     *Ruling     `json:"ruling,omitempty"`
	Written    *Written    `json:"written,omitempty"`
	Objections []string    `json:"objections,omitempty"` // what the next repair would be told
	Failed     string      `json:"failed,omitempty"`     // one line
}

// StatementResult is how it ended, and all that happened.
type StatementResult struct {
	End       string          `json:"end"`
	Code      string          `json:"code"`   // a code of the judge or the kind of a find; "" when accepted
	Reason    string          `json:"reason"` // one line for people
	Statement Statement       `json:"statement"`
	Repaired  bool            `json:"repaired"`
	Steps     []StatementStep `json:"steps"`
	MicroUSD  int64           `json:"-"` // as a Vote has it
}

// maxRepairs is how often a statement is repaired.
const maxRepairs = 1

// MakeStatement has a model write a statement, holds it against rules and two judges, lets the model repair it once with what they
// said, and accepts it or says why not. It always ends, after at most two texts and two rulings of each judge.
//
// An error is one that another run may cure, or that every question would meet (ctx's, model.ErrBudget, model.ErrNotStored,
// model.ErrConfig, model.ErrTransient, model.ErrBusy), or evidence that does not fit; the result then holds what was done so far,
// with the end StatementFailed. What a model did not manage is an end without an error. A second run with the same input asks nothing
// that the asker has stored.
func MakeStatement(ctx context.Context, b Bench, t StatementTask, o StatementOptions) (StatementResult, error) {
	f := flow{bench: b, task: t, options: o}
	f.result.End = StatementFailed
	err := f.run(ctx)
	if err != nil {
		f.result.End, f.result.Code, f.result.Reason = StatementFailed, "interrupted", oneLine(err)
		return f.result, fmt.Errorf("making a statement: %w", err)
	}
	return f.result, nil
}

type flow struct {
	bench   Bench
	task    StatementTask
	options StatementOptions
	result  StatementResult
}

// objection is one reason against a statement.
type objection struct {
	end, code, reason string
	hint              string // for the author; "": nothing can be said
	weak              bool   // goes along with a repair, and asks for none
}

// run returns an error only for what ends the whole flow; the ends of statements are in the result.
func (f *flow) run(ctx context.Context) error {
	text, ok, err := f.write(ctx, "write", WriteStatement, Case{
		"repository": {f.task.Repository}, "task_text": {f.task.TaskText}, "task_patch": {f.task.TaskPatch},
		"interfaces": {f.task.Interfaces}, "documents": {f.task.Documents},
	})
	for repairs := 0; ok && err == nil; repairs++ {
		var found []objection
		if found, err = f.check(ctx, text, repairs == maxRepairs); err != nil || f.ends(text, found, repairs == maxRepairs) {
			return err
		}
		before := text
		text, ok, err = f.write(ctx, "repair", RepairStatement, Case{
			"repository": {f.task.Repository}, "statement": {text.Text()}, "objections": hints(found),
			"task_text": {f.task.TaskText}, "task_patch": {f.task.TaskPatch}, "interfaces": {f.task.Interfaces},
		})
		f.result.Repaired = ok
		if ok && sameWords(before, text) { // the same checks would say the same
			f.ends(text, found, true)
			return nil
		}
	}
	return err
}

// ends sets the end if there is one: nothing stands against the statement, or this was its last chance.
func (f *flow) ends(text Statement, found []objection, last bool) bool {
	f.result.Statement = text
	against := slices.DeleteFunc(slices.Clone(found), func(o objection) bool { return o.weak })
	if len(against) == 0 {
		f.result.End, f.result.Code, f.result.Reason = StatementAccepted, "", ""
		return true
	}
	// A failure says more than a leak, a leak more than what is unclear: of these only the last would be cured by a longer text.
	for _, end := range []string{StatementFailed, StatementLeaks, StatementUnclear} {
		if i := slices.IndexFunc(against, func(o objection) bool { return o.end == end }); i >= 0 {
			f.result.End, f.result.Code, f.result.Reason = end, against[i].code, against[i].reason
			break
		}
	}
	return last || f.result.End == StatementFailed && f.result.Code != notEnglishCode
}

// write asks the writer. Not ok: the model did not manage, and the result says so.
func (f *flow) write(ctx context.Context, kind, prompt string, c Case) (text Statement, ok bool, err error) {
	w, err := NewWriter(prompt, nil)
	if err != nil {
		return text, false, err
	}
	for name, units := range c {
		if len(units) == 1 && units[0] == "" {
			delete(c, name)
		}
	}
	written, err := w.Write(ctx, f.bench, c, f.options.Writer, f.options.Sample)
	f.result.MicroUSD += written.MicroUSD
	step := StatementStep{Kind: kind, Written: &written}
	if err == nil {
		text, err = readStatement(written.Fields)
	}
	if err != nil {
		step.Failed = oneLine(err)
		f.result.Steps = append(f.result.Steps, step)
		return text, false, f.fail(err)
	}
	step.Text = &text
	f.result.Steps = append(f.result.Steps, step)
	return text, true, nil
}

func readStatement(fields json.RawMessage) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(fields, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrNoVerdict, err)
	}
	s = Statement{Title: strings.TrimSpace(s.Title), Body: strings.TrimSpace(s.Body)}
	if s.Title == "" || s.Body == "" {
		return s, fmt.Errorf("%w: the statement's title or body is empty", ErrNoVerdict)
	}
	return s, nil
}

// fail makes an end of what a model did not manage, and passes all other errors on.
func (f *flow) fail(err error) error {
	for _, e := range []struct {
		is   error
		code string
	}{{ErrNoVerdict, "no-reply"}, {model.ErrTooLong, "too-long"}, {model.ErrFiltered, "filtered"}, {model.ErrRejected, "refused"}} {
		if errors.Is(err, e.is) {
			f.result.End, f.result.Code, f.result.Reason = StatementFailed, e.code, oneLine(err)
			return nil
		}
	}
	return err
}

func sameWords(a, b Statement) bool {
	return strings.Join(strings.Fields(a.Text()), " ") == strings.Join(strings.Fields(b.Text()), " ")
}

// hints are what the author is told, each once.
func hints(found []objection) []string {
	var out []string
	for _, o := range found {
		if o.hint != "" && !slices.Contains(out, o.hint) {
			out = append(out, o.hint)
		}
	}
	return out
}
