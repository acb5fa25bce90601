package judges

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sluice/judges/leak"
)

// notEnglishCode is the reason of a text that nobody was asked about. A repair may cure it.
const notEnglishCode = "not-english"

// check holds a statement against the rules and, if these leave a chance, against the judges. On the last text the judges are spared
// what rules have decided.
func (f *flow) check(ctx context.Context, s Statement, last bool) ([]objection, error) {
	found := f.rules(s)
	for _, o := range found {
		if o.code == notEnglishCode || last && !o.weak {
			return found, nil
		}
	}
	unclear, err := f.ask(ctx, StatementClarity, s)
	if err != nil {
		return nil, err
	}
	leaks, err := f.ask(ctx, StatementLeakage, s)
	if err != nil {
		return nil, err
	}
	return append(append(found, leaks...), unclear...), nil
}

// rules looks for what needs no model: other languages, and what the statement could only know from the future.
func (f *flow) rules(s Statement) []objection {
	var out []objection
	step := StatementStep{Kind: "rules"}
	if _, other := notEnglish(s); other {
		out = append(out, foreign(s.Title))
	} else if name, line := language(s.Text()); name != "" {
		out = append(out, foreign(line))
	} else {
		step.Leaks = leak.Find(s.Text(), f.static())
		for _, l := range step.Leaks {
			out = append(out, objectionTo(l))
		}
	}
	step.Objections = hints(out)
	f.result.Steps = append(f.result.Steps, step)
	return out
}

func foreign(line string) objection {
	return objection{end: StatementFailed, code: notEnglishCode, reason: "the statement is not in English: " + line,
		hint: "The statement is not written in English. Write all of it in English."}
}

// static is what the rules compare with.
func (f *flow) static() leak.Input {
	in := f.task.Static
	in.Before = append([]string{f.task.TaskText, f.task.TaskPatch, f.task.Interfaces, f.task.Documents, f.task.Repository}, in.Before...)
	in.Fix, in.Tests, in.Words = f.task.FixPatch+in.Fix, f.task.FixTests+in.Tests, f.task.FixText+in.Words
	return in
}

// objectionTo says what a find means for a statement. Its author must not learn where the words come from.
func objectionTo(l leak.Leak) objection {
	o := objection{end: StatementLeaks, code: string(l.Kind), weak: l.Strength == leak.Weak,
		reason: fmt.Sprintf("the statement holds %q, a %s that only the later change has (%s: %q)", l.Text, l.Kind, l.Source, l.Evidence)}
	switch l.Kind {
	case leak.Commit, leak.Reference, leak.Link:
		o.weak = false // a statement has no business with any
		o.reason = fmt.Sprintf("the statement refers to a change: %q", l.Text)
		o.hint = fmt.Sprintf("%q is an id, a number or a link of a change or an issue. Take it out.", l.Text)
	case leak.Date:
		o.reason = fmt.Sprintf("the statement holds a date after %s: %q", l.Evidence, l.Text)
		o.hint = fmt.Sprintf("%q is a date. Take it out.", l.Text)
	case leak.Path:
		o.hint = fmt.Sprintf("%q is the name of a file. Take it out.", l.Text)
	case leak.Message, leak.Text, leak.TestName:
		o.hint = fmt.Sprintf("%q must not stand there in these words. Say in general words what is meant, or take it out.", l.Text)
	default:
		o.hint = fmt.Sprintf("%q must not stand there. Say in everyday words what it means, or take it out.", l.Text)
	}
	return o
}

// ask has one of the judges rule.
func (f *flow) ask(ctx context.Context, name string, s Statement) ([]objection, error) {
	judge, ok := ByName(name)
	if !ok {
		return nil, fmt.Errorf("there is no judge %s", name)
	}
	panel, end := f.options.Clarity, StatementUnclear
	c := Case{"repository": {f.task.Repository}, "statement": {s.Text()}}
	if name == StatementClarity {
		c["interfaces"] = given(f.task.Interfaces)
	} else {
		panel, end = f.options.Leakage, StatementLeaks
		c["task_patch"], c["fix_patch"], c["fix_tests"] = given(f.task.TaskPatch), given(f.task.FixPatch), given(f.task.FixTests)
		c["fix_text"] = given(f.task.FixText)
	}
	r, err := judge.Rule(ctx, f.bench, c, panel)
	for _, v := range r.Votes {
		f.result.MicroUSD += v.MicroUSD
	}
	step := StatementStep{Kind: name, Ruling: &r}
	var out []objection
	switch {
	case err != nil:
		step.Failed = oneLine(err)
		if err = f.fail(err); err == nil {
			out = []objection{{end: StatementFailed, code: f.result.Code, reason: f.result.Reason}}
		}
	case !r.Keeps:
		code := r.Code
		if r.Disagrees {
			code = "panel-disagrees"
		}
		out = votesAgainst(r, objection{end: end, code: code, reason: fmt.Sprintf("%s: %s: %q", r.Judge, code, r.Quote)})
	}
	step.Objections = hints(out)
	f.result.Steps = append(f.result.Steps, step)
	return out, err
}

// votesAgainst gives each vote that does not keep the statement as an objection with its own hint.
func votesAgainst(r Ruling, o objection) []objection {
	var out []objection
	for _, v := range r.Votes {
		if v.Verdict == nil || v.Verdict.Keeps {
			continue
		}
		var said struct {
			Hint string `json:"hint"`
		}
		one := o
		one.hint = "A reviewer did not find the statement fit for use. Write it more plainly, and say more exactly what is wanted."
		if json.Unmarshal(v.Verdict.Fields, &said) == nil && strings.TrimSpace(said.Hint) != "" {
			one.hint = fmt.Sprintf("About %q: %s", v.Verdict.Quote, strings.Join(strings.Fields(said.Hint), " "))
		}
		out = append(out, one)
	}
	return out
}

// given is a slot's only unit; nothing where there is none.
func given(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []string{text}
}
