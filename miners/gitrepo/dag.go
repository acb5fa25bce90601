package gitrepo

import (
	"bufio"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strings"
)

// DAG is the graph of all commits that some reference of the mirror reaches, in memory: some 150 bytes a commit. It answers
// at once what would cost a git process each. It is not safe for concurrent use.
type DAG struct {
	ids     []string // parents before children
	at      map[string]int32
	parents [][]int32
	depth   []int32  // 1 + the deepest parent's
	sorted  []string // ids, for prefixes
	seen    []int32  // the round that last visited a commit
	round   int32
}

// DAG reads the graph. At the border of a shallow history commits have no parents.
func (m *Mirror) DAG(ctx context.Context) (*DAG, error) {
	d := &DAG{at: map[string]int32{}}
	args := []string{"rev-list", "--all", "--topo-order", "--reverse", "--parents"}
	err := m.git.stream(ctx, nil, args, func(r *bufio.Reader) error {
		scanner := bufio.NewScanner(r)
		for scanner.Scan() {
			if err := d.add(strings.Fields(scanner.Text())); err != nil {
				return err
			}
		}
		return scanner.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading the graph of %s: %w", m.Name(), err)
	}
	d.sorted = slices.Sorted(slices.Values(d.ids))
	d.seen = make([]int32, len(d.ids))
	return d, nil
}

func (d *DAG) add(ids []string) error {
	if len(ids) == 0 || !objectID.MatchString(ids[0]) {
		return fmt.Errorf("parsing the graph: unexpected %.60q", ids)
	}
	var parents []int32
	depth := int32(0)
	for _, id := range ids[1:] {
		if at, ok := d.at[id]; ok {
			parents = append(parents, at)
			depth = max(depth, d.depth[at])
		}
	}
	d.at[ids[0]] = int32(len(d.ids))
	d.ids = append(d.ids, ids[0])
	d.parents = append(d.parents, parents)
	d.depth = append(d.depth, depth+1)
	return nil
}

// Len is the number of commits.
func (d *DAG) Len() int { return len(d.ids) }

// Has tells whether a reference reaches the commit of this full id.
func (d *DAG) Has(id string) bool {
	_, ok := d.at[id]
	return ok
}

// Prefix lists the commits whose id begins so, in the order of ids; at most the first hundred.
func (d *DAG) Prefix(prefix string) []string {
	const most = 100
	from, _ := slices.BinarySearch(d.sorted, prefix)
	to := from
	for to < len(d.sorted) && to-from < most && strings.HasPrefix(d.sorted[to], prefix) {
		to++
	}
	return d.sorted[from:to]
}

// IsAncestor tells whether commit a is in the history of commit b; a commit is its own ancestor. Of an unknown id it is false.
func (d *DAG) IsAncestor(a, b string) bool {
	from, okA := d.at[a]
	to, okB := d.at[b]
	if !okA || !okB {
		return false
	}
	found := false
	d.walk(to, func(i int32) bool {
		found = found || i == from
		return !found && i > from && d.depth[i] > d.depth[from]
	})
	return found
}

// Related tells whether two commits have any commit in common: histories that do not were joined by hand, or are another
// repository's.
func (d *DAG) Related(a, b string) bool {
	from, okA := d.at[a]
	to, okB := d.at[b]
	if !okA || !okB {
		return false
	}
	ours := map[int32]bool{}
	d.walk(from, func(i int32) bool {
		ours[i] = true
		return true
	})
	found := false
	d.walk(to, func(i int32) bool {
		found = found || ours[i]
		return !found
	})
	return found
}

// walk visits i and its ancestors, each once, while deeper says so of a commit.
func (d *DAG) walk(i int32, deeper func(int32) bool) {
	d.round++
	stack := []int32{i}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if d.seen[i] == d.round {
			continue
		}
		d.seen[i] = d.round
		if deeper(i) {
			stack = append(stack, d.parents[i]...)
		}
	}
}

// Brought lists the commits that a merge brought in: those of the other parents' histories that the first parent's does not
// have. It is nil for what is no merge and for a merge of more than most commits.
func (d *DAG) Brought(merge string, most int) []string {
	at, ok := d.at[merge]
	if !ok || len(d.parents[at]) < 2 {
		return nil
	}
	var out []string
	for _, i := range d.difference(d.parents[at][1:], d.parents[at][:1], most) {
		out = append(out, d.ids[i])
	}
	return out
}

const (
	theirs = 1 << iota
	ours
)

// difference lists what include reaches and exclude does not, newest first; nil when that is more than most. Children come
// before their parents, so that a commit has all its colours when it is its turn.
func (d *DAG) difference(include, exclude []int32, most int) []int32 {
	colour := map[int32]int{}
	q := &maxHeap{}
	open := 0 // commits in the queue that only include reaches
	paint := func(commits []int32, c int) {
		for _, i := range commits {
			old := colour[i]
			colour[i] = old | c
			switch {
			case old == 0:
				heap.Push(q, i)
				if c == theirs {
					open++
				}
			case old == theirs && c&ours != 0:
				open--
			}
		}
	}
	paint(exclude, ours)
	paint(include, theirs)
	var out []int32
	for open > 0 {
		i := heap.Pop(q).(int32)
		if colour[i] == theirs {
			open--
			out = append(out, i)
			if len(out) > most {
				return nil
			}
		}
		paint(d.parents[i], colour[i])
	}
	return out
}

type maxHeap []int32

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i] > h[j] }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *maxHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
