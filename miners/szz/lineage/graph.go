// Package lineage follows lines of code through the history of a repository inside this process: it reads once which commit
// touched which path, and then walks from version to version of a file, comparing neighbours and keeping what it found
// for the next question.
//
// It is what blame does, and more: it also tells what a line was before it was changed, and which commits worked on the
// lines around. It reads no messages beyond subjects, judges nothing, and never writes to a repository.
package lineage

import (
	"context"
	"hash/fnv"
	"slices"

	"sluice/miners/gitrepo"
)

// Commit is what the graph knows of a commit.
type Commit struct {
	ID        string
	Author    uint64 // a digest of name and address: equal for equal people
	Authored  int64  // seconds since 1970
	Committed int64
	Subject   string
	Parents   []int32 // indexes into the graph
	Files     int     // that it touched, against its first parent
	first     int32   // of its touches
}

// Graph is a repository's commits, each after its parents, and what they touched. It is read-only once loaded.
type Graph struct {
	Commits []Commit
	byID    map[string]int32
	paths   []string
	byPath  map[string]int32
	touches []touch   // by commit
	ofPath  [][]int32 // indexes into touches, the oldest first
	chain   []int32   // of a commit: the line of first parents that it is on
	ends    []int32   // of a chain: its oldest commit
	store   *blobs
}

// touch is one path that one commit changed.
type touch struct {
	commit, path int32
	status       gitrepo.Status
	blob         string // "" when the path is gone
}

// Load reads the commits that can be reached from tips.
func Load(ctx context.Context, m *gitrepo.Mirror, tips []string) (*Graph, error) {
	g := &Graph{byID: map[string]int32{}, byPath: map[string]int32{}, store: newBlobs(m)}
	var parents [][]string
	err := m.EachCommit(ctx, tips, func(c gitrepo.CommitTouches) error {
		g.add(c)
		parents = append(parents, c.Parents)
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.turn(parents)
	g.indexPaths()
	g.indexChains()
	return g, nil
}

// add takes the commits as git lists them, children first; turn puts them in order.
func (g *Graph) add(c gitrepo.CommitTouches) {
	h := fnv.New64a()
	h.Write([]byte(c.Author))
	n := int32(len(g.Commits))
	g.Commits = append(g.Commits, Commit{
		ID: c.ID, Author: h.Sum64(), Authored: c.Authored.Unix(), Committed: c.Committed.Unix(), Subject: c.Subject,
		Files: len(c.Touches), first: int32(len(g.touches)),
	})
	for _, t := range c.Touches {
		id, ok := g.byPath[t.Path]
		if !ok {
			id = int32(len(g.paths))
			g.byPath[t.Path] = id
			g.paths = append(g.paths, t.Path)
		}
		g.touches = append(g.touches, touch{n, id, t.Status, t.ID})
	}
}

// turn reverses the order, so that parents come first, and resolves them. A parent that is not there (a shallow border) is left out.
func (g *Graph) turn(parents [][]string) {
	last := int32(len(g.Commits) - 1)
	slices.Reverse(g.Commits)
	slices.Reverse(parents)
	for i := range g.touches {
		g.touches[i].commit = last - g.touches[i].commit
	}
	for i := range g.Commits {
		g.byID[g.Commits[i].ID] = int32(i)
	}
	for i, ids := range parents {
		for _, id := range ids {
			if p, ok := g.byID[id]; ok {
				g.Commits[i].Parents = append(g.Commits[i].Parents, p)
			}
		}
	}
}

func (g *Graph) indexPaths() {
	g.ofPath = make([][]int32, len(g.paths))
	for i := len(g.touches) - 1; i >= 0; i-- {
		p := g.touches[i].path
		g.ofPath[p] = append(g.ofPath[p], int32(i))
	}
}

// indexChains cuts the history into lines of first parents, so that the state of a path at a commit is found without walking
// commit by commit: a commit that did not touch a path has its first parent's version.
func (g *Graph) indexChains() {
	g.chain = make([]int32, len(g.Commits))
	for i := range g.chain {
		g.chain[i] = -1
	}
	for i := len(g.Commits) - 1; i >= 0; i-- {
		if g.chain[i] < 0 {
			g.chain[i] = int32(len(g.ends))
			g.ends = append(g.ends, int32(i))
		}
		g.ends[g.chain[i]] = int32(i)
		if ps := g.Commits[i].Parents; len(ps) > 0 && g.chain[ps[0]] < 0 {
			g.chain[ps[0]] = g.chain[i]
		}
	}
}

// Find returns the index of a commit, by its full id.
func (g *Graph) Find(id string) (int32, bool) {
	i, ok := g.byID[id]
	return i, ok
}

// Paths lists what a commit touched, against its first parent.
func (g *Graph) Paths(commit int32) []string {
	var out []string
	for _, t := range g.touchesOf(commit) {
		out = append(out, g.paths[t.path])
	}
	return out
}

func (g *Graph) touchesOf(commit int32) []touch {
	c := g.Commits[commit]
	return g.touches[c.first : c.first+int32(c.Files)]
}
