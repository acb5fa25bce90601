package judging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"sluice/internal/process"
	"sluice/judges"
	"sluice/judges/evidence"
	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/prompts"
	"sluice/store"
)

// Errors that callers tell apart without knowing package model.
var (
	ErrConfig    = model.ErrConfig
	ErrNotStored = model.ErrNotStored
)

// Options are what a desk needs besides its configuration.
type Options struct {
	Clock      func() time.Time    // required
	Getenv     func(string) string // where keys are looked up; nil: the process' environment
	HTTP       *http.Client        // nil: the client's own
	ReplayOnly bool                // nothing is asked: what is not stored is model.ErrNotStored
	Log        *slog.Logger
}

// Desk is where stages get the answers of judges, on account of a candidate and a stage. It stands for one run: opening another
// begins a new budget of the run. It is safe for concurrent use.
type Desk struct {
	config Config
	ledger *Ledger
	client *model.Client
}

// Open opens a desk over a store. It sends nothing. What processes that died had put aside becomes uncertain.
func Open(ctx context.Context, s *store.Store, c Config, o Options) (*Desk, error) {
	d, err := open(ctx, s, c, o)
	if err != nil {
		return nil, fmt.Errorf("opening the ledger of models: %w", err)
	}
	return d, nil
}

func open(ctx context.Context, s *store.Store, c Config, o Options) (*Desk, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrConfig, err)
	}
	self, err := process.Self()
	if err != nil {
		return nil, err
	}
	owner := self.String()
	l, err := NewLedger(ctx, s, Terms{
		Run: o.Clock().UTC().Format(time.RFC3339Nano) + " " + owner, Owner: owner, Dead: process.DeadOwner, Clock: o.Clock, Budget: c.Budget,
	})
	if err != nil {
		return nil, err
	}
	m, err := model.New(c.Config, model.Options{
		Ledger: l, ReplayOnly: o.ReplayOnly, Log: o.Log, Clock: o.Clock, Getenv: o.Getenv, HTTP: o.HTTP,
	})
	if err != nil {
		return nil, err
	}
	return &Desk{c, l, m}, nil
}

// Bench is where judges get their answers for a stage of a candidate; both may be empty.
func (d *Desk) Bench(candidate, stage string) judges.Bench {
	return judges.Bench{Asker: d.client, Charge: model.Charge{Candidate: candidate, Stage: stage}}
}

// Asker answers questions on whatever account they name.
func (d *Desk) Asker() model.Asker { return d.client }

// Panel says who is asked in the name of a judge; it is empty when no model is configured.
func (d *Desk) Panel(judge string) judges.Panel { return d.config.Panel(judge) }

// Disagreement is DisagreeRejects or DisagreeHolds.
func (d *Desk) Disagreement() string {
	if d.config.Disagree == "" {
		return DisagreeRejects
	}
	return d.config.Disagree
}

// Severity is the tier that the configured table gives to a defect; see judges.Severity.
func (d *Desk) Severity(a judges.Axes) (string, error) { return judges.Severity(a, d.SeverityTable()) }

// SeverityTable is the configured table, or the default one. It belongs into the memo key of a stage that grades.
func (d *Desk) SeverityTable() judges.SeverityTable {
	if len(d.config.Severity) == 0 {
		return judges.DefaultSeverity()
	}
	return d.config.Severity
}

// Settings are all that the answers given in the name of a judge or writer depend on besides its evidence: who is asked, with which
// parameters, and with which text. They belong into the memo key of a stage that asks.
func (d *Desk) Settings(name string) any {
	s := struct {
		Panel      judges.Panel
		Parameters []model.Parameters
		Prompt     string
	}{Panel: d.Panel(name)}
	for _, name := range s.Panel.Models {
		s.Parameters = append(s.Parameters, d.config.Parameters(name))
	}
	if p, err := prompts.Load(name); err == nil {
		s.Prompt = p.Digest
	}
	return s
}

// Public is what others may know of the configuration.
func (d *Desk) Public() any { return d.config.Public() }

// Parallel is how many questions may be on their way at once.
func (d *Desk) Parallel() int { return d.config.Parallel() }

// Kinds of failures that concern one question alone.
const (
	FailedNoVerdict = "no-verdict" // no valid reply, however often it was asked
	FailedNoAnswer  = "no-answer"  // limits, outages, broken replies after all tries
	FailedTooLong   = "too-long"
	FailedFiltered  = "filtered"
	FailedRefused   = "refused"  // the endpoint refused the request
	FailedEvidence  = "evidence" // it does not fit the judge
	FailedBusy      = "busy"     // another process is asking the same
)

// Failure names the kind of an error that concerns one question alone; "" for one that every further question would meet: a budget, a
// configuration, a reply that is not stored, the store, the end of the run.
func Failure(err error) string {
	for _, ends := range []error{context.Canceled, model.ErrBudget, model.ErrConfig, model.ErrNotStored} {
		if errors.Is(err, ends) {
			return ""
		}
	}
	for _, k := range []struct {
		err  error
		kind string
	}{
		{judges.ErrNoVerdict, FailedNoVerdict}, {model.ErrTransient, FailedNoAnswer}, {model.ErrTooLong, FailedTooLong},
		{model.ErrFiltered, FailedFiltered}, {model.ErrRejected, FailedRefused}, {evidence.ErrCase, FailedEvidence}, {model.ErrBusy, FailedBusy},
	} {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return ""
}

// Run names the run, as the ledger's rows do.
func (d *Desk) Run() string { return d.ledger.terms.Run }

// Close ends the run. A question whose end could not be recorded becomes uncertain. Nobody may be asking any more.
func (d *Desk) Close(ctx context.Context) error {
	_, err := d.ledger.store.AbandonModelCalls(ctx, "its end could not be recorded", func(c store.ModelCall) bool { return c.Run == d.Run() })
	return err
}

// Fault says to the engine what an error of a judge means for the run: what every question would meet ends it, what another try
// would meet again fails the candidate for good. A budget's error says by itself what it ends, and the rest is transient.
func Fault(err error) error {
	switch {
	case errors.Is(err, model.ErrConfig), errors.Is(err, model.ErrNotStored):
		return pipeline.Abort(err)
	case errors.Is(err, model.ErrTooLong), errors.Is(err, model.ErrFiltered), errors.Is(err, model.ErrRejected),
		errors.Is(err, evidence.ErrCase), errors.Is(err, judges.ErrNoVerdict): // replies that are no use are stored: they would come back
		return pipeline.Permanent(err)
	}
	return err
}
