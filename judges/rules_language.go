package judges

import (
	"regexp"
	"strings"
	"unicode"
)

// stops are frequent words of languages with Latin letters. No word is in two lists of which one is English's, and none is a word that
// programs or English texts have for other reasons (die, do, no, in, data, per, main, val, var …).
var stops = map[string]map[string]bool{
	"English": wordSet(`the of and to is for that this with it on as be are not by from or an have was when which will if we can has but at all there their its would
should been were they use used using so than then also only because into does now don't isn't doesn't after before instead where what how`),
	"German": wordSet(`der das und ist nicht ein eine einen einem einer wird werden für mit auf von dem des zu im als auch wenn durch bei nach kann sich oder sind noch wie über
aus nur aber hat wurde diese dieser dieses muss soll zum zur mehr keine sollte jetzt beim vom`),
	"French":     wordSet(`le la les des une est dans pour que qui pas ne sur avec ce cette sont plus par aux être du et ou où été fait si mais comme leur lors afin ajout sans au vers permet`),
	"Spanish":    wordSet(`el los las una es para que por con del se lo como más pero sus está cuando sin sobre este esta ser también fue son ahora entre al y ya añadir`),
	"Portuguese": wordSet(`os uma para não com que dos das por mais como mas foi ao ele são quando muito nos já está também pelo pela até isso ela entre sem mesmo aos seus quem nas você é à`),
	"Italian":    wordSet(`il che di una non sono della dei delle nel alla più anche come gli questo questa viene essere quando dal dalla sul nella degli è ma aggiunto stato`),
	"Dutch":      wordSet(`het een van niet voor met zijn dat deze wordt naar bij ook maar nog als uit kan moet worden aan heeft dit wanneer geen te en je`),
	"Polish":     wordSet(`nie jest się na że przez oraz jak dla od po przy ale jego tak już tylko być został zostały które który można także gdy w z`),
	"Swedish":    wordSet(`och att det som är inte på för av med den till ett har från om vid eller när kan ska nu så utan blir`),
	"Danish":     wordSet(`og det som er ikke på af med den til et har fra om ved eller når skal nu så uden bliver blev kan der`),
	"Czech":      wordSet(`je se na že pro jako ale při není nebo podle jsou po byl bude aby která který také když z v`),
	"Turkish":    wordSet(`ve bir bu için ile olarak değil daha olan gibi çok kadar ama sonra ise yok tarafından eklendi`),
	"Finnish":    wordSet(`ja ei se että oli joka kun mutta myös tai ovat kuin jos nyt niin vain sitä tämä`),
	"Indonesian": wordSet(`yang dan untuk tidak dengan ini pada dari dalam adalah akan itu juga ke sudah bisa ada oleh atau saat karena`),
	"Romanian":   wordSet(`și nu este pentru care din cu la pe să sunt mai sau fost prin ca dar când acest această`),
	"Hungarian":  wordSet(`az és nem egy hogy van meg csak már még ez vagy lehet ha kell szerint után volt`),
	"Vietnamese": wordSet(`và của là không cho các được trong một có với khi để những này từ đã`),
}

// noise is what no language test should read: code, links, paths, addresses and trailers.
var noise = regexp.MustCompile("(?s)```.*?(?:```|\\z)|`[^`\n]*`|\\S*(?:://|@|/|::|_|\\.\\w)\\S*|<[^>\n]{1,80}>|(?m:^(?:\t| {4}|>|\\$).*$)|(?m:^[A-Z][A-Za-z-]+: .*$)")

// Less than this is no text of a language: titles of changes hold many foreign names.
const (
	minStops    = 3  // foreign frequent words, with repetition
	minDistinct = 3  // different ones
	maxPerWord  = 10 // at least one of that many words is one
)

// language is the foreign language that most of a text's frequent words are of, "" if they are English's or too few, and the first
// line that shows it.
func language(text string) (name, line string) {
	clean := noise.ReplaceAllString(text, " ")
	words := strings.FieldsFunc(strings.ToLower(clean), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	hits, distinct := map[string]int{}, map[string]map[string]bool{}
	for _, w := range words {
		for lang, list := range stops {
			if list[w] {
				hits[lang]++
				if distinct[lang] == nil {
					distinct[lang] = map[string]bool{}
				}
				distinct[lang][w] = true
			}
		}
	}
	best := ""
	for lang, n := range hits {
		if lang != "English" && (best == "" || n > hits[best] || n == hits[best] && lang < best) {
			best = lang
		}
	}
	n := hits[best]
	if n < minStops || len(distinct[best]) < minDistinct || n*maxPerWord < len(words) || n <= 2*hits["English"] {
		return "", ""
	}
	return best, foreignLine(clean, stops[best])
}

// foreignLine is the first line with two of the words.
func foreignLine(text string, list map[string]bool) string {
	for line := range strings.Lines(text) {
		n := 0
		for _, w := range strings.Fields(strings.ToLower(line)) {
			if list[strings.Trim(w, ".,;:!?()\"")] {
				n++
			}
		}
		if n > 1 {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(text)
}

// anotherLanguage: B9. The statement is written with Latin letters, in a language that is not English.
func anotherLanguage(p Pair) (Finding, bool) {
	name, line := language(p.Statement.Text())
	return Finding{Judge: PairFairness, Code: "B9", Name: "another-language", Quote: quoteOf(p.Statement.Text(), line), Keeps: true}, name != ""
}

// quoteOf is the line of a text that has the words of a line whose code was taken out.
func quoteOf(text, line string) string {
	best, most := "", 0
	for l := range strings.Lines(text) {
		n := 0
		for _, w := range strings.Fields(line) {
			if strings.Contains(l, w) {
				n++
			}
		}
		if n > most {
			best, most = strings.TrimSpace(l), n
		}
	}
	return best
}
