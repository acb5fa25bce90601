package judges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sluice/judges/evidence"
	"sluice/judges/model"
)

// member is one voice of a panel.
type member struct {
	model  string
	sample int
}

// members lists whom a panel asks, in the order of the votes. The error wraps model.ErrConfig: every question would meet it.
func (p Panel) members() ([]member, error) {
	if p.Samples < 0 || p.Samples > maxSamples {
		return nil, fmt.Errorf("%w: %d samples, 1 to %d are wanted", model.ErrConfig, p.Samples, maxSamples)
	}
	var out []member
	for i, name := range p.Models {
		if name == "" || slices.Contains(p.Models[:i], name) {
			return nil, fmt.Errorf("%w: model %q is there twice, or has no name", model.ErrConfig, name)
		}
		for s := range max(1, p.Samples) {
			out = append(out, member{name, s})
		}
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("%w: the panel has no models", model.ErrConfig)
	case !slices.Contains([]Rule{"", All, Majority, Any}, p.Rule):
		return nil, fmt.Errorf("%w: rule %q: all, majority or any is wanted", model.ErrConfig, p.Rule)
	}
	return out, nil
}

// Check says what is wrong with a panel. The error wraps model.ErrConfig.
func (p Panel) Check() error {
	_, err := p.members()
	return err
}

// Rule asks every member of the panel, side by side. If one of them gives no verdict, the ruling has the votes alone, and the error
// wraps what went wrong: an error that others would meet too (ctx's, model.ErrBudget, model.ErrNotStored, model.ErrConfig) before one
// of this question (model.ErrTransient and its kin, ErrNoVerdict). Evidence that does not fit the prompt is evidence.ErrCase.
func (j *judge) Rule(ctx context.Context, b Bench, c Case, p Panel) (Ruling, error) {
	r := Ruling{Judge: j.Name(), Prompt: j.prompt.Name, Version: j.prompt.Version}
	members, err := p.members()
	if err != nil {
		return r, fmt.Errorf("judge %s: %w", j.Name(), err)
	}
	rendered, err := evidence.Render(j.prompt, c)
	if err != nil {
		return r, fmt.Errorf("judge %s: %w", j.Name(), err)
	}
	r.Votes = make([]Vote, len(members))
	errs := make([]error, len(members))
	var wait sync.WaitGroup
	for i, m := range members[1:] {
		wait.Go(func() { r.Votes[i+1], errs[i+1] = j.vote(ctx, b, rendered, m) })
	}
	r.Votes[0], errs[0] = j.vote(ctx, b, rendered, members[0])
	wait.Wait()
	if failed := slices.DeleteFunc(slices.Clone(errs), func(e error) bool { return e == nil }); len(failed) > 0 {
		return r, fmt.Errorf("judge %s: %d of %d votes failed: %w", j.Name(), len(failed), len(errs), gravest(failed))
	}
	r.tally(j.Spec.Codes, p.Rule)
	return r, nil
}

// vote asks one member.
func (j *judge) vote(ctx context.Context, b Bench, r evidence.Rendered, m member) (Vote, error) {
	v := Vote{Model: m.model, Sample: m.sample, Calls: []string{}}
	var verdict Verdict
	t := talk{bench: b, prompt: j.prompt, rendered: r, schema: j.schema, model: m.model, sample: m.sample}
	t.check = func(fields json.RawMessage) (err error) {
		verdict, err = j.decide(fields, r.Seen)
		return err
	}
	_, err := t.run(ctx)
	v.Calls = append(v.Calls, t.calls...)
	v.MicroUSD = t.microUSD
	if err != nil {
		v.Failed = oneLine(err)
		return v, fmt.Errorf("model %s: %w", m.model, err)
	}
	v.Verdict = &verdict
	return v, nil
}

// gravest picks the error to return: what ends a run before what concerns one question, and the first of several.
func gravest(errs []error) error {
	for _, e := range []error{context.Canceled, context.DeadlineExceeded, model.ErrBudget, model.ErrNotStored, model.ErrConfig} {
		for _, err := range errs {
			if errors.Is(err, e) {
				return err
			}
		}
	}
	for _, err := range errs {
		if !errors.Is(err, ErrNoVerdict) {
			return err
		}
	}
	return errs[0]
}

// tally makes the ruling of complete votes. The order of the votes does not matter, but for the quotation: the first one with the
// ruling's code is taken.
func (r *Ruling) tally(codes []Code, rule Rule) {
	keeping := 0
	for _, v := range r.Votes {
		if v.Verdict.Keeps {
			keeping++
		}
	}
	n := len(r.Votes)
	switch rule {
	case Majority:
		r.Keeps = 2*keeping > n
	case Any:
		r.Keeps = keeping > 0
	default:
		r.Keeps = keeping == n
	}
	_, with := r.commonest(codes, func(Verdict) bool { return true })
	r.Agreement = float64(with) / float64(n)
	r.Disagrees = (rule == All || rule == "") && with < n && !r.Keeps
	r.Code, _ = r.commonest(codes, func(v Verdict) bool { return v.Keeps == r.Keeps })
	i := slices.IndexFunc(r.Votes, func(v Vote) bool { return v.Verdict.Code == r.Code })
	r.Quote = r.Votes[i].Verdict.Quote
}

// commonest finds the code that most of the chosen votes have, and how many they are. Of several the one that stands first in the
// judge's table counts.
func (r *Ruling) commonest(codes []Code, chosen func(Verdict) bool) (code string, votes int) {
	for _, c := range codes {
		n := 0
		for _, v := range r.Votes {
			if v.Verdict.Code == c.Name && chosen(*v.Verdict) {
				n++
			}
		}
		if n > votes {
			code, votes = c.Name, n
		}
	}
	return code, votes
}
