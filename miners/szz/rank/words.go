package rank

import (
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"sluice/miners/szz/lineage"
)

// quotation is what a subject may say of the answer: ids of commits and numbers of changes. It is never looked at.
var quotation = regexp.MustCompile(`\b[0-9a-fA-F]{7,40}\b|[#!]\d+|(?i)\b(?:pr|cl|mr|gh)[ -]?\d+\b|"[^"]*"|'[^']{12,}'`)

var stop = set(`a an the of in on at to for from by with and or not no is are be was were it its this that as if when where than then
	so do does did don t s can could should would will may into out up off over under again also only just more some any all use
	using used make made makes get set fix fixes fixed fixing fixup bug bugs bugfix issue issues problem add adds added adding remove
	removes removed removing change changes changed update updates updated allow support implement merge pull request branch
	master main into via due after before because instead new old`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var camel = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)

// subjectWords lists the different words of a subject that mean something, in lower case, compound names also in parts.
func subjectWords(subject string) []string {
	subject = quotation.ReplaceAllString(subject, " ")
	seen := map[string]bool{}
	var out []string
	put := func(w string) {
		w = strings.ToLower(w)
		if len(w) > 4 {
			w = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(w, "ing"), "ed"), "s")
		}
		if len(w) > 1 && !stop[w] && !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	lineage.EachWord([]byte(subject), func(b []byte) {
		w := string(b)
		put(w)
		if parts := camel.FindAllString(w, -1); len(parts) > 1 {
			for _, p := range parts {
				put(p)
			}
		}
	})
	return out
}

// lexicon knows how rare words are in the subjects of a repository.
type lexicon struct {
	df map[string]int32
	n  int
}

// newLexicon reads all subjects, on all cores.
func newLexicon(g *lineage.Graph) (*lexicon, [][]string) {
	l := &lexicon{df: map[string]int32{}, n: len(g.Commits)}
	words := make([][]string, len(g.Commits))
	size := len(words)/runtime.GOMAXPROCS(0) + 1
	var group sync.WaitGroup
	for start := 0; start < len(words); start += size {
		group.Go(func() {
			for i := start; i < min(start+size, len(words)); i++ {
				words[i] = subjectWords(g.Commits[i].Subject)
			}
		})
	}
	group.Wait()
	for _, list := range words {
		for _, w := range list {
			l.df[w]++
		}
	}
	return l, words
}

func (l *lexicon) idf(w string) float64 { return math.Log(float64(l.n+1) / float64(l.df[w]+1)) }

// likeness is the cosine of two subjects, and the share of a's weight that b has.
func (l *lexicon) likeness(a, b []string) (cosine, share float64) {
	var na, nb, common, commonA, sumA float64
	in := map[string]bool{}
	for _, w := range b {
		in[w] = true
		nb += l.idf(w) * l.idf(w)
	}
	for _, w := range a {
		x := l.idf(w)
		na += x * x
		sumA += x
		if in[w] {
			common += x * x
			commonA += x
		}
	}
	if na == 0 || nb == 0 {
		return 0, 0
	}
	return common / math.Sqrt(na*nb), commonA / sumA
}
