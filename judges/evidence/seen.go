package evidence

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/prompts"
)

// minQuote is the least that supports anything, in characters that are no white space: a brace occurs everywhere. A whole line
// may be shorter.
const minQuote = 8

// Seen is the evidence as it was sent.
type Seen struct {
	nonce string
	slots map[string]*sent
}

// sent is one slot of it.
type sent struct {
	kind  prompts.Kind
	runs  []string // evidence between notes of ours
	whole []string // units that were sent uncut, as sent
	given []string
}

// Plain is the Seen of evidence that was sent as it is, uncut and unmasked: for checks of texts that no prompt held.
func Plain(given map[string][]string) *Seen {
	s := &Seen{slots: map[string]*sent{}}
	for name, units := range given {
		s.slots[name] = &sent{kind: prompts.Text, runs: units, whole: units, given: units}
	}
	return s
}

func (s *Seen) add(sl slot, pieces []piece, whole []int) {
	one := &sent{kind: sl.Kind, given: sl.given}
	open := false
	for _, p := range pieces {
		switch {
		case p.note:
			open = false
		case open:
			one.runs[len(one.runs)-1] += p.text
		default:
			one.runs = append(one.runs, p.text)
			open = true
		}
	}
	for _, i := range whole {
		one.whole = append(one.whole, sl.units[i])
	}
	s.slots[sl.Name] = one
}

// Given returns the units of a slot as they came, before masks and cuts.
func (s *Seen) Given(slot string) []string {
	if one := s.slots[slot]; one != nil {
		return one.given
	}
	return nil
}

// Units returns the units of a slot that were sent whole, in order, as they were sent: visible and masked. What was cut is
// not among them.
func (s *Seen) Units(slot string) []string {
	if one := s.slots[slot]; one != nil {
		return one.whole
	}
	return nil
}

// Quoted checks that a quotation occurs in one of the slots (none named: in any) as it was sent, white space folded. In a patch
// the signs at the beginning of lines may be left out. An error is one line that a model can act on.
func (s *Seen) Quoted(quote string, slots ...string) error {
	if len(slots) == 0 {
		slots = slices.Sorted(maps.Keys(s.slots))
	}
	for _, name := range slots {
		if s.slots[name] == nil {
			return fmt.Errorf("quotations are wanted from %q, which is no slot", name)
		}
	}
	folded := fold(quote)
	switch weight, letters := weigh(folded); {
	case folded == "":
		return errors.New("the quotation is empty")
	case s.nonce != "" && strings.Contains(folded, s.nonce):
		return errors.New("the quotation holds the mark of a fence, which is no evidence")
	case letters == 0:
		return fmt.Errorf("the quotation %s holds no words of the evidence", shown(folded))
	case weight < minQuote && !s.isLine(folded, slots):
		return fmt.Errorf("the quotation %s is too short to support anything: quote a whole line or at least %d characters", shown(folded), minQuote)
	}
	for _, find := range []func(*sent) bool{ // what is cheap and nearly always enough comes first, for all slots
		func(o *sent) bool { return o.holdsExactly(quote) },
		func(o *sent) bool { return o.holdsFolded(folded) },
	} {
		if slices.ContainsFunc(slots, func(name string) bool { return find(s.slots[name]) }) {
			return nil
		}
	}
	return fmt.Errorf("the quotation %s does not occur in %s: copy one passage exactly as it stands there, without leaving anything out",
		shown(folded), strings.Join(slots, " or "))
}

// ours are the marks that stand for something in evidence; a quotation of nothing else supports nothing.
var ours = regexp.MustCompile(`⟨[^⟨⟩\n]{0,12}⟩|` + numberMask + `|` + commitMask + `|` + linkMask)

// weigh counts what is the evidence's own in a quotation: characters that are no white space, and letters or digits among them.
func weigh(folded string) (weight, letters int) {
	for _, r := range ours.ReplaceAllString(folded, "") {
		if !unicode.IsSpace(r) {
			weight++
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return weight, letters
}

func shown(quote string) string {
	if utf8.RuneCountInString(quote) > 80 {
		return fmt.Sprintf("%q…", string([]rune(quote)[:80]))
	}
	return fmt.Sprintf("%q", quote)
}

func (o *sent) holdsExactly(quote string) bool {
	return slices.ContainsFunc(o.runs, func(run string) bool { return strings.Contains(run, quote) })
}

// holdsFolded looks for the quotation with white space folded, in a patch also without the signs of its lines.
func (o *sent) holdsFolded(folded string) bool {
	return slices.ContainsFunc(o.runs, func(run string) bool {
		return strings.Contains(fold(run), folded) || o.kind == prompts.Diff && strings.Contains(fold(unsigned(run)), folded)
	})
}

func (s *Seen) isLine(folded string, slots []string) bool {
	for _, name := range slots {
		for _, run := range s.slots[name].runs {
			for l := range strings.Lines(run) {
				if f := fold(l); f == folded || s.slots[name].kind == prompts.Diff && fold(unsigned(l)) == folded {
					return true
				}
			}
		}
	}
	return false
}

// unsigned takes the first character off the lines of a patch that are context, added or deleted.
func unsigned(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for l := range strings.Lines(text) {
		if l[0] == '+' || l[0] == '-' || l[0] == ' ' {
			l = l[1:]
		}
		out.WriteString(l)
	}
	return out.String()
}

// shownCR is how Visible writes a carriage return, which is white space.
const shownCR = "⟨U+000D⟩"

// fold turns each run of white space into one blank and takes it off both ends.
func fold(s string) string {
	if strings.Contains(s, shownCR) {
		s = strings.ReplaceAll(s, shownCR, " ")
	}
	var out strings.Builder
	out.Grow(len(s))
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = true
			continue
		}
		if gap && out.Len() > 0 {
			out.WriteByte(' ')
		}
		gap = false
		out.WriteRune(r)
	}
	return out.String()
}
