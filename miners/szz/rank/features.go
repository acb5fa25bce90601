package rank

import (
	"math"
	"math/bits"

	"sluice/miners/szz/lineage"
)

// view is one candidate of a scene, with what features are made of.
type view struct {
	s         *scene
	c         *candidate
	fix, it   lineage.Commit
	order     int     // of the candidates, the newest is 0
	cosine    float64 // of the two subjects
	said      float64 // share of the fix's subject that the candidate's has
	best      *bests
	days      float64
	deletions bool   // the fix deletes lines that can be followed
	says      says   // what the candidate's subject says
	prefix    string // of the fix's subject
}

// bests are the largest values among the candidates.
type bests struct {
	deleted, anchored, cosine, gone, come float64
	newestDeleted                         int32
	withDeleted                           int
}

func (v view) lines(class uint8) float64 {
	bit := bits.TrailingZeros8(class)
	return part(v.c.lines[bit], v.s.totals.lines[bit])
}

func (v view) count(class uint8) float64 { return v.c.lines[bits.TrailingZeros8(class)] }

func (v view) earlier(generation int) float64 {
	return part(v.c.earlier[generation], v.s.totals.lines[bits.TrailingZeros8(deleted)])
}

func (v view) gone() float64 { return v.s.tokens.share(v.s.tokens.gone, v.c.in.has) }
func (v view) come() float64 { return v.s.tokens.share(v.s.tokens.come, v.c.in.has) }

// feature is a number that speaks for or against a candidate.
type feature struct {
	name string
	of   func(v view) float64
}

// features are all that the model looks at. Weights are kept by name: a feature may be added or dropped, but what a name means
// must not change without a new training.
var features = []feature{
	// Lines that the fix deletes, and what they were before.
	{"deleted-share", func(v view) float64 { return v.lines(deleted) }},
	{"deleted-count", func(v view) float64 { return math.Log1p(v.count(deleted)) }},
	{"deleted-any", func(v view) float64 { return one(v.count(deleted) > 0) }},
	{"deleted-most", func(v view) float64 { return one(v.count(deleted) > 0 && v.count(deleted) == v.best.deleted) }},
	{"deleted-newest", func(v view) float64 { return one(v.c.commit == v.best.newestDeleted) }},
	{"deleted-only", func(v view) float64 { return one(v.count(deleted) > 0 && v.best.withDeleted == 1) }},
	{"deleted-hunks", func(v view) float64 { return part(float64(len(v.c.hunks)), float64(len(v.s.totals.hunks))) }},
	{"deleted-touched", func(v view) float64 { return one(v.c.touched&deleted != 0) }},
	{"second-share", func(v view) float64 { return v.earlier(2) }},
	{"third-share", func(v view) float64 { return v.earlier(3) }},
	{"scrap-share", func(v view) float64 { return v.lines(scrap) }},
	// Lines around it.
	{"anchor-share", func(v view) float64 { return v.lines(anchor) }},
	{"anchor-any", func(v view) float64 { return one(v.count(anchor) > 0) }},
	{"anchor-most", func(v view) float64 {
		n := v.count(anchor) + v.count(edge)
		return one(n > 0 && n == v.best.anchored)
	}},
	{"anchor-alone", func(v view) float64 { return one(!v.deletions) * v.lines(anchor) }},
	{"edge-share", func(v view) float64 { return v.lines(edge) }},
	{"edge-any", func(v view) float64 { return one(v.count(edge) > 0) }},
	{"nearby-share", func(v view) float64 { return v.lines(nearby) }},
	{"nearby-any", func(v view) float64 { return one(v.count(nearby) > 0) }},
	{"nearby-touched", func(v view) float64 { return one(v.c.touched&(nearby|edge|anchor) != 0) }},
	{"function-share", func(v view) float64 { return v.lines(function) }},
	{"function-any", func(v view) float64 { return one(v.count(function) > 0) }},
	{"function-touched", func(v view) float64 { return one(v.c.touched&function != 0) }},
	{"function-rank", func(v view) float64 { return math.Log1p(float64(v.c.funRank)) }},
	// Time and place.
	{"file-rank", func(v view) float64 { return math.Log1p(float64(v.c.fileRank)) }},
	{"order", func(v view) float64 { return math.Log1p(float64(v.order)) }},
	{"order-deleted", func(v view) float64 { return math.Log1p(float64(v.order)) * one(v.count(deleted) > 0) }},
	{"files-share", func(v view) float64 {
		n := 0
		v.c.files.each(func(int) { n++ })
		return part(float64(n), float64(len(v.s.files)))
	}},
	{"days", func(v view) float64 { return math.Log1p(v.days) }},
	{"days-deleted", func(v view) float64 { return math.Log1p(v.days) * one(v.count(deleted) > 0) }},
	{"days-authored", func(v view) float64 {
		return math.Log1p(math.Max(0, float64(v.fix.Authored-v.it.Authored)/86400))
	}},
	{"distance", func(v view) float64 { return math.Log1p(float64(v.s.fix - v.c.commit)) }},
	{"author", func(v view) float64 { return one(v.it.Author == v.fix.Author) }},
	{"author-recent", func(v view) float64 { return one(v.it.Author == v.fix.Author) / (1 + v.days) }},
	// What kind of commit it is.
	{"file-added", func(v view) float64 { return one(v.c.adds) }},
	{"size-files", func(v view) float64 { return math.Log1p(float64(v.it.Files)) }},
	{"size-lines", func(v view) float64 { return math.Log1p(float64(v.c.added + v.c.removed)) }},
	{"size-added", func(v view) float64 { return math.Log1p(float64(v.c.added)) }},
	{"merge", func(v view) float64 { return one(len(v.it.Parents) > 1) }},
	{"says-fix", func(v view) float64 { return one(v.says&saysFix != 0) }},
	{"says-refactor", func(v view) float64 { return one(v.says&saysRefactor != 0) }},
	{"says-feature", func(v view) float64 { return one(v.says&saysFeature != 0) }},
	{"says-revert", func(v view) float64 { return one(v.says&saysRevert != 0) }},
	// Words.
	{"subject-cosine", func(v view) float64 { return v.cosine }},
	{"subject-share", func(v view) float64 { return v.said }},
	{"subject-best", func(v view) float64 { return one(v.cosine > 0 && v.cosine == v.best.cosine) }},
	{"subject-prefix", func(v view) float64 {
		return one(prefix(v.it.Subject) != "" && prefix(v.it.Subject) == prefix(v.fix.Subject))
	}},
	{"subject-in-code", func(v view) float64 { return v.s.tokens.share(v.s.tokens.said, v.c.in.has) }},
	{"gone-put-in", view.gone},
	{"gone-put-in-best", func(v view) float64 { return one(v.gone() > 0 && v.gone() == v.best.gone) }},
	{"gone-first", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.gone, func(i int) bool { return v.s.tokens.first[i] == v.c.commit })
	}},
	{"gone-last", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.gone, func(i int) bool { return v.s.tokens.last[i] == v.c.commit })
	}},
	{"gone-taken-out", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.gone, func(i int) bool { return v.c.out.has(i) && !v.c.in.has(i) })
	}},
	{"come-put-in", view.come},
	{"come-put-in-best", func(v view) float64 { return one(v.come() > 0 && v.come() == v.best.come) }},
	{"come-taken-out", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.come, func(i int) bool { return v.c.out.has(i) && !v.c.in.has(i) })
	}},
	{"come-last", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.come, func(i int) bool { return v.s.tokens.last[i] == v.c.commit })
	}},
	{"kept-put-in", func(v view) float64 { return v.s.tokens.share(v.s.tokens.kept, v.c.in.has) }},
	{"kept-last", func(v view) float64 {
		return v.s.tokens.share(v.s.tokens.kept, func(i int) bool { return v.s.tokens.last[i] == v.c.commit })
	}},
}

// crosses are products of two features: what one is worth often depends on the other. That a commit is recent says more of one that
// wrote deleted lines than of one that only worked nearby.
var crosses = [][2]string{
	{"deleted-share", "days"}, {"deleted-share", "subject-cosine"}, {"deleted-any", "gone-put-in"}, {"deleted-any", "come-put-in"},
	{"deleted-any", "size-lines"}, {"deleted-any", "size-files"}, {"deleted-any", "file-added"}, {"anchor-alone", "days"},
	{"function-touched", "come-put-in"}, {"function-touched", "gone-put-in"}, {"function-touched", "days"},
	{"nearby-touched", "come-put-in"}, {"nearby-touched", "gone-put-in"}, {"nearby-touched", "days"}, {"subject-cosine", "days"},
}

// names are those of all that a model weighs, in the order of vectors, and crossed the places of the crosses' factors.
var names, crossed = nameAll()

func nameAll() (names []string, crossed [][2]int) {
	place := map[string]int{}
	for i, f := range features {
		place[f.name] = i
		names = append(names, f.name)
	}
	for _, c := range crosses {
		names = append(names, c[0]+" × "+c[1])
		crossed = append(crossed, [2]int{place[c[0]], place[c[1]]})
	}
	return names, crossed
}

// views prepares all candidates of a scene.
func (r *Ranker) views(s *scene) []view {
	best := &bests{newestDeleted: -1}
	out := make([]view, len(s.candidates))
	own := prefix(r.g.Commits[s.fix].Subject)
	for i, c := range s.candidates {
		v := view{
			s: s, c: c, fix: r.g.Commits[s.fix], it: r.g.Commits[c.commit], order: i, best: best,
			deletions: s.totals.lines[bits.TrailingZeros8(deleted)] > 0, says: r.says(c.commit), prefix: own,
		}
		v.days = math.Max(0, float64(v.fix.Committed-v.it.Committed)/86400)
		v.cosine, v.said = r.lex.likeness(r.words[s.fix], r.words[c.commit])
		out[i] = v
		best.see(v)
	}
	return out
}

func (b *bests) see(v view) {
	b.deleted = math.Max(b.deleted, v.count(deleted))
	b.anchored = math.Max(b.anchored, v.count(anchor)+v.count(edge))
	b.cosine = math.Max(b.cosine, v.cosine)
	b.gone = math.Max(b.gone, v.gone())
	b.come = math.Max(b.come, v.come())
	if v.count(deleted) > 0 {
		b.withDeleted++
		b.newestDeleted = max(b.newestDeleted, v.c.commit)
	}
}

// vector is a candidate's features, in the order of names.
func (v view) vector() []float64 {
	out := make([]float64, len(names))
	for i, f := range features {
		out[i] = f.of(v)
	}
	for i, c := range crossed {
		out[len(features)+i] = out[c[0]] * out[c[1]]
	}
	return out
}

func part(a, all float64) float64 {
	if all == 0 {
		return 0
	}
	return a / all
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
