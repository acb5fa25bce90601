package reply

import (
	"regexp"
	"slices"
	"strings"
)

// Conclusions finds the code that a reasoning names as its explicit conclusion: "so this is C2", "verdict: A".
//
// It serves to find replies that contradict themselves, never to find a verdict.
type Conclusions struct{ form *regexp.Regexp }

// NewConclusions makes the search for a judge's codes ready.
func NewConclusions(codes []string) Conclusions { return Conclusions{conclusions(codes)} }

// Last returns the last explicit conclusion with its sentence. Suppositions ("if …, it would be C2") and mere mentions of codes
// are none. Code is "" without one.
func (c Conclusions) Last(reasoning string) (code, sentence string) {
	for _, s := range sentences(reasoning) {
		for _, m := range c.form.FindAllStringSubmatchIndex(s, -1) {
			if !supposed.MatchString(s[:m[1]]) {
				code, sentence = s[m[2]:m[3]], strings.TrimSpace(s)
			}
		}
	}
	return code, sentence
}

// supposed marks what is not said to be so.
var supposed = regexp.MustCompile(`(?i)\b(?:if|unless|would|could|might|may|whether|seems?|appears?|looks? like|tempting|argue|argued|arguably|` +
	`one can|at first|not say|nor|neither|never|possible|possibly|perhaps|e\.g|for example)\b|n't\b`)

// conclusions is the expression for a set of codes. A code counts only as a word of its own that ends its clause, spelt as it is.
func conclusions(codes []string) *regexp.Regexp {
	names := slices.Clone(codes)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	const mark = "[\"'`*_(\\[“‘]{0,3}"
	code := mark + `(` + strings.Join(names, "|") + `)[\"'` + "`" + `*_)\]”’]{0,3}(?:\s*(?:[,;:()]|[.!](?:\s|$)|—|–|-\s)|\s+(?:because|since|as|and not|not|rather|instead|here|applies|fits)\b|\s*$)`
	is := `\s*(?:\bis\b|\bmust be\b|\bhas to be\b|\bremains\b|:|=|→|->)\s*(?:therefore |thus |clearly |then )?(?:code |category |label |verdict )?`
	noun := `(?i:\b(?:final |overall |correct |right |best |resulting |appropriate |my |the )*(?:verdict|answer|code|conclusion|classification|label|decision|judge?ment|category|rating)\b)[*_` + "`" + `]{0,2}`
	lead := `(?i:\b(?:so|thus|hence|therefore|overall|in conclusion|finally|consequently|in the end)\b,?\s+(?:this|it|that|the (?:case|pair|change|statement|fix))\s+is)\s+(?i:clearly |therefore |then |a |an |code |category )?`
	pick := `(?i:\bI\s+(?:therefore |thus |hence |finally )?(?:choose|pick|select|conclude|answer|assign|go with|settle on|decide on|decide for|give|rate it|classify (?:it|this) as))\s+(?i:code |category |with )?`
	arrow := `(?i:^\s*(?:=>|→|->)\s*)`
	return regexp.MustCompile(`(?:` + noun + is + `|` + lead + `|` + pick + `|` + arrow + `)` + code)
}

// sentences cuts prose at full stops and line breaks. A point inside of a word or a number ends nothing.
func sentences(text string) []string {
	var out []string
	from := 0
	for i := 0; i < len(text); i++ {
		end := text[i] == '\n' || strings.IndexByte(".!?", text[i]) >= 0 && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n')
		if end {
			out = append(out, text[from:i+1])
			from = i + 1
		}
	}
	return append(out, text[from:])
}
