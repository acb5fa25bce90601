package rank

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/optimize"
)

// Example is a fix whose introducing commits are known, as a model sees it.
type Example struct {
	Repo   string
	vector [][]float64 // of the candidates, the newest first
	right  []bool
	known  bool // a right one is among them
}

// Example prepares a fix for training. ok is false when the graph lacks the fix or all introducing commits.
func (r *Ranker) Example(ctx context.Context, repo, fix string, intro []string) (e Example, ok bool, err error) {
	n, found := r.g.Find(fix)
	if !found || len(r.g.Commits[n].Parents) == 0 {
		return e, false, nil
	}
	right := map[int32]bool{}
	for _, id := range intro {
		if i, found := r.g.Find(id); found {
			right[i] = true
		}
	}
	if len(right) == 0 {
		return e, false, nil
	}
	s, err := r.gather(ctx, n, r.g.Commits[n].Parents[0], []int32{n})
	if err != nil {
		return e, false, fmt.Errorf("preparing %.12s for training: %w", fix, err)
	}
	e.Repo = repo
	for _, v := range r.views(s) {
		e.vector = append(e.vector, v.vector())
		e.right = append(e.right, right[v.c.commit])
		e.known = e.known || right[v.c.commit]
	}
	return e, true, nil
}

// penalty keeps the weights of scaled features small (L2).
const penalty = 5.0

// Train learns a model: the weights that make the right candidates of each fix most likely (a softmax over the candidates),
// with features scaled by their deviation. For each repository a model is learned from the others too; how those did is in the
// provenance and makes the confidence.
func Train(version string, examples []Example) (*Model, error) {
	weights, err := fit(examples, nil)
	if err != nil {
		return nil, err
	}
	m := &Model{Version: version, Weights: map[string]float64{}}
	for i, name := range names {
		m.Weights[name] = round(weights[i])
	}
	m.Provenance = Provenance{
		Method: "softmax over the candidates of a fix, linear in features scaled by their deviation, L2; confidence by leave-one-repository-out",
		Rows:   len(examples),
	}
	return m, m.leaveOut(examples, weights)
}

// round keeps six digits: the rest is noise, and files of weights should differ only where weights do.
func round(w float64) float64 {
	const digits = 1e6
	return math.Round(w*digits) / digits
}

// leaveOut measures models on repositories that they have not seen, and fits the confidence to that. All start from the weights of the
// whole, which lie near: the way is short, and the goal is the same, since the loss has but one minimum.
func (m *Model) leaveOut(examples []Example, start []float64) error {
	var odds []float64
	var right []bool
	top1, top3 := 0, 0
	m.Slope = 1
	repos := repositories(examples)
	if len(repos) == 1 { // nothing is left to learn from: how well it does elsewhere stays unknown
		m.Provenance.Repos = []RepoResult{{Repo: repos[0], Rows: len(examples)}}
		return nil
	}
	for _, repo := range repos {
		weights, err := fit(slices.DeleteFunc(slices.Clone(examples), func(e Example) bool { return e.Repo == repo }), start)
		if err != nil {
			return err
		}
		result := RepoResult{Repo: repo}
		for _, e := range examples {
			if e.Repo != repo {
				continue
			}
			result.Rows++
			if e.known {
				m.Provenance.Covered++
			}
			p, first, among := e.rank(weights)
			if len(e.vector) > 0 {
				odds, right = append(odds, logit(p)), append(right, first)
			}
			result.Top1 += count(first)
			result.Top3 += count(among)
		}
		top1, top3 = top1+result.Top1, top3+result.Top3
		m.Provenance.Repos = append(m.Provenance.Repos, result)
	}
	m.Provenance.Top1, m.Provenance.Top3 = round(float64(top1)/float64(len(examples))), round(float64(top3)/float64(len(examples)))
	slope, offset, err := platt(odds, right)
	m.Slope, m.Offset = round(slope), round(offset)
	return err
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func repositories(examples []Example) []string {
	var out []string
	for _, e := range examples {
		out = append(out, e.Repo)
	}
	slices.SortFunc(out, strings.Compare)
	return slices.Compact(out)
}

// rank applies weights: the first candidate's probability, whether it is right, and whether one of the first three is.
func (e Example) rank(weights []float64) (p float64, first, among bool) {
	scores := make([]float64, len(e.vector))
	order := make([]int, len(e.vector))
	for i, v := range e.vector {
		scores[i], order[i] = dot(weights, v), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareScores(scores[a], scores[b]) })
	for i, n := range order[:min(3, len(order))] {
		first = first || i == 0 && e.right[n]
		among = among || e.right[n]
	}
	if len(order) > 0 {
		p = softmax(scores)[order[0]]
	}
	return p, first, among
}

// compareScores puts the larger first.
func compareScores(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// enough is the gradient, for each example, at which the search ends.
const enough = 1e-4

// fit finds the weights of the features as they are, from a start or from zero.
func fit(examples []Example, start []float64) ([]float64, error) {
	var known []Example
	for _, e := range examples {
		if e.known {
			known = append(known, e)
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("learning weights: no example has its introducing commit among the candidates")
	}
	scale := deviations(known)
	scaled := make([]Example, len(known))
	for i, e := range known {
		scaled[i] = e.scaled(scale)
	}
	last := slope{at: nil, grad: make([]float64, len(names))}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return last.of(scaled, w) },
		Grad: func(grad, w []float64) {
			last.of(scaled, w)
			copy(grad, last.grad)
		},
	}
	from := make([]float64, len(names))
	for i := range start {
		from[i] = start[i] * scale[i]
	}
	settings := &optimize.Settings{GradientThreshold: enough * float64(len(known)), MajorIterations: 300}
	result, err := optimize.Minimize(problem, from, settings, &optimize.LBFGS{})
	if err != nil && (result == nil || result.Stats.MajorIterations == 0) {
		return nil, fmt.Errorf("learning weights: %w", err)
	}
	out := make([]float64, len(names))
	for i := range out {
		out[i] = result.X[i] / scale[i]
	}
	return out, nil
}

// slope is the loss and its gradient where they were computed last: the search asks for both at one place.
type slope struct {
	at, grad []float64
	loss     float64
}

func (s *slope) of(examples []Example, w []float64) float64 {
	if !slices.Equal(s.at, w) {
		s.loss = loss(examples, w, s.grad)
		s.at = slices.Clone(w)
	}
	return s.loss
}

// deviations are the standard deviations of the features over all candidates; 1 where a feature never varies.
func deviations(examples []Example) []float64 {
	n := 0.0
	sum, squares := make([]float64, len(names)), make([]float64, len(names))
	for _, e := range examples {
		for _, v := range e.vector {
			n++
			for i, x := range v {
				sum[i] += x
				squares[i] += x * x
			}
		}
	}
	out := make([]float64, len(names))
	for i := range out {
		out[i] = math.Sqrt(math.Max(0, squares[i]/n-sum[i]/n*sum[i]/n))
		if out[i] < 1e-9 {
			out[i] = 1
		}
	}
	return out
}

func (e Example) scaled(scale []float64) Example {
	out := Example{Repo: e.Repo, right: e.right, known: e.known, vector: make([][]float64, len(e.vector))}
	for i, v := range e.vector {
		out.vector[i] = make([]float64, len(v))
		for k := range v {
			out.vector[i][k] = v[k] / scale[k]
		}
	}
	return out
}

// loss is the negative logarithm of the probability of what is right; grad takes its gradient.
func loss(examples []Example, w, grad []float64) float64 {
	total := penalty / 2 * dot(w, w)
	for i := range grad {
		grad[i] = penalty * w[i]
	}
	var scores []float64
	for _, e := range examples {
		scores = slices.Grow(scores[:0], len(e.vector))[:len(e.vector)]
		rights := 0.0
		for i, v := range e.vector {
			scores[i] = dot(w, v)
			rights += one(e.right[i])
		}
		for i, p := range softmax(scores) {
			want := one(e.right[i]) / rights
			if want > 0 {
				total -= want * math.Log(math.Max(p, 1e-300))
			}
			if math.Abs(p-want) > 1e-7 {
				for k, x := range e.vector[i] {
					grad[k] += (p - want) * x
				}
			}
		}
	}
	return total
}

// platt fits a logistic curve to how often the first candidate was right (Platt 1999).
func platt(odds []float64, right []bool) (slope, offset float64, err error) {
	problem := optimize.Problem{Func: func(x []float64) float64 {
		sum := 0.0
		for i, o := range odds {
			p := sigmoid(x[0]*o + x[1])
			if !right[i] {
				p = 1 - p
			}
			sum -= math.Log(math.Max(p, 1e-300))
		}
		return sum
	}}
	result, err := optimize.Minimize(problem, []float64{1, 0}, nil, &optimize.NelderMead{})
	if err != nil {
		return 1, 0, fmt.Errorf("fitting the confidence: %w", err)
	}
	return result.X[0], result.X[1], nil
}
