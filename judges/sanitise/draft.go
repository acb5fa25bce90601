// Package sanitise takes what gives an answer away out of texts that agents read: ids, numbers and links of changes, transcripts and
// verdicts of bisections, patches. What a model proposes besides is checked.
//
// It only deletes. What is left is the original without some ranges, each of which is kept with its reason; it never writes a word,
// and it decides no case.
package sanitise

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Who asked for a deletion.
const (
	ByRule  = "rule"
	ByModel = "model"
)

// Deletion is a range that was taken out.
type Deletion struct {
	Start  int    `json:"start"` // bytes of the original
	End    int    `json:"end"`
	Text   string `json:"text"`
	Reason string `json:"reason"` // a name of a rule, or a model's words
	By     string `json:"by"`     // ByRule or ByModel
}

// Result is what is left of a text, and what is not. The original without the deletions is Text, byte for byte.
type Result struct {
	Text    string     `json:"text"`
	Deleted []Deletion `json:"deleted,omitempty"` // in order, apart
}

// Span is a range of the text that a Draft holds now.
type Span struct{ Start, End int }

// Draft is a text that gets shorter. Rules see it without what earlier ones took out, and each deletion still knows where it stood.
type Draft struct {
	original string
	text     string
	at       []int // where each byte of text stands in the original
	deleted  []Deletion
	log      []Deletion // as they were asked for: what two rules took apart is two entries, in the order of the rules
}

// NewDraft begins with the whole text.
func NewDraft(text string) *Draft {
	d := &Draft{original: text, text: text, at: make([]int, len(text))}
	for i := range d.at {
		d.at[i] = i
	}
	return d
}

// Text is what is left.
func (d *Draft) Text() string { return d.text }

// Cut takes ranges out that lie inside the text. They may come in any order and overlap.
func (d *Draft) Cut(spans []Span, reason, by string) {
	spans = merge(spans)
	if len(spans) == 0 {
		return
	}
	var text strings.Builder
	at := make([]int, 0, len(d.at))
	last := 0
	for _, s := range spans {
		d.log = append(d.log, Deletion{Text: d.text[s.Start:s.End], Reason: reason, By: by})
		d.record(s, reason, by)
		text.WriteString(d.text[last:s.Start])
		at = append(at, d.at[last:s.Start]...)
		last = s.End
	}
	text.WriteString(d.text[last:])
	d.text, d.at = text.String(), append(at, d.at[last:]...)
}

// record notes a deletion, in as many pieces as earlier ones left of it.
func (d *Draft) record(s Span, reason, by string) {
	for i := s.Start; i < s.End; {
		j := i + 1
		for j < s.End && d.at[j] == d.at[j-1]+1 {
			j++
		}
		start, end := d.at[i], d.at[j-1]+1
		d.deleted = append(d.deleted, Deletion{Start: start, End: end, Text: d.original[start:end], Reason: reason, By: by})
		i = j
	}
}

// merge orders ranges, joins those that touch and drops empty ones.
func merge(spans []Span) []Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var out []Span
	for _, s := range spans {
		switch last := len(out) - 1; {
		case s.End <= s.Start:
		case last >= 0 && s.Start < out[last].End:
			out[last].End = max(out[last].End, s.End)
		default:
			out = append(out, s)
		}
	}
	return out
}

// CutAll takes out every match of a pattern.
func (d *Draft) CutAll(re *regexp.Regexp, reason string) {
	d.CutIf(re, reason, func(Span) bool { return true })
}

// CutIf takes out the matches that are wanted.
func (d *Draft) CutIf(re *regexp.Regexp, reason string, wanted func(Span) bool) {
	var spans []Span
	for _, m := range re.FindAllStringIndex(d.text, -1) {
		if s := (Span{m[0], m[1]}); wanted(s) {
			spans = append(spans, s)
		}
	}
	d.Cut(spans, reason, ByRule)
}

// cutLines takes out the lines that are wanted, each with its end.
func (d *Draft) cutLines(reason string, wanted func(lines []string, i int) bool) {
	lines := strings.SplitAfter(d.text, "\n")
	var spans []Span
	at := 0
	for i, l := range lines {
		if l != "" && wanted(lines, i) {
			spans = append(spans, Span{at, at + len(l)})
		}
		at += len(l)
	}
	d.Cut(spans, reason, ByRule)
}

// Result is the state of the draft.
func (d *Draft) Result() Result {
	deleted := slices.Clone(d.deleted)
	slices.SortFunc(deleted, func(a, b Deletion) int { return cmp.Compare(a.Start, b.Start) })
	return Result{Text: d.text, Deleted: deleted}
}

// Removed lists what was taken out for other reasons than tidiness, as it stood in the draft at that time, rule after rule.
func (d *Draft) Removed() []string {
	var out []string
	for _, l := range d.log {
		if l.Reason != Hollow {
			out = append(out, strings.TrimSpace(l.Text))
		}
	}
	return out
}
