package attribution

import (
	"cmp"
	"math"
	"slices"
	"time"

	"sluice/pipeline/evaluate/stats"
)

// Share is a part of a whole with its 95 % interval (Wilson).
type Share struct {
	N     int     `json:"n"`
	Of    int     `json:"of"`
	Share float64 `json:"share"` // 0 of nothing
	stats.Interval
}

func share(n, of int) Share {
	s := Share{N: n, Of: of, Interval: stats.Wilson(n, of)}
	if of > 0 {
		s.Share = float64(n) / float64(of)
	}
	return s
}

// Accuracy is how well named commits fit the true ones, counted over all rows at once as Rosa et al. (ICSE 2021) do.
type Accuracy struct {
	Precision Share   `json:"precision"` // of the named commits, those that are true
	Recall    Share   `json:"recall"`    // of the true commits, those that are named
	F1        float64 `json:"f1"`
}

// Level is how well answers fit at one level: commits, or the changes that landed them.
type Level struct {
	Rows   int      `json:"rows"`
	Set    Accuracy `json:"set"`    // all suspects
	Single Accuracy `json:"single"` // the first suspect alone
	Top1   Share    `json:"top1"`   // of the rows, those whose first suspect is right
	Top3   Share    `json:"top3"`   // those with a right one among the first three
}

// Band is how often the first suspect is right among the most confident answers.
type Band struct {
	Percent    int     `json:"percent"` // of the answers, those with the highest confidence
	Confidence float64 `json:"confidence"`
	Right      Share   `json:"right"`
}

// Time is how long fixes took, in milliseconds each, and how many were done in a second.
type Time struct {
	Mean           float64 `json:"mean_ms"`
	P50            float64 `json:"p50_ms"`
	P90            float64 `json:"p90_ms"`
	P99            float64 `json:"p99_ms"`
	Workers        int     `json:"workers,omitempty"`
	WallSeconds    float64 `json:"wall_seconds,omitempty"`
	FixesPerSecond float64 `json:"fixes_per_second,omitempty"`
}

// Score is how a strategy did on rows.
type Score struct {
	Repo        string         `json:"repo,omitempty"`
	Answered    Share          `json:"answered"`
	Abstentions map[string]int `json:"abstentions"` // rows without an answer, by reason
	Commits     Level          `json:"commits"`
	Changes     Level          `json:"changes"`     // rows whose true commits all landed with a change of the default branch
	Numbered    Share          `json:"numbered"`    // of the true commits, those whose change has a number
	Calibration []Band         `json:"calibration"` // empty when the strategy gives no confidence
	Time        Time           `json:"time"`
}

func score(outcomes []outcome) Score {
	s := Score{Abstentions: map[string]int{}}
	var commits, changes []answer
	answered, numbered, known := 0, 0, 0
	for _, o := range outcomes {
		if len(o.suspect) > 0 {
			answered++
		} else {
			s.Abstentions[o.result.Abstained]++
		}
		commits = append(commits, answer{o.truth.Intro, o.suspect})
		if a, ok := o.changes(); ok {
			changes = append(changes, a)
		}
		for _, id := range o.truth.Intro {
			known++
			if c, ok := o.idx.ByCommit(id); ok && c.Number > 0 {
				numbered++
			}
		}
	}
	s.Answered, s.Numbered = share(answered, len(outcomes)), share(numbered, known)
	s.Commits, s.Changes = level(commits), level(changes)
	s.Calibration, s.Time = calibrate(outcomes), timing(outcomes)
	return s
}

// answer is a row at one level.
type answer struct{ truth, suspects []string }

// changes is the row at the level of changes; not ok when a true commit landed with none. A suspect that landed with none stands
// for itself.
func (o outcome) changes() (answer, bool) {
	var a answer
	for _, id := range o.truth.Intro {
		c, ok := o.idx.ByCommit(id)
		if !ok {
			return a, false
		}
		a.truth = once(a.truth, c.Head)
	}
	for _, id := range o.suspect {
		if c, ok := o.idx.ByCommit(id); ok {
			id = c.Head
		}
		a.suspects = once(a.suspects, id)
	}
	return a, true
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func level(rows []answer) Level {
	l := Level{Rows: len(rows)}
	var right, named, firstRight, firstNamed, known, top3 int
	for _, a := range rows {
		first := a.suspects[:min(1, len(a.suspects))]
		known += len(a.truth)
		right += hits(a.truth, a.suspects)
		named += len(a.suspects)
		firstRight += hits(a.truth, first)
		firstNamed += len(first)
		top3 += min(1, hits(a.truth, a.suspects[:min(3, len(a.suspects))]))
	}
	l.Set, l.Single = accuracy(right, named, known), accuracy(firstRight, firstNamed, known)
	l.Top1, l.Top3 = share(firstRight, len(rows)), share(top3, len(rows))
	return l
}

func accuracy(right, named, known int) Accuracy {
	a := Accuracy{Precision: share(right, named), Recall: share(right, known)}
	if right > 0 {
		a.F1 = 2 * a.Precision.Share * a.Recall.Share / (a.Precision.Share + a.Recall.Share)
	}
	return a
}

// calibrate looks at the most confident fifth, two fifths, … of the answers. Equals stay in the order of rows.
func calibrate(outcomes []outcome) []Band {
	out := []Band{}
	var sure []outcome
	for _, o := range outcomes {
		if len(o.suspect) > 0 && o.result.Confidence > 0 {
			sure = append(sure, o)
		}
	}
	slices.SortStableFunc(sure, func(a, b outcome) int { return cmp.Compare(b.result.Confidence, a.result.Confidence) })
	for _, percent := range []int{20, 40, 60, 80, 100} {
		n := int(math.Round(float64(len(sure)*percent) / 100))
		if n == 0 {
			continue
		}
		right := 0
		for _, o := range sure[:n] {
			right += hits(o.truth.Intro, o.suspect[:1])
		}
		out = append(out, Band{percent, sure[n-1].result.Confidence, share(right, n)})
	}
	return out
}

func timing(outcomes []outcome) Time {
	if len(outcomes) == 0 {
		return Time{}
	}
	var took []time.Duration
	var sum time.Duration
	for _, o := range outcomes {
		took = append(took, o.result.Took)
		sum += o.result.Took
	}
	slices.Sort(took)
	at := func(p float64) float64 {
		return milliseconds(took[min(len(took)-1, int(math.Ceil(p*float64(len(took))))-1)])
	}
	return Time{Mean: milliseconds(sum / time.Duration(len(took))), P50: at(0.5), P90: at(0.9), P99: at(0.99)}
}

func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e5) / 100 }
