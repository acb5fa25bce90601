package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sluice/pipeline/judging"
	"sluice/store"
)

func newExplain(a *app) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "explain <id>",
		Short: "Show everything that is known about a candidate: each attempt with its evidence",
		Long: `Show everything that is known about a candidate: its changes and their link, each attempt with the evidence that
it made, the work that ran for it, what models were asked on its account and cost, and people's reviews. The id may be cut, as long as
it fits one candidate.

Long evidence is cut with a mark that says so; --full prints all of it. With --json the evidence's content is left
out unless --full is given.`,
		Example: `  sluice explain fs-1a2b3c
  sluice explain fs-1a2b3c --full | less`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.explain(cmd.Context(), args[0], full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "cut nothing")
	return cmd
}

// account is all that explain shows.
type account struct {
	description
	attempts []store.Attempt
	runs     []store.Run
	reviews  []store.Review
	calls    []store.ModelCall
	cost     judging.Cost
}

func (a *app) explain(ctx context.Context, id string, full bool) error {
	return a.withStore(ctx, func(s *store.Store) error {
		acc, err := readAccount(ctx, s, id)
		if err != nil {
			return err
		}
		e := explainer{app: a, store: s, full: full, shown: map[string]string{}}
		if a.opts.json {
			return e.objects(ctx, acc)
		}
		return e.text(ctx, acc)
	})
}

func readAccount(ctx context.Context, s *store.Store, prefix string) (account, error) {
	c, err := s.CandidateByPrefix(ctx, prefix)
	if err != nil {
		return account{}, err
	}
	var acc account
	if acc.description, err = describe(ctx, s, c); err != nil {
		return acc, err
	}
	if acc.attempts, err = s.Attempts(ctx, c.ID); err != nil {
		return acc, err
	}
	if acc.runs, err = s.Runs(ctx, c.ID); err != nil {
		return acc, err
	}
	if acc.reviews, err = s.Reviews(ctx, c.ID); err != nil {
		return acc, err
	}
	if acc.calls, err = s.ModelCalls(ctx, c.ID); err != nil {
		return acc, err
	}
	acc.cost, err = judging.CandidateCost(ctx, s, c)
	return acc, err
}

// attemptObject, runObject and reviewObject are explain's objects besides the candidate's.
type attemptObject struct {
	Type     string           `json:"type"` // "attempt"
	Stage    string           `json:"stage"`
	Version  int              `json:"version"`
	Outcome  string           `json:"outcome"`
	Code     string           `json:"code,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Started  time.Time        `json:"started"`
	Seconds  float64          `json:"seconds"`
	Evidence []evidenceObject `json:"evidence,omitempty"`
}

type evidenceObject struct {
	store.Evidence
	Content *string `json:"content,omitempty"` // with --full; not UTF-8: replaced
}

type runObject struct {
	Type    string  `json:"type"` // "run"
	Kind    string  `json:"kind"`
	Label   string  `json:"label"`
	Digest  string  `json:"digest"`
	Seconds float64 `json:"seconds"`
	Content *string `json:"content,omitempty"`
}

type reviewObject struct {
	Type     string    `json:"type"` // "review"
	Decision string    `json:"decision"`
	Note     string    `json:"note,omitempty"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
}

// explainer prints one account.
type explainer struct {
	*app
	store *store.Store
	full  bool
	shown map[string]string // digest to where it was printed: nothing is printed twice
}

func (e *explainer) objects(ctx context.Context, acc account) error {
	e.emit(acc.description)
	for _, at := range acc.attempts {
		o := attemptObject{
			Type: "attempt", Stage: at.Stage, Version: at.Version, Outcome: at.Outcome, Code: at.Code, Reason: at.Reason,
			Started: at.Started.UTC(), Seconds: at.Ended.Sub(at.Started).Seconds(),
		}
		for _, ev := range at.Evidence {
			content, err := e.whole(ctx, ev.Digest)
			if err != nil {
				return err
			}
			o.Evidence = append(o.Evidence, evidenceObject{ev, content})
		}
		e.emit(o)
		if err := e.rulings(ctx, at); err != nil {
			return err
		}
	}
	for _, r := range acc.runs {
		content, err := e.whole(ctx, r.Digest)
		if err != nil {
			return err
		}
		e.emit(runObject{"run", r.Kind, r.Label, r.Digest, r.Ended.Sub(r.Started).Seconds(), content})
	}
	if err := e.modelObjects(ctx, acc); err != nil {
		return err
	}
	for _, r := range acc.reviews {
		e.emit(reviewObject{"review", r.Decision, r.Note, r.By, r.At.UTC()})
	}
	return nil
}

// rulings emits what models said in an attempt.
func (e *explainer) rulings(ctx context.Context, at store.Attempt) error {
	for _, ev := range at.Evidence {
		if ev.MediaType != "application/json" {
			continue
		}
		b, err := e.store.Get(ctx, ev.Digest)
		if err != nil {
			return err
		}
		s, _ := readSaid(b)
		for _, r := range s.all() {
			e.emit(struct {
				Type  string `json:"type"`
				Stage string `json:"stage"`
				ruling
			}{"ruling", at.Stage, r})
		}
	}
	return nil
}

// modelObjects emits the questions on the candidate's account, and what they cost.
func (e *explainer) modelObjects(ctx context.Context, acc account) error {
	for _, c := range acc.calls {
		o := callObject{"model-call", c.Request, c.Stage, c.Prompt, c.Version, c.Model, c.State, c.Input, c.Cached, c.Output, c.MicroUSD,
			c.Latency.Seconds(), c.Note, c.Exchange, nil}
		if c.Exchange != "" {
			var err error
			if o.Content, err = e.whole(ctx, c.Exchange); err != nil {
				return err
			}
		}
		e.emit(o)
	}
	if acc.cost != (judging.Cost{}) {
		e.emitParts("candidate-cost", []judging.PartCost{{Name: acc.ID, Cost: acc.cost}})
	}
	return nil
}

// whole returns a blob for an object; nil unless everything is asked for.
func (e *explainer) whole(ctx context.Context, digest string) (*string, error) {
	if !e.full {
		return nil, nil
	}
	b, err := e.store.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	s := string(b)
	return &s, nil
}
