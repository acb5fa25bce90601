package refactor

// maxCells bounds the table of an alignment: a hunk of 700 lines against 700. Beyond, nothing is aligned.
const maxCells = 1 << 19

// align pairs lines of the same form in order, so that as many tokens as possible stay the same. It gives line numbers, old and
// new.
func align(old, neu []line) [][2]int {
	if len(old) == 0 || len(neu) == 0 || (len(old)+1)*(len(neu)+1) > maxCells {
		return nil
	}
	width := len(neu) + 1
	best := make([]int, (len(old)+1)*width) // of what follows old[i] and neu[j]
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(neu) - 1; j >= 0; j-- {
			v := max(best[(i+1)*width+j], best[i*width+j+1])
			if s := likeness(old[i], neu[j]); s > 0 {
				v = max(v, s+best[(i+1)*width+j+1])
			}
			best[i*width+j] = v
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(old) && j < len(neu); {
		s := likeness(old[i], neu[j])
		switch here := best[i*width+j]; {
		case s > 0 && here == s+best[(i+1)*width+j+1]:
			out = append(out, [2]int{old[i].number, neu[j].number})
			i++
			j++
		case here == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
	return out
}

// likeness counts the equal tokens of lines of one form, plus one; 0 for lines of different forms or depths.
func likeness(a, b line) int {
	if a.form != b.form || a.indent != b.indent {
		return 0
	}
	n := 1
	for i := range a.tokens {
		if a.tokens[i].Text == b.tokens[i].Text {
			n++
		}
	}
	return n
}
