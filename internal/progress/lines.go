package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/store"
)

// lines writes the counts now and then.
type lines struct {
	o       Options
	write   func(w io.Writer, c *counts, elapsed time.Duration)
	started time.Time
	last    time.Time
	seen    int // candidates that were done when it was last looked
}

func (l *lines) update(c *counts) {
	now := l.o.Clock()
	if l.started.IsZero() {
		if c.begun {
			l.started, l.last = now, now
		}
		return
	}
	if c.done != l.seen {
		l.seen, c.doneAt = c.done, now.Sub(l.started)
	}
	if now.Sub(l.last) < l.o.Every {
		return
	}
	l.last = now
	l.write(l.o.Out, c, now.Sub(l.started))
}

func (l *lines) close(c *counts) {
	if !l.started.IsZero() {
		l.write(l.o.Out, c, l.o.Clock().Sub(l.started))
	}
}

// order is the order in which states are shown.
var order = []store.State{store.Admitted, store.Rejected, store.Held, store.Failed, store.Open}

func writeText(w io.Writer, c *counts, elapsed time.Duration) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d candidates", c.done, c.total)
	for _, s := range order {
		if n := c.states[s]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, s)
		}
	}
	if n := len(c.stages); n > 0 && c.done < c.total {
		fmt.Fprintf(&b, "; furthest stage %s", c.stages[n-1].Name)
	}
	if left, ok := c.left(elapsed); ok {
		fmt.Fprintf(&b, "; about %s left", left)
	}
	fmt.Fprintln(w, b.String())
}

// left guesses the time that the run still needs from the rate until a candidate was last done. Cheap candidates end first: once
// the guess has run out and none more is done, the rate says nothing of those that are left, and neither does it.
func (c *counts) left(elapsed time.Duration) (time.Duration, bool) {
	if c.done == 0 || c.done >= c.total {
		return 0, false
	}
	guess := c.doneAt / time.Duration(c.done) * time.Duration(c.total-c.done)
	left := (guess - (elapsed - c.doneAt)).Round(time.Second)
	return left, left > 0
}

func writeJSON(w io.Writer, c *counts, elapsed time.Duration) {
	_ = json.NewEncoder(w).Encode(struct { // a progress line that cannot be written is no reason to stop
		Type    string              `json:"type"`
		Done    int                 `json:"done"`
		Total   int                 `json:"total"`
		States  map[store.State]int `json:"states"`
		Stages  []*stageCount       `json:"stages"`
		Elapsed float64             `json:"elapsed_seconds"`
	}{"progress", c.done, c.total, c.states, c.stages, elapsed.Seconds()})
}
