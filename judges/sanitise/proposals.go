package sanitise

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Proposal is a range that a model wants out. It names bytes, or text, or both, which must agree. Start and End are bytes of the text
// that the model saw; both 0: the text alone says where.
type Proposal struct {
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// Refusal is a proposal that was not followed.
type Refusal struct {
	Proposal Proposal `json:"proposal"`
	Code     string   `json:"code"`
}

// Why a proposal is refused.
const (
	Outside   = "outside"        // the range is not one of the text
	SplitRune = "splits-a-rune"  // the range begins or ends inside of a character
	Disagrees = "disagrees"      // the text does not stand at that range
	NotFound  = "not-found"      // the text stands nowhere
	Vague     = "vague"          // a text so short, without a range, that stands in many places
	TooMuch   = "too-much"       // all proposals together leave too little: none was followed
	TooMany   = "too-many"       // more proposals than anybody reads
	NoRange   = "says-not-where" // neither range nor text
)

const (
	maxProposals = 200
	maxReason    = 300 // bytes that are kept of a model's reason
	minVague     = 8   // bytes of a text that may stand in several places, all of which go
	maxPlaces    = 50
)

// Propose takes out what a model asks for, if it is well said and if all of it is no more than a share (0 to 1) of the text. Where it
// is more, nothing is taken out: a part of the proposals could leave the rest of the answer in.
func (d *Draft) Propose(proposals []Proposal, share float64) []Refusal {
	var refused []Refusal
	byReason := map[string][]Span{}
	var reasons []string
	var all []Span
	for i, p := range proposals {
		spans, code := d.locate(p)
		if i >= maxProposals {
			code = TooMany
		}
		if code != "" {
			refused = append(refused, Refusal{p, code})
			continue
		}
		reason := shorten(p.Reason)
		if _, ok := byReason[reason]; !ok {
			reasons = append(reasons, reason)
		}
		byReason[reason] = append(byReason[reason], spans...)
		all = append(all, spans...)
	}
	total := 0
	for _, s := range merge(all) {
		total += s.End - s.Start
	}
	if float64(total) > share*float64(len(d.text)) {
		for _, p := range proposals[:min(len(proposals), maxProposals)] { // the others are refused already
			if _, code := d.locate(p); code == "" {
				refused = append(refused, Refusal{p, TooMuch})
			}
		}
		return refused
	}
	d.cutByReason(reasons, byReason)
	return refused
}

// cutByReason cuts the ranges of each reason. They are ranges of one text, so those of later reasons lose what earlier ones took.
func (d *Draft) cutByReason(reasons []string, spans map[string][]Span) {
	gone := make([]bool, len(d.text)+1)
	here := make([]int, len(d.text)+1) // where each byte of the text stands by now
	for _, reason := range reasons {
		n := 0
		for i := range here {
			here[i] = n
			if !gone[i] {
				n++
			}
		}
		var now []Span
		for _, s := range merge(spans[reason]) {
			now = append(now, Span{here[s.Start], here[s.End]})
			for i := s.Start; i < s.End; i++ {
				gone[i] = true
			}
		}
		d.Cut(now, reason, ByModel)
	}
}

// locate finds the ranges that a proposal means, or says why there are none.
func (d *Draft) locate(p Proposal) ([]Span, string) {
	if p.Start == 0 && p.End == 0 {
		return d.places(p.Text)
	}
	if p.Start < 0 || p.End > len(d.text) || p.Start >= p.End {
		return nil, Outside
	}
	if !border(d.text, p.Start) || !border(d.text, p.End) {
		return nil, SplitRune
	}
	if p.Text != "" && d.text[p.Start:p.End] != p.Text {
		return nil, Disagrees
	}
	return []Span{{p.Start, p.End}}, ""
}

// places are all places of a text, since what gives the answer away does so everywhere.
func (d *Draft) places(text string) ([]Span, string) {
	if strings.TrimSpace(text) == "" {
		return nil, NoRange
	}
	var out []Span
	for at := 0; ; {
		i := strings.Index(d.text[at:], text)
		if i < 0 {
			break
		}
		out = append(out, Span{at + i, at + i + len(text)})
		at += i + len(text)
		if len(out) > maxPlaces || len(out) > 1 && len(text) < minVague {
			return nil, Vague
		}
	}
	switch {
	case len(out) == 0:
		return nil, NotFound
	case !border(d.text, out[0].Start) || !border(d.text, out[0].End):
		return nil, SplitRune
	}
	return out, ""
}

// border reports whether no character goes on over a byte's begin.
func border(text string, at int) bool {
	return at == len(text) || utf8.RuneStart(text[at])
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) <= maxReason {
		return s
	}
	cut := maxReason
	for !border(s, cut) {
		cut--
	}
	return s[:cut] + "…"
}

func (r Refusal) String() string { return fmt.Sprintf("%s: %q", r.Code, shorten(r.Proposal.Text)) }
