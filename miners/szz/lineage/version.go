package lineage

import (
	"context"
	"sort"

	"sluice/miners/gitrepo"
)

// version is a state of a path: the touch that made it. absent is none.
type version int32

const absent version = -1

// at finds the version of a path that a commit has.
func (g *Graph) at(path, commit int32) version {
	touches := g.ofPath[path]
	for {
		// The newest touch at or before the commit that is on the commit's chain. Touches of other chains in between are passed over.
		i := sort.Search(len(touches), func(i int) bool { return g.touches[touches[i]].commit > commit }) - 1
		end := g.ends[g.chain[commit]]
		for ; i >= 0 && g.touches[touches[i]].commit >= end; i-- {
			t := g.touches[touches[i]]
			if g.chain[t.commit] != g.chain[commit] {
				continue
			}
			if t.blob == "" {
				return absent
			}
			return version(touches[i])
		}
		ps := g.Commits[end].Parents
		if len(ps) == 0 {
			return absent
		}
		commit = ps[0]
	}
}

// before lists the versions that a version was made from, one for each parent that has the path. Where a parent has the very
// same content it alone counts, as blame has it. A file that a commit adds comes from the file that it was renamed from.
func (g *Graph) before(ctx context.Context, v version) ([]version, error) {
	t := g.touches[v]
	var out []version
	for _, p := range g.Commits[t.commit].Parents {
		u := g.at(t.path, p)
		if u == absent {
			continue
		}
		if g.touches[u].blob == t.blob {
			return []version{u}, nil
		}
		out = append(out, u)
	}
	if len(out) > 0 || len(g.Commits[t.commit].Parents) == 0 {
		return out, nil
	}
	u, err := g.renamedFrom(ctx, v)
	if err != nil || u == absent {
		return nil, err
	}
	return []version{u}, nil
}

// maxRenameSources bounds the work on a commit that moves a whole tree; git's own limit is of this size.
const maxRenameSources = 400

// minSimilar is the share of lines from which a file counts as renamed, as git has it.
const minSimilar = 0.5

// renamedFrom finds the file that a commit removed when it added this one, if they are alike enough.
func (g *Graph) renamedFrom(ctx context.Context, v version) (version, error) {
	if u, ok := g.store.renames.get(int64(v)); ok {
		return u, nil
	}
	t := g.touches[v]
	best, err := g.likest(ctx, t)
	if err != nil {
		return absent, err
	}
	g.store.renames.put(int64(v), best, 1)
	return best, nil
}

func (g *Graph) likest(ctx context.Context, t touch) (version, error) {
	var sources []version
	for _, s := range g.touchesOf(t.commit) {
		if s.status != gitrepo.Deleted {
			continue
		}
		u := g.at(s.path, g.Commits[t.commit].Parents[0])
		switch {
		case u == absent:
		case g.touches[u].blob == t.blob:
			return u, nil
		default:
			sources = append(sources, u)
		}
	}
	if len(sources) == 0 || len(sources) > maxRenameSources {
		return absent, nil
	}
	text, err := g.store.read(ctx, t.blob)
	if err != nil {
		return absent, err
	}
	best, most := absent, minSimilar
	for _, u := range sources {
		other, err := g.store.read(ctx, g.touches[u].blob)
		if err != nil {
			return absent, err
		}
		if s := similarity(text, other); s >= most {
			best, most = u, s
		}
	}
	return best, nil
}

// similarity is the share of lines, of the larger file's, that both have.
func similarity(a, b *text) float64 {
	most := max(a.Len(), b.Len())
	if most == 0 || float64(min(a.Len(), b.Len())) < minSimilar*float64(most) {
		return 0
	}
	counts := make(map[uint64]int, len(a.ids))
	for _, id := range a.ids {
		counts[id]++
	}
	same := 0
	for _, id := range b.ids {
		if counts[id] > 0 {
			counts[id]--
			same++
		}
	}
	return float64(same) / float64(most)
}
