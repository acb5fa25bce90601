package lineage

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// Seed is a line to follow. Its classes are the caller's, as bits.
type Seed struct {
	Line  int32 // counted from 0
	Class uint8
}

// Origin is where a line came from: the commit that gave it the form that the seed has, or, for a later generation, the one that
// made what it was before that.
type Origin struct {
	Seed       int // index into the query's seeds
	Generation int // 1 for the line as it is
	Commit     int32
	Path       string // in that commit
	Line       int32  // there
	Root       bool   // history ends here
}

// Visit is one version that a trace passed: what a commit did to the file.
type Visit struct {
	Commit   int32
	Path     string
	Hunks    []Hunk
	Old, New *text // Old is nil where the commit added the file
	// Touched are the classes of lines that the commit changed or worked right next to, as bits.
	Touched uint8
}

// Query asks where lines of a file come from.
type Query struct {
	Commit int32 // the state that has the lines
	Path   string
	Seeds  []Seed
	// Generations is how many forms of a line to look for; 0 means 1.
	Generations int
	// Visits is how many versions to pass for the sake of the history alone, for lines that have no class of Keep, and for later
	// generations; 0 looks for lines of Keep alone, all generations of them.
	Visits int
	// Keep are the classes of lines that are followed to their end, through at most Budget versions; 0 means 20,000.
	Keep   uint8
	Budget int
	// Ignore are commits to look through: where one rewrote a line, what it replaced is taken for the line itself.
	Ignore map[int32]bool
}

// Trace is the answer to a query.
type Trace struct {
	Origins   []Origin
	Visits    []Visit // the newest first
	Exhausted bool    // the budget ended before the lines did
}

const defaultBudget = 20_000

// Trace follows lines. A path that the commit does not have gives nothing. Errors are those of reading objects.
func (g *Graph) Trace(ctx context.Context, q Query) (Trace, error) {
	w := walk{g: g, q: q, nodes: map[version]*node{}}
	if w.q.Budget == 0 {
		w.q.Budget = defaultBudget
	}
	path, ok := g.byPath[q.Path]
	if !ok {
		return Trace{}, nil
	}
	v := g.at(path, q.Commit)
	if v == absent {
		return Trace{}, nil
	}
	start := w.node(v)
	start.history = true
	for i, s := range q.Seeds {
		start.items = append(start.items, item{seed: int32(i), line: s.Line, generation: 1})
	}
	for len(w.queue) > 0 {
		n := heap.Pop(&w.queue).(*node)
		delete(w.nodes, n.v)
		if err := w.visit(ctx, n); err != nil {
			return w.out, err
		}
	}
	return w.out, nil
}

// item is a line on its way.
type item struct {
	seed, line int32
	generation uint8
}

// node is a version that lines have reached.
type node struct {
	v       version
	commit  int32
	items   []item
	history bool // it is passed for the sake of the history
}

// nodes orders versions so that each comes after all that are made from it.
type nodes []*node

func (n nodes) Len() int           { return len(n) }
func (n nodes) Less(i, j int) bool { return cmp.Or(n[j].commit-n[i].commit, int32(n[j].v-n[i].v)) < 0 }
func (n nodes) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *nodes) Push(x any)        { *n = append(*n, x.(*node)) }
func (n *nodes) Pop() any {
	old := *n
	last := old[len(old)-1]
	*n = old[:len(old)-1]
	return last
}

type walk struct {
	g       *Graph
	q       Query
	out     Trace
	queue   nodes
	nodes   map[version]*node
	visited int
	like    *text // the version that was read last: the next one is mostly the same
}

func (w *walk) node(v version) *node {
	n := w.nodes[v]
	if n == nil {
		n = &node{v: v, commit: w.g.touches[v].commit}
		w.nodes[v] = n
		heap.Push(&w.queue, n)
	}
	return n
}

// visit compares a version with those it was made from, and sends its lines on or settles them.
func (w *walk) visit(ctx context.Context, n *node) error {
	w.limit(n)
	if len(n.items) == 0 && !n.history {
		return nil
	}
	w.visited++
	slices.SortFunc(n.items, func(a, b item) int { return int(a.line - b.line) })
	before, err := w.g.before(ctx, n.v)
	if err != nil {
		return err
	}
	t := w.g.touches[n.v]
	visit := Visit{Commit: t.commit, Path: w.g.paths[t.path]}
	if visit.New, err = w.g.store.readLike(ctx, t.blob, w.like); err != nil {
		return err
	}
	w.like = visit.New
	if len(before) == 0 {
		visit.Hunks = []Hunk{{0, 0, 0, int32(visit.New.Len())}}
	}
	left := n.items
	for i, u := range before {
		hunks, err := w.g.store.diff(ctx, w.g.touches[u].blob, t.blob)
		if err != nil {
			return err
		}
		if n.history {
			w.node(u).history = true
		}
		if i == 0 {
			visit.Hunks = hunks
			if visit.Old, err = w.g.store.readLike(ctx, w.g.touches[u].blob, visit.New); err != nil {
				return err
			}
			visit.Touched = w.touched(n.items, hunks)
		}
		left = w.pass(left, hunks, u)
	}
	if len(before) <= 1 || len(left) > 0 {
		w.out.Visits = append(w.out.Visits, visit)
	}
	return w.settle(ctx, left, visit, before)
}

// limit drops what the query does not pay for any longer.
func (w *walk) limit(n *node) {
	if w.visited < w.q.Visits {
		return
	}
	n.history = false
	if w.q.Visits > 0 {
		n.items = slices.DeleteFunc(n.items, func(it item) bool { return it.generation > 1 })
	}
	n.items = slices.DeleteFunc(n.items, func(it item) bool { return w.q.Seeds[it.seed].Class&w.q.Keep == 0 })
	if w.visited >= w.q.Budget && len(n.items) > 0 {
		w.out.Exhausted = true
		n.items = nil
	}
}

// pass sends the lines on that an older version has too, and returns the others. Items and hunks are in order.
func (w *walk) pass(items []item, hunks []Hunk, to version) []item {
	var left []item
	var dst *node
	h, shift := 0, int32(0)
	for _, it := range items {
		for h < len(hunks) && hunks[h].NewEnd <= it.line {
			shift = hunks[h].OldEnd - hunks[h].NewEnd
			h++
		}
		if h < len(hunks) && hunks[h].NewStart <= it.line {
			left = append(left, it)
			continue
		}
		if dst == nil {
			dst = w.node(to)
		}
		it.line += shift
		dst.items = append(dst.items, it)
	}
	return left
}

// touched tells which classes of lines the hunks changed or lie next to.
func (w *walk) touched(items []item, hunks []Hunk) uint8 {
	var out uint8
	i := 0
	for _, h := range hunks {
		for i < len(items) && items[i].line < h.NewStart-1 {
			i++
		}
		for k := i; k < len(items) && items[k].line <= h.NewEnd; k++ {
			out |= w.q.Seeds[items[k].seed].Class
		}
	}
	return out
}

// settle records where lines came from, follows what they were before, and looks through changes that gave a line another form
// or place but left it what it was.
func (w *walk) settle(ctx context.Context, items []item, v Visit, before []version) error {
	if len(items) == 0 {
		return nil
	}
	p := past{w: w, v: v, before: before}
	h := 0
	for _, it := range items {
		for h < len(v.Hunks) && v.Hunks[h].NewEnd <= it.line {
			h++
		}
		var from place
		through := false
		if len(before)+len(w.g.Commits[v.Commit].Parents) > 0 && w.q.Seeds[it.seed].Class&w.q.Keep != 0 {
			var err error
			if from, through, err = p.of(ctx, it, h); err != nil {
				return err
			}
		}
		if !through {
			w.out.Origins = append(w.out.Origins, Origin{
				Seed: int(it.seed), Generation: int(it.generation), Commit: v.Commit, Path: v.Path, Line: it.line,
				Root: len(before) == 0,
			})
			if int(it.generation) >= max(w.q.Generations, 1) {
				continue
			}
			it.generation++
		}
		if from.known {
			n := w.node(from.v)
			n.items = append(n.items, item{it.seed, from.line, it.generation})
		}
	}
	return nil
}
