package refactor

import "slices"

// names is a renaming that is being collected: what each old name became, and what each new name was.
type names struct {
	to, from map[string][]string
	declared map[[2]string]bool
}

func newNames() names {
	return names{to: map[string][]string{}, from: map[string][]string{}, declared: map[[2]string]bool{}}
}

func (r names) add(x, y string) {
	if !slices.Contains(r.to[x], y) {
		r.to[x] = append(r.to[x], y)
	}
	if !slices.Contains(r.from[y], x) {
		r.from[y] = append(r.from[y], x)
	}
}

// only tells whether x became y and nothing else, and y was x and nothing else.
func (r names) only(x, y string) bool {
	return len(r.to[x]) == 1 && len(r.from[y]) == 1 && r.to[x][0] == y
}

// scope is a function in both versions of a file.
type scope struct {
	f        *file
	old, neu int
}

// renamed lists the names that differ in two lines of one form.
func renamed(o, n line) (at []int) {
	for i := range o.tokens {
		if o.tokens[i].Text != n.tokens[i].Text {
			at = append(at, i)
		}
	}
	return at
}

// rename accepts the pairs whose differing names are all renamed.
func (c *change) rename() {
	c.global = newNames()
	local := map[scope]names{}
	for _, p := range c.pairs {
		c.collect(p, local)
	}
	for _, p := range c.pairs {
		o, n := p.f.old.lines[p.o], p.f.new.lines[p.n]
		s := p.scope()
		holds := func(i int) bool {
			x, y := o.tokens[i].Text, n.tokens[i].Text
			return s.holds(local[s], x, y) || c.holds(p.f, x, y)
		}
		if !slices.ContainsFunc(renamed(o, n), func(i int) bool { return !holds(i) }) {
			c.accept(p.f, p.o, p.f, p.n)
		}
	}
}

func (p pair) scope() scope { return scope{p.f, p.f.old.function(p.o), p.f.new.function(p.n)} }

// collect notes what a pair says of names, equal ones too: they speak against a renaming.
func (c *change) collect(p pair, local map[scope]names) {
	o, n := p.f.old.lines[p.o], p.f.new.lines[p.n]
	s := p.scope()
	if _, ok := local[s]; !ok {
		local[s] = newNames()
	}
	for i, t := range n.tokens {
		if !t.Name {
			continue
		}
		x, y := o.tokens[i].Text, t.Text
		local[s].add(x, y)
		if x == y {
			continue
		}
		c.global.add(x, y)
		heads := p.f.new.heads(p.n) && p.f.old.heads(p.o)
		switch {
		case definesName(n.tokens, i), heads && ownName(n.tokens) == i, s.neu < 0 && declares(n.tokens, i, p.f.new.typed):
			if !p.f.new.has(-1, x) && !p.f.old.has(-1, y) {
				c.global.declared[[2]string{x, y}] = true
			}
		case heads && parameter(n.tokens, i, p.f.new.typed), declares(n.tokens, i, p.f.new.typed):
			local[s].declared[[2]string{x, y}] = true
		}
	}
}

// holds tells whether x is a name of the function that is y now.
func (s scope) holds(r names, x, y string) bool {
	return s.old >= 0 && s.neu >= 0 && r.declared[[2]string{x, y}] && r.only(x, y) && !s.f.new.has(s.neu, x) && !s.f.old.has(s.old, y)
}

// holds tells whether the change renames x to y everywhere, and so in this file.
func (c *change) holds(f *file, x, y string) bool {
	return c.global.declared[[2]string{x, y}] && c.global.only(x, y) && !f.new.has(-1, x) && !f.old.has(-1, y)
}
