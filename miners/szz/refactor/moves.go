package refactor

// A moved block has at least this many lines of code and tokens: shorter ones are alike by chance.
const (
	leastLines  = 3
	leastTokens = 15
)

// Bounds of the search for moved blocks.
const (
	maxLoose  = 5000 // lines without a counterpart, on each side
	maxOrigin = 16   // old lines that are tried as the start of one block
)

// loose is a line without a counterpart.
type loose struct {
	f *file
	line
	next int // the next line of code of its file, 0 when it is not loose or in another hunk
}

// move finds blocks of new lines that stood elsewhere.
func (c *change) move() {
	old, neu := c.loose(true), c.loose(false)
	if len(old) > maxLoose || len(neu) > maxLoose {
		return
	}
	byForm := map[string][]int{}
	for i, l := range old {
		byForm[l.form] = append(byForm[l.form], i)
	}
	for j := 0; j < len(neu); {
		bestAt, bestLen := 0, 0
		starts := byForm[neu[j].form]
		for _, i := range starts[:min(len(starts), maxOrigin)] {
			if n := c.run(old[i:], neu[j:]); n > bestLen {
				bestAt, bestLen = i, n
			}
		}
		for k := range bestLen {
			c.accept(old[bestAt+k].f, old[bestAt+k].number, neu[j+k].f, neu[j+k].number)
		}
		j += max(bestLen, 1)
	}
}

// loose lists the lines of one side that have no counterpart, in order.
func (c *change) loose(old bool) []loose {
	var out []loose
	for _, f := range c.files {
		for _, h := range f.hunks {
			v, r, took := f.new, h.New, f.tookN
			if old {
				v, r, took = f.old, h.Old, f.tookO
			}
			open := false // the last line of code was loose too
			for _, l := range v.code(r) {
				if took[l.number] {
					open = false
					continue
				}
				if open {
					out[len(out)-1].next = l.number
				}
				out = append(out, loose{f: f, line: l})
				open = true
			}
		}
	}
	return out
}

// run counts the lines from the start of both lists that are one moved block; 0 when they are none.
func (c *change) run(old, neu []loose) int {
	r := newNames()
	lines, tokens := 0, 0
	for lines < min(len(old), len(neu)) && old[lines].form == neu[lines].form && !old[lines].f.tookO[old[lines].number] {
		for i, t := range neu[lines].tokens {
			if t.Name {
				r.add(old[lines].tokens[i].Text, t.Text)
			}
		}
		tokens += len(neu[lines].tokens)
		lines++
		if old[lines-1].next == 0 || neu[lines-1].next == 0 {
			break
		}
	}
	if lines < leastLines || tokens < leastTokens || !c.explained(r, neu[:lines]) {
		return 0
	}
	return lines
}

// explained tells whether every name that differs in a block has a reason to.
func (c *change) explained(r names, block []loose) bool {
	for x, ys := range r.to {
		for _, y := range ys {
			if x != y && !(r.only(x, y) && c.introduced(block, x, y)) {
				return false
			}
		}
		if len(ys) > 1 {
			return false
		}
	}
	return true
}

// introduced tells whether y is a new name for x in a block: the change renames it, the block declares it, or it is a
// parameter of the function that the block is in.
func (c *change) introduced(block []loose, x, y string) bool {
	f := block[0].f
	if c.holds(f, x, y) {
		return true
	}
	for _, l := range block {
		for i, t := range l.tokens {
			if t.Text == y && declares(l.tokens, i, f.new.typed) {
				return true
			}
		}
	}
	at := f.new.function(block[0].number)
	if at < 0 {
		return false
	}
	head := f.new.lines[f.new.functions[at].First].tokens
	for i := range head {
		if head[i].Text == y && parameter(head, i, f.new.typed) {
			return true
		}
	}
	return false
}
