package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"sluice/judges"
	"sluice/pipeline/calibration"
	"sluice/pipeline/evaluate/stats"
	"sluice/pipeline/judging"
	"sluice/prompts"
)

// BenchStage is the account of the questions that a bench asks.
const BenchStage = "bench"

// ErrLabels says that a file is no file of labels: hardly anything in it is a row.
var ErrLabels = errors.New("no labels")

// mostBad is how many rows that are none are told one by one. A file of more is another one by mistake, and its report would fill the memory.
const mostBad = 10_000

// failedRow says that a row of the file cannot be read.
const failedRow = "row"

// BenchConfig is what a bench needs.
type BenchConfig struct {
	Labels   io.Reader // rows of JSON: {"judge", "evidence": {slot: text or list}, "label": code or list, "id"}
	Desk     *judging.Desk
	Judge    string         // only rows of this one; "": all
	Order    bool           // ask with the lists in reversed order too
	Progress func(done int) // may be nil
}

// BenchRow is what became of a row.
type BenchRow struct {
	Row       int         `json:"row"`
	ID        string      `json:"id,omitempty"`
	Judge     string      `json:"judge,omitempty"`
	Label     []string    `json:"label,omitempty"`
	Code      string      `json:"code,omitempty"`
	Right     bool        `json:"right"`
	Disagrees bool        `json:"disagrees,omitempty"` // the votes have different codes
	Swapped   string      `json:"swapped,omitempty"`   // the code with the lists reversed; "" when that was not asked, or gave none
	Failed    string      `json:"failed,omitempty"`    // the kind of failure; "" when there is a code
	Reason    string      `json:"reason,omitempty"`
	Paid      judging.USD `json:"micro_usd"`
}

// BenchScore is how well a judge does on its rows.
type BenchScore struct {
	Judge    string            `json:"judge"` // "": rows that name none
	Total    int               `json:"n_total"`
	Scored   int               `json:"n_scored"`
	Accuracy calibration.Share `json:"accuracy"`        // of the scored
	OfAll    calibration.Share `json:"accuracy_of_all"` // a row that failed counts as not right
	Failures map[string]int    `json:"failures,omitempty"`
	// Agreement is that of labels and codes. Where several codes are right, the label is the judge's if that is one of them, else the first.
	Agreement stats.Agreement    `json:"agreement"`
	Disagree  calibration.Share  `json:"panel_disagrees"`
	Changed   *calibration.Share `json:"order_changed,omitempty"` // of the rows asked both ways, those whose code changed
	Paid      judging.USD        `json:"micro_usd"`
}

// BenchReport is what a bench measures.
type BenchReport struct {
	Judges []BenchScore // by name
	Rows   []BenchRow   // in the order of the file
}

// Bench asks judges about labelled evidence, rows side by side. A row that cannot be read, does not fit its judge, or gets no verdict is
// counted as failed; what every question would meet is the error.
func Bench(ctx context.Context, c BenchConfig) (BenchReport, error) {
	if _, ok := judges.ByName(c.Judge); c.Judge != "" && !ok {
		return BenchReport{}, fmt.Errorf("%w: no judge is called %q", ErrReview, c.Judge)
	}
	b := bench{BenchConfig: c}
	if err := b.run(ctx); err != nil {
		return BenchReport{}, err
	}
	slices.SortFunc(b.rows, func(x, y BenchRow) int { return cmp.Compare(x.Row, y.Row) })
	rep := BenchReport{Rows: b.rows}
	byJudge := map[string][]BenchRow{}
	for _, r := range b.rows {
		byJudge[r.Judge] = append(byJudge[r.Judge], r)
	}
	for _, judge := range sortedKeys(byJudge) {
		rep.Judges = append(rep.Judges, score(judge, byJudge[judge], c.Order))
	}
	return rep, nil
}

// bench is one on its way.
type bench struct {
	BenchConfig
	unreadable int

	mu   sync.Mutex
	rows []BenchRow
}

func (b *bench) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, b.Desk.Parallel()))
	err := b.read(ctx, g)
	if asked := g.Wait(); asked != nil {
		return asked // what ended the run, not the reading that it stopped
	}
	return err
}

// read hands the rows on. It holds no more of them than are asked about at once.
func (b *bench) read(ctx context.Context, g *errgroup.Group) error {
	for in := newLabels(b.Labels); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := in.next()
		var bad errRow
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			if err := b.bad(l, bad); err != nil {
				return err
			}
		case err != nil:
			return err
		case b.Judge == "" || l.Judge == b.Judge:
			g.Go(func() error { return b.ask(ctx, l) })
		}
	}
}

// bad counts a row that cannot be asked about; only read calls it. One that names another judge than the wanted one is passed over like
// any other.
func (b *bench) bad(l Label, why errRow) error {
	if b.Judge != "" && l.Judge != "" && l.Judge != b.Judge {
		return nil
	}
	if b.unreadable++; b.unreadable > mostBad {
		return fmt.Errorf("%w: %d rows are none, the last of them row %d: %w", ErrLabels, b.unreadable, l.Row, why)
	}
	if _, known := judges.ByName(l.Judge); !known {
		l.Judge = ""
	}
	b.add(BenchRow{Row: l.Row, ID: short(l.ID), Judge: l.Judge, Failed: failedRow, Reason: oneLine(why.Error())})
	return nil
}

func (b *bench) add(r BenchRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, r)
	if b.Progress != nil {
		b.Progress(len(b.rows))
	}
}

// ask judges a row. The error ends the run.
func (b *bench) ask(ctx context.Context, l Label) error {
	row := BenchRow{Row: l.Row, ID: l.ID, Judge: l.Judge, Label: l.Codes}
	r, err := b.rule(ctx, l.Judge, l.Evidence, &row)
	switch {
	case err != nil && judging.Failure(err) == "":
		return fmt.Errorf("asking about row %d: %w", l.Row, err)
	case err != nil:
		row.Failed, row.Reason = judging.Failure(err), oneLine(err.Error())
	default:
		row.Code, row.Right, row.Disagrees = r.Code, slices.Contains(l.Codes, r.Code), r.Agreement < 1
	}
	swapped, lists := reversed(l.Judge, l.Evidence)
	if b.Order && lists && row.Failed == "" {
		r, err := b.rule(ctx, l.Judge, swapped, &row)
		if err != nil && judging.Failure(err) == "" {
			return fmt.Errorf("asking about row %d in reversed order: %w", l.Row, err)
		}
		if err == nil {
			row.Swapped = r.Code
		}
	}
	b.add(row)
	return nil
}

func (b *bench) rule(ctx context.Context, name string, evidence judges.Case, row *BenchRow) (judges.Ruling, error) {
	j, ok := judges.ByName(name)
	if !ok {
		return judges.Ruling{}, fmt.Errorf("there is no judge %q", name)
	}
	r, err := j.Rule(ctx, b.Desk.Bench("", BenchStage), evidence, b.Desk.Panel(name))
	for _, v := range r.Votes {
		row.Paid += judging.USD(v.MicroUSD)
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return r, err
}

// reversed turns the lists of a case round; ok is false when there is none of two items. A verdict that depends on the order of a list
// hangs on something that means nothing.
func reversed(judge string, c judges.Case) (out judges.Case, ok bool) {
	p, err := prompts.Load(judge)
	if err != nil {
		return nil, false
	}
	out = judges.Case{}
	for slot, units := range c {
		out[slot] = units
		if s, known := p.Slot(slot); known && s.Kind == prompts.List && len(units) > 1 {
			out[slot] = slices.Clone(units)
			slices.Reverse(out[slot])
			ok = true
		}
	}
	return out, ok
}

// score adds up the rows of a judge.
func score(judge string, rows []BenchRow, order bool) BenchScore {
	s := BenchScore{Judge: judge, Total: len(rows), Failures: map[string]int{}}
	right, disagree, both, changed := 0, 0, 0, 0
	var pairs []stats.Pair
	for _, r := range rows {
		s.Paid += r.Paid
		if r.Failed != "" {
			s.Failures[r.Failed]++
			continue
		}
		s.Scored++
		pair := stats.Pair{A: r.Label[0], B: r.Code}
		if r.Right {
			right++
			pair.A = r.Code
		}
		pairs = append(pairs, pair)
		if r.Disagrees {
			disagree++
		}
		if r.Swapped != "" {
			both++
			if r.Swapped != r.Code {
				changed++
			}
		}
	}
	s.Accuracy, s.OfAll, s.Disagree = calibration.ShareOf(right, s.Scored), calibration.ShareOf(right, s.Total), calibration.ShareOf(disagree, s.Scored)
	s.Agreement = stats.Agree(pairs)
	if order {
		c := calibration.ShareOf(changed, both)
		s.Changed = &c
	}
	return s
}
