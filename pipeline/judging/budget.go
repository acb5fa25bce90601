package judging

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/store"
)

// Budget bounds what models may cost; what is not given is not bounded. It counts what was paid, what may have to be paid, and what is
// put aside for questions on their way.
type Budget struct {
	RunUSD       *USD           `toml:"run_usd"`       // of this run
	RunTokens    *int64         `toml:"run_tokens"`    // of this run, both ways
	StageUSD     map[string]USD `toml:"stage_usd"`     // of one stage in this run, by its name
	CandidateUSD *USD           `toml:"candidate_usd"` // of one candidate, in all its stages and all runs
	StoreUSD     *USD           `toml:"store_usd"`     // of all that the store holds
}

// bound is one limit that a question has to keep.
type bound struct {
	name    string // of the setting
	whose   string
	limit   int64
	counted int64
	asked   int64
	tokens  bool                              // not money
	end     error                             // what ends when there is no room
	shares  func(a, b model.Reservation) bool // both count in it
}

func (b bound) amount(r model.Reservation) int64 {
	if b.tokens {
		return r.Tokens
	}
	return r.MicroUSD
}

func everything(_, _ model.Reservation) bool { return true }

// bounds are the limits for r when t counts already.
func (b Budget) bounds(r model.Reservation, t store.ModelTotals) (out []bound) {
	add := func(limit *USD, counted store.Sum, d bound) {
		if limit != nil {
			d.limit, d.counted, d.asked = int64(*limit), counted.MicroUSD, r.MicroUSD
			out = append(out, d)
		}
	}
	if r.Charge.Candidate != "" {
		add(b.CandidateUSD, t.Candidate, bound{
			name: "candidate_usd", whose: "candidate " + r.Charge.Candidate, end: pipeline.ErrCandidateBudget,
			shares: func(x, y model.Reservation) bool { return x.Charge.Candidate == y.Charge.Candidate },
		})
	}
	if limit, ok := b.StageUSD[r.Charge.Stage]; ok {
		add(&limit, t.Stage, bound{
			name: "stage_usd." + r.Charge.Stage, whose: "stage " + r.Charge.Stage + " of this run", end: pipeline.ErrBudget,
			shares: func(x, y model.Reservation) bool { return x.Charge.Stage == y.Charge.Stage },
		})
	}
	add(b.RunUSD, t.Run, bound{name: "run_usd", whose: "this run", end: pipeline.ErrBudget, shares: everything})
	add(b.StoreUSD, t.Store, bound{name: "store_usd", whose: "this store", end: pipeline.ErrBudget, shares: everything})
	if b.RunTokens != nil {
		out = append(out, bound{
			name: "run_tokens", whose: "this run", limit: *b.RunTokens, counted: t.Run.Tokens, asked: r.Tokens, tokens: true,
			end: pipeline.ErrBudget, shares: everything,
		})
	}
	return out
}

// over is the error that says that the bound would be exceeded.
func (b bound) over() error {
	show := func(n int64) string { return "$" + USD(n).String() }
	if b.tokens {
		show = func(n int64) string { return strconv.FormatInt(n, 10) + " tokens" }
	}
	return &overBudget{end: b.end, what: fmt.Sprintf("%s has used %s of %s and the next question may take %s: raise budget.%s to go on",
		b.whose, show(b.counted), show(b.limit), show(b.asked), b.name)}
}

// overBudget is a question that was not asked. It is model.ErrBudget to whoever asked, and tells the engine what ends: the candidate or
// the run.
type overBudget struct {
	what string
	end  error // nil: the run
}

func (o *overBudget) Error() string { return model.ErrBudget.Error() + ": " + o.what }

func (o *overBudget) Unwrap() []error {
	if o.end == nil {
		return []error{model.ErrBudget, pipeline.ErrBudget}
	}
	return []error{model.ErrBudget, o.end}
}

// noteBytes bounds the notes of the ledger: errors may quote what a server sent.
const noteBytes = 300

func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) <= noteBytes {
		return s
	}
	s = s[:noteBytes]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
