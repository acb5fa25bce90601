package rank

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"sluice/miners/szz"
	"sluice/miners/szz/lineage"
)

// Name is what the strategy is called.
const Name = "ours"

// maxSuspects and minProbability bound an answer: what is less likely is noise.
const (
	maxSuspects    = 20
	minProbability = 0.005
)

// Ranker ranks the commits of one repository. It is safe for concurrent use.
type Ranker struct {
	g       *lineage.Graph
	model   *Model
	weights []float64
	lex     *lexicon
	words   [][]string // of each commit's subject
	said    said
}

// New prepares a repository. The model may be nil for a ranker that only makes examples.
func New(g *lineage.Graph, m *Model) *Ranker {
	r := &Ranker{g: g, model: m, said: make(said, len(g.Commits))}
	if m != nil {
		r.weights = m.vector()
	}
	r.lex, r.words = newLexicon(g)
	return r
}

// Fix is what is attributed: a commit, or several that landed together, as against the state before them.
type Fix struct {
	Commit  string   // whose message and author count
	Base    string   // the state before; "" for a root commit
	Commits []string // that make the fix; nil: Commit alone
}

// Attribute ranks the suspects of a fix. Errors are those of git and of the context.
func (r *Ranker) Attribute(ctx context.Context, fix Fix) (szz.Answer, error) {
	a := szz.Answer{Strategy: Name, Fix: fix.Commit, Suspects: []szz.Suspect{}, MergeMode: szz.FirstParent}
	if r.model != nil {
		a.Strategy += "/" + r.model.Version
	}
	if fix.Base == "" {
		a.Abstained = szz.RootFix
		return a, nil
	}
	head, commits, ok := r.find(fix)
	base, known := r.g.Find(fix.Base)
	if !ok || !known {
		a.Abstained = szz.MissingObject
		return a, nil
	}
	s, err := r.gather(ctx, head, base, commits)
	if err != nil {
		return a, fmt.Errorf("attributing %.12s: %w", fix.Commit, err)
	}
	a.Skipped, a.Omitted = s.skipped, s.omitted
	r.answer(s, &a)
	return a, nil
}

func (r *Ranker) find(fix Fix) (head int32, commits []int32, ok bool) {
	head, ok = r.g.Find(fix.Commit)
	if !ok {
		return head, nil, false
	}
	for _, id := range fix.Commits {
		if c, ok := r.g.Find(id); ok {
			commits = append(commits, c)
		}
	}
	if len(commits) == 0 {
		commits = []int32{head}
	}
	return head, commits, true
}

// answer scores the candidates of a scene.
func (r *Ranker) answer(s *scene, a *szz.Answer) {
	if len(s.candidates) == 0 {
		a.Abstained = s.abstention()
		return
	}
	views := r.views(s)
	scores := make([]float64, len(views))
	for i, v := range views {
		scores[i] = dot(r.weights, v.vector())
	}
	p := softmax(scores)
	order := make([]int, len(views))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return compareScores(scores[x], scores[y]) })
	for rank, i := range order[:min(len(order), maxSuspects)] {
		if rank > 0 && p[i] < minProbability {
			break
		}
		a.Suspects = append(a.Suspects, views[i].suspect(p[i]))
	}
	a.Confidence = r.model.confidence(p[order[0]])
}

func (s *scene) abstention() szz.Reason {
	switch {
	case len(s.skipped) > 0:
		return s.skipped[0].Reason
	case len(s.files) == 0:
		return szz.NoSource
	}
	return szz.NewFiles
}

// classNames are the names of votes, by the number of the bit.
var classNames = []string{"deleted", "anchor", "edge", "nearby", "function", "scrap"}

// suspect says what speaks for a candidate.
func (v view) suspect(p float64) szz.Suspect {
	c := v.c
	out := szz.Suspect{
		Commit: v.it.ID, Score: math.Round(p*1e4) / 1e4, Evidence: c.evidence(), Lines: int(v.count(deleted) + v.count(scrap)),
		Files: slices.Clone(c.names), Votes: map[string]int{},
	}
	slices.SortFunc(out.Files, strings.Compare)
	for bit, name := range classNames {
		if n := int(c.lines[bit]); n > 0 {
			out.Votes[name] = n
		}
	}
	for generation, name := range map[int]string{2: "second", 3: "third"} {
		if n := int(c.earlier[generation]); n > 0 {
			out.Votes[name] = n
		}
	}
	return out
}

// evidence is the strongest kind that speaks for a candidate.
func (c *candidate) evidence() szz.Evidence {
	has := func(classes uint8) bool {
		for bit := range c.lines {
			if classes>>bit&1 == 1 && c.lines[bit] > 0 {
				return true
			}
		}
		return false
	}
	switch {
	case has(deleted | scrap):
		return szz.Deletion
	case c.earlier[2]+c.earlier[3] > 0:
		return szz.Earlier
	case has(anchor | edge):
		return szz.Anchor
	case has(nearby | function), c.touched != 0:
		return szz.Context
	}
	return szz.Past
}
