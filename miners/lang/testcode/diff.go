package testcode

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"sluice/miners/lang"
)

// How says in which way a change touches a test.
type How string

// The ways. The first that holds counts.
const (
	Added    How = "added"
	Deleted  How = "deleted"  // no test has this name any more
	Renamed  How = "renamed"  // the same test, without any other change, had another name
	Modified How = "modified" // its own code
	Uses     How = "uses"     // it uses what the change touches; see By
	Around   How = "around"   // what the change touches stands around it: set-up, decorators, headers, settings of its class, block or file
	Unsure   How = "unsure"   // nothing tells, so all of the file are touched
)

// Touch is one test that a change touches.
type Touch struct {
	Test
	How How    `json:"how"`
	By  string `json:"by,omitempty"`  // Uses: the name that it uses, of what the change touches itself or of what uses that in turn
	Was []Name `json:"was,omitempty"` // Renamed: the path before
}

// Change is what a change of one file does to its tests.
type Change struct {
	Touched []Touch `json:"touched,omitempty"` // in the order of the file, deleted ones last
	// Elsewhere are names that the change touches and that tests of other files may use; nothing is known of those.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// Unread says that a version of the file cannot be read, so that more tests may be touched than are known.
	Unread bool `json:"unread,omitempty"`
}

func textDigest(s string) uint64 { return xxhash.Sum64String(s) }

// Compare tells which tests a change of a file touches; nil is a file that is not there. A change of comments and layout touches nothing
// (but for comments that Go runs by: what an example prints, what a build needs).
func Compare(name string, before, after []byte) Change {
	if same, known := lang.SameSyntax(name, before, after); known && same && before != nil && after != nil && lang.Language(name) != "Go" {
		return Change{}
	}
	old, okOld := readVersion(name, before)
	cur, okNew := readVersion(name, after)
	if !okOld || !okNew {
		return unread(old, cur)
	}
	c := comparison{old: old, cur: cur, was: old.byKey(), is: cur.byKey(), found: map[string]Touch{}, moved: map[string]bool{}, seen: map[dirt]bool{}}
	return c.run()
}

func readVersion(name string, src []byte) (File, bool) {
	if src == nil {
		return File{}, true
	}
	return Read(name, src)
}

// unread is the change of a file of which a version cannot be read.
func unread(old, cur File) Change {
	out := Change{Unread: true}
	tests := cur.Tests
	if len(tests) == 0 {
		tests = old.Tests
	}
	for _, t := range tests {
		out.Touched = append(out.Touched, Touch{Test: t, How: Unsure})
	}
	return out
}

// byKey lists the tests' units; several may have one path.
func (f File) byKey() map[string][]unit {
	out := map[string][]unit{}
	for _, u := range f.units {
		if u.test != nil {
			out[u.test.key()] = append(out[u.test.key()], u)
		}
	}
	return out
}

// dirt is a name that changed in a scope.
type dirt struct{ scope, name string }

// comparison is one on its way.
type comparison struct {
	old, cur File
	was, is  map[string][]unit
	found    map[string]Touch // by key of the test
	moved    map[string]bool  // keys that tests had before
	dirty    []dirt           // names that changed, those that the change touches itself first
	seen     map[dirt]bool
	own      int // how many of dirty the change touches itself
}

func (c *comparison) run() Change {
	c.tests()
	c.renames()
	spread := c.pieces()
	c.own = len(c.dirty)
	c.spread(spread)
	return Change{Touched: c.list(), Elsewhere: c.elsewhere()}
}

// tests compares the tests by their paths.
func (c *comparison) tests() {
	for _, key := range slices.Sorted(maps.Keys(c.is)) {
		switch was := c.was[key]; {
		case was == nil:
			c.touch(c.is[key][0], Added, "")
		case !slices.Equal(digests(c.is[key]), digests(was)):
			c.touch(c.is[key][0], Modified, "")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.was)) {
		if c.is[key] == nil {
			c.touch(c.was[key][0], Deleted, "")
		}
	}
}

func digests(units []unit) []uint64 {
	out := make([]uint64, len(units))
	for i, u := range units {
		out[i] = u.digest
	}
	return out
}

// touch notes a test, and that the name of its function changed.
func (c *comparison) touch(u unit, how How, by string) {
	key := u.test.key()
	if _, ok := c.found[key]; ok || c.moved[key] {
		return
	}
	c.found[key] = Touch{Test: *u.test, How: how, By: by}
	if how != Uses && how != Around {
		c.soil(u)
	}
}

// soil notes that what a piece defines changed.
func (c *comparison) soil(u unit) {
	for _, n := range u.names {
		if d := (dirt{u.scope, n}); !c.seen[d] {
			c.seen[d] = true
			c.dirty = append(c.dirty, d)
		}
	}
}

// renames finds deleted tests that live on under another name: with the same code below the name, and no other that is alike.
func (c *comparison) renames() {
	gone, come := map[uint64][]string{}, map[uint64][]string{}
	for key, t := range c.found {
		switch t.How {
		case Deleted:
			gone[c.was[key][0].body] = append(gone[c.was[key][0].body], key)
		case Added:
			come[c.is[key][0].body] = append(come[c.is[key][0].body], key)
		}
	}
	for body, keys := range come {
		if body == 0 || len(keys) != 1 || len(gone[body]) != 1 {
			continue
		}
		t := c.found[keys[0]]
		t.How, t.Was = Renamed, c.found[gone[body][0]].Path
		c.found[keys[0]] = t
		delete(c.found, gone[body][0])
		c.moved[gone[body][0]] = true
	}
}

// pieceKey names a piece that is no test.
type pieceKey struct {
	scope, names string
	loose        bool
}

// compare puts pieces of which nothing is known last: Around counts before Unsure.
func (k pieceKey) compare(other pieceKey) int {
	if k.loose != other.loose {
		if k.loose {
			return 1
		}
		return -1
	}
	return cmp.Or(strings.Compare(k.scope, other.scope), strings.Compare(k.names, other.names))
}

// pieces compares all else, and returns what holds for whole scopes and changed.
func (c *comparison) pieces() []unit {
	sums, first := [2]map[pieceKey][]uint64{{}, {}}, map[pieceKey]unit{}
	for i, f := range []File{c.old, c.cur} {
		for _, u := range f.units {
			if u.test == nil {
				k := pieceKey{u.scope, strings.Join(u.names, "\x00"), u.loose}
				sums[i][k] = append(sums[i][k], u.digest)
				first[k] = u
			}
		}
	}
	var whole []unit
	for _, k := range slices.SortedFunc(maps.Keys(first), pieceKey.compare) {
		if slices.Equal(sums[0][k], sums[1][k]) {
			continue
		}
		u := first[k]
		if len(u.names) == 0 {
			whole = append(whole, u)
		}
		c.soil(u)
	}
	return whole
}

// spread follows what changed to the tests: by names, as long as new ones turn up, then by scopes.
func (c *comparison) spread(whole []unit) {
	users := map[string][]unit{}
	for _, f := range []File{c.cur, c.old} {
		for _, u := range f.units {
			for n := range u.uses {
				users[n] = append(users[n], u)
			}
		}
	}
	by := map[string]bool{}
	for i := 0; i < len(c.dirty); i++ {
		d := c.dirty[i]
		for _, u := range users[d.name] {
			switch {
			case !strings.HasPrefix(u.scope, d.scope) || slices.Contains(u.names, d.name) && u.test == nil:
			case u.test != nil:
				c.touch(u, Uses, d.name)
				c.soil(u)
			case len(u.names) == 0:
				if k := u.scope + "\x02" + d.name; !by[k] {
					by[k] = true
					c.cover(u, Uses, d.name)
				}
			default:
				c.soil(u)
			}
		}
	}
	for _, u := range whole {
		how := Around
		if u.loose {
			how = Unsure
		}
		c.cover(u, how, "")
	}
}

// cover touches all tests of a piece's scope.
func (c *comparison) cover(piece unit, how How, by string) {
	for _, f := range []File{c.cur, c.old} {
		for _, u := range f.units {
			if u.test != nil && strings.HasPrefix(u.scope, piece.scope) {
				c.touch(u, how, by)
			}
		}
	}
}

// list orders what was found.
func (c *comparison) list() []Touch {
	out := slices.Collect(maps.Values(c.found))
	slices.SortFunc(out, func(a, b Touch) int {
		if (a.How == Deleted) != (b.How == Deleted) {
			if a.How == Deleted {
				return 1
			}
			return -1
		}
		if a.Lines.First != b.Lines.First {
			return a.Lines.First - b.Lines.First
		}
		return strings.Compare(a.key(), b.key())
	})
	return out
}

// elsewhere are the names at the top of the file that the change touches.
func (c *comparison) elsewhere() []string {
	var out []string
	tests := map[string]bool{}
	for _, f := range []File{c.cur, c.old} {
		for _, u := range f.units {
			if u.test != nil {
				for _, n := range u.names {
					tests[n] = true
				}
			}
		}
	}
	for _, d := range c.dirty[:c.own] {
		if d.scope == "" && !tests[d.name] {
			out = append(out, d.name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
