package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/judges/model"
	"sluice/store"
)

// Terms are what a ledger goes by.
type Terms struct {
	Run    string                  // names this run: its budget counts what was spent under this name
	Owner  string                  // names this process, as internal/process does
	Dead   func(owner string) bool // tells processes that are known to be gone; nil: none is
	Clock  func() time.Time
	Budget Budget
}

// stale is how long a question of another process may be on its way before it counts as abandoned, if nobody can tell whether that
// process lives (it ran on another machine or in another container). No request may take as long: Config.Check sees to that.
const stale = 6 * time.Hour

// most is the most that one question can be booked with, in millionths of a dollar or tokens: far above any price, and far below what
// would make a sum overflow.
const most = 1 << 50

// Ledger keeps the replies and the money of one run in a store. It is safe for concurrent use, also by processes that share the store.
type Ledger struct {
	store *store.Store
	terms Terms

	mu sync.Mutex
	// open holds all that this run has put aside or, its transaction still open, is putting aside.
	open  map[*model.Reservation]bool
	byID  map[int64]*model.Reservation
	ended chan struct{} // closed and made anew when one of open ends
}

var _ model.Ledger = (*Ledger)(nil)

// NewLedger returns the ledger of a run. What processes that died had put aside becomes uncertain.
func NewLedger(ctx context.Context, s *store.Store, t Terms) (*Ledger, error) {
	l := &Ledger{store: s, terms: t, open: map[*model.Reservation]bool{}, byID: map[int64]*model.Reservation{}, ended: make(chan struct{})}
	if _, err := l.abandon(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// abandon marks what dead processes had put aside.
func (l *Ledger) abandon(ctx context.Context) (int, error) {
	now := l.terms.Clock()
	return l.store.AbandonModelCalls(ctx, "its process died before it ended", func(c store.ModelCall) bool {
		if c.Owner == l.terms.Owner {
			return false
		}
		return l.terms.Dead != nil && l.terms.Dead(c.Owner) || now.Sub(c.Began) > stale
	})
}

// Lookup returns the stored exchange of a key. A reply that was paid and cannot be read is an error, never a miss.
func (l *Ledger) Lookup(ctx context.Context, key string) (x model.Exchange, ok bool, err error) {
	c, ok, err := l.store.ModelCall(ctx, key)
	if err != nil || !ok {
		return x, false, err
	}
	b, err := l.store.Get(ctx, c.Exchange)
	if err != nil {
		return x, false, fmt.Errorf("reading the stored reply to %s: %w", key, err)
	}
	if x, err = decode(b); err != nil {
		return x, false, fmt.Errorf("reading the stored reply to %s: %w", key, err)
	}
	return x, true, nil
}

// Reserve puts money aside. It waits while nothing but this run's own questions on their way stands between a budget and the new
// question. ErrBusy also when the reply has just been stored: look it up again.
func (l *Ledger) Reserve(ctx context.Context, r model.Reservation) (int64, error) {
	for {
		ended := l.nextEnd()
		id, err := l.try(ctx, r)
		switch {
		case errors.Is(err, errWait):
			select {
			case <-ended:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		case errors.Is(err, store.ErrAsked):
			n, aerr := l.abandon(ctx)
			if aerr != nil || n == 0 {
				return 0, errors.Join(fmt.Errorf("%w (%w)", model.ErrBusy, err), aerr)
			}
		case errors.Is(err, store.ErrExists):
			return 0, fmt.Errorf("%w: its reply has just been stored", model.ErrBusy)
		default:
			return id, err
		}
	}
}

// errWait says that the end of a question on its way may make room.
var errWait = errors.New("wait for the end of another question")

func (l *Ledger) try(ctx context.Context, r model.Reservation) (int64, error) {
	if r.MicroUSD < 0 || r.Tokens < 0 || r.MicroUSD > most || r.Tokens > most {
		return 0, &overBudget{what: "no budget allows a question of this price"}
	}
	id, err := l.store.ReserveModelCall(ctx, store.ModelCall{
		Request: r.Key, Candidate: r.Charge.Candidate, Stage: r.Charge.Stage, Run: l.terms.Run, Owner: l.terms.Owner,
		Prompt: r.Prompt, Version: r.Version, Model: r.Model, Reserved: r.MicroUSD, Tokens: r.Tokens,
	}, func(t store.ModelTotals) error {
		err := l.allow(r, t)
		if err == nil {
			l.note(&r)
		}
		return err
	})
	if err != nil {
		l.forget(&r)
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[id] = &r
	return id, nil
}

// note says that r is being put aside: whoever comes next in the same transaction must know.
func (l *Ledger) note(r *model.Reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[r] = true
}

// forget says that r is on its way no more, if it was.
func (l *Ledger) forget(r *model.Reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[r] {
		delete(l.open, r)
		close(l.ended)
		l.ended = make(chan struct{})
	}
}

// allow decides about r when t counts already.
func (l *Ledger) allow(r model.Reservation, t store.ModelTotals) error {
	wait := false
	for _, b := range l.terms.Budget.bounds(r, t) {
		switch room := b.limit - b.counted; {
		case b.asked <= room:
		case b.asked <= room+l.onTheirWay(r, b):
			wait = true
		default:
			return b.over()
		}
	}
	if wait {
		return errWait
	}
	return nil
}

// onTheirWay is what this run's questions on their way count in a bound. One that has ended since t was read may be among them: then
// the end that is waited for has come already.
func (l *Ledger) onTheirWay(r model.Reservation, b bound) (sum int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for o := range l.open {
		if b.shares(*o, r) {
			sum += b.amount(*o)
		}
	}
	return sum
}

func (l *Ledger) nextEnd() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// close says that a question is on its way no more, however that went: one whose end could not be recorded must not be waited for.
func (l *Ledger) close(id int64) {
	l.mu.Lock()
	r := l.byID[id]
	delete(l.byID, id)
	l.mu.Unlock()
	l.forget(r)
}

// Settle stores the exchange and then, in one step, that the question is paid and answered by it. Killed before that step, the
// question stays reserved and is uncertain to whoever meets it. The context cannot stop it: the money is spent.
func (l *Ledger) Settle(ctx context.Context, id int64, s model.Settlement) error {
	defer l.close(id)
	ctx = context.WithoutCancel(ctx)
	b, err := encode(s.Exchange)
	if err != nil {
		return err
	}
	digest, err := l.store.Put(ctx, b)
	if err != nil {
		return err
	}
	u := s.Exchange.Reply.Usage
	return l.store.SettleModelCall(ctx, store.ModelCall{
		ID: id, MicroUSD: clamp(s.MicroUSD), Tokens: clamp(u.Input) + clamp(u.Output), Input: clamp(u.Input), Cached: clamp(u.Cached),
		Output: clamp(u.Output), Latency: s.Latency, Exchange: digest, Note: oneLine(s.Exchange.Note),
	})
}

// clamp keeps a number that an endpoint made up from breaking the sums.
func clamp(n int64) int64 { return min(max(n, 0), most) }

// encode writes an exchange without the escapes that only pages of HTML need.
func encode(x model.Exchange) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, fmt.Errorf("encoding an exchange of prompt %s: %w", x.Request.Prompt, err)
	}
	return b.Bytes(), nil
}

// decode reads what encode wrote. An older sluice kept replies alone: such a text is no exchange.
func decode(b []byte) (model.Exchange, error) {
	var x struct {
		model.Exchange
		Reply *model.Reply `json:"reply"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return model.Exchange{}, fmt.Errorf("%w: no exchange: %w", store.ErrCorrupt, err)
	}
	if x.Reply == nil {
		return model.Exchange{}, fmt.Errorf("%w: no exchange", store.ErrCorrupt)
	}
	x.Exchange.Reply = *x.Reply
	return x.Exchange, nil
}

// Release gives the money back.
func (l *Ledger) Release(ctx context.Context, id int64, why string) error {
	defer l.close(id)
	return l.store.ReleaseModelCall(context.WithoutCancel(ctx), id, oneLine(why))
}

// Uncertain leaves the money reserved for good.
func (l *Ledger) Uncertain(ctx context.Context, id int64, why string) error {
	defer l.close(id)
	return l.store.LoseModelCall(context.WithoutCancel(ctx), id, oneLine(why))
}

// Hit notes that a stored reply was used.
func (l *Ledger) Hit(ctx context.Context, key string, c model.Charge) error {
	return l.store.UseModelCall(ctx, key, c.Candidate, c.Stage)
}
