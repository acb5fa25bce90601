package progress

import (
	"slices"
	"time"

	"sluice/store"
)

// counts is how far a run is.
type counts struct {
	begun       bool
	total, done int
	doneAt      time.Duration // when the last one was done, since the beginning
	states      map[store.State]int
	stages      []*stageCount // in the order in which candidates reach them
}

// stageCount is how far one stage is.
type stageCount struct {
	Name  string `json:"name"`
	Ended int    `json:"ended"` // attempts that ended, memo included
	Memo  int    `json:"memo"`
	Out   int    `json:"out"` // rejected or held here
}

func newCounts() counts { return counts{states: map[store.State]int{}} }

func (c *counts) stage(name, outcome string, memo bool) {
	i := slices.IndexFunc(c.stages, func(s *stageCount) bool { return s.Name == name })
	if i < 0 {
		i = len(c.stages)
		c.stages = append(c.stages, &stageCount{Name: name})
	}
	s := c.stages[i]
	s.Ended++
	if memo {
		s.Memo++
	}
	if outcome == "reject" || outcome == "hold" {
		s.Out++
	}
}

// expected is how many candidates can still reach stage i, those that did included: what is out before it never will.
func (c *counts) expected(i int) int {
	n := c.total
	for _, s := range c.stages[:i] {
		n -= s.Out
	}
	return max(n, c.stages[i].Ended)
}
