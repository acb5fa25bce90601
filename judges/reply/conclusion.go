package reply

import (
	"regexp"
	"slices"
	"strings"
)

// Conclusions finds the code that a reasoning names as its explicit conclusion: "so this is C2", "verdict: A".
//
// It serves to find replies that contradict themselves, never to find a verdict.
type Conclusions struct {
	codes []string
	form  *regexp.Regexp
}

// NewConclusions makes the search for a judge's codes ready.
func NewConclusions(codes []string) Conclusions { return Conclusions{codes, conclusions(codes)} }

// Last returns the last explicit conclusion with its sentence. Suppositions ("if …, it would be C2") and mere mentions of codes
// are none. Code is "" without one.
func (c Conclusions) Last(reasoning string) (code, sentence string) {
	for _, s := range sentences(reasoning) {
		if !slices.ContainsFunc(c.codes, func(code string) bool { return hasWord(s, code) }) {
			continue // the expression is slow
		}
		for _, m := range c.form.FindAllStringSubmatchIndex(s, -1) {
			for g := 2; g < len(m) && !supposed.MatchString(s[:m[1]]); g += 2 {
				if m[g] >= 0 {
					code, sentence = s[m[g]:m[g+1]], strings.TrimSpace(s)
				}
			}
		}
	}
	return code, sentence
}

// hasWord reports whether a code stands in a sentence as a word of its own.
func hasWord(s, code string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], code)
		if i < 0 {
			return false
		}
		i += from
		if end := i + len(code); (i == 0 || !letter(s[i-1])) && (end == len(s) || !letter(s[end])) {
			return true
		}
		from = i + 1
	}
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' }

// supposed marks what is not said to be so.
var supposed = regexp.MustCompile(`(?i)\b(?:if|unless|would|could|might|may|whether|seems?|appears?|looks? like|tempting|argue|argued|arguably|` +
	`one can|at first|not say|nor|neither|never|possible|possibly|perhaps|e\.g|for example)\b|n't\b`)

// conclusions is the expression for a set of codes. A code counts only as a word of its own that ends its clause, spelt as it is.
// Codes that prose uses too ("clean", "2") need plainer words around them than those that nothing else is called ("C2").
func conclusions(codes []string) *regexp.Regexp {
	var sharp, words, figures []string
	for _, c := range codes {
		switch name := regexp.QuoteMeta(c); {
		case strings.Trim(c, "0123456789") == "":
			figures = append(figures, name)
		case strings.ContainsAny(c, "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
			sharp = append(sharp, name)
		default:
			words = append(words, name)
		}
	}
	const (
		verdict = `(?:verdict|classification|label|rating|decision|judge?ment)`
		named   = `(?:verdict|classification|label|rating|decision|judge?ment|answer|conclusion|category)`
		coded   = `(?:verdict|classification|label|rating|decision|judge?ment|answer|conclusion|category|code)`
		before  = `\b(?:final |overall |correct |right |best |resulting |appropriate |my |the )*`
		is      = "[*_`]{0,2}" + `\s*(?:\bis\b|\bmust be\b|\bhas to be\b|\bremains\b|:|=|→|->)\s*(?:therefore |thus |clearly |then )?(?:code |category |label |verdict )?`
		lead    = `\b(?:so|thus|hence|therefore|overall|in conclusion|finally|consequently|in the end)\b,?\s+(?:this|it|that|the (?:case|pair|change|statement|fix))\s+is\s+` +
			`(?:clearly |therefore |then |a |an |code |category )?`
		pick = `\bI\s+(?:therefore |thus |hence |finally )?(?:choose|pick|select|conclude|answer|assign|go with|settle on|decide on|decide for|classify (?:it|this) as)\s+` +
			`(?:code |category |with )?`
		arrow = `^\s*(?:=>|→|->)\s*`
	)
	forms := []string{
		`(?i:` + before + coded + is + `|` + lead + `|` + pick + `|` + arrow + `)` + quoteMark + oneOf(sharp) + quoteMark + clauseEnd,
		`(?i:` + before + named + is + `|` + pick + `)` + quoteMark + oneOf(words) + quoteMark + clauseEnd,
		`(?i:` + before + verdict + is + `)` + quoteMark + oneOf(figures) + quoteMark + clauseEnd,
		`(?i:` + before + coded + is + `)["'` + "`" + `]` + oneOf(append(words, figures...)) + `["'` + "`" + `]`,
	}
	return regexp.MustCompile(strings.Join(forms, "|"))
}

const (
	quoteMark = "[\"'`*_(\\[“‘)\\]”’]{0,3}"
	clauseEnd = `(?:\s*(?:[,;:()]|[.!](?:\s|$)|—|–|-\s)|\s+(?:because|since|as|and not|not|rather|instead|here|applies|fits)\b|\s*$)`
)

// oneOf captures one of the names, longer ones first; of none it matches nothing.
func oneOf(names []string) string {
	if len(names) == 0 {
		return `([^\s\S])`
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	return `(` + strings.Join(names, "|") + `)`
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
