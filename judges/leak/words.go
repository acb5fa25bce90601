package leak

import (
	"strings"
	"unicode"
)

// Split cuts an identifier into its words, in lower case: retryBudget, RETRY_BUDGET, retry-budget and HTTPRetry2Budget into retry,
// budget and so on. Digits stay with the word before them.
func Split(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])):
			end()
		case unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && i > 0 && unicode.IsUpper(runes[i-1]):
			// HTTPServer: the last capital begins the next word; but not the s of URLs.
			if i+2 < len(runes) && unicode.IsLower(runes[i+2]) || runes[i+1] != 's' {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return out
}

// key is the same for all spellings of an identifier.
func key(name string) string { return strings.Join(Split(name), " ") }

// compound reports whether a name is one that no prose holds by chance: it has capitals inside, or marks between its words.
func compound(name string) bool {
	parts := Split(name)
	if len(parts) < 2 || len(strings.Join(parts, "")) < 5 {
		return false
	}
	// Words with a hyphen are prose; those with two ("re-use-ability") too.
	return strings.ContainsRune(strings.Trim(name, "_$"), '_') || strings.IndexFunc(name, unicode.IsUpper) >= 0 && !strings.Contains(name, "-") ||
		strings.HasPrefix(name, "--")
}

// common are words of prose and of every program. A name that is one of them says nothing, and a phrase needs two others.
var common = set(`a about above add added adds after again all allow allowed also always an and another any api app are argument arguments
array as at be because been before begin being below between bool boolean both bug build but by byte bytes call called can case catch change
changes char check class clean clear close code command common const content context copy correct count create created current data debug
default define delete detail details different dir directory disable do does done double each else empty enable end entry enum env error
errors even event every example exception exit expected export extra fail failed fails failure false field fields file files final find
first fix fixed flag float for foo bar baz format found from function functions get given go goes had handle handler has have head header
help here how id if ignore import in index info init input insert instance instead int integer interface internal into invalid is issue it
item items its just key keys kind last left length less let level library like line lines link list load local log long loop main make
many map match max may message method min mode model module more most move must name names need needs new next no node none not note now
null number object of off old on one only open option optional options or order other out output over own package parameter parent parse
part pass path point possible print private process project property provide public put query random range raw read real reason record
reference release remove removed replace report request required reset resource response rest result results return returned returns right
root rule run running safe same save see select self server service set should show side simple since single size skip so some source spec
start state static status step still stop str string strings struct such support sure switch system table tag target task test tests text
than that the their them then there these they thing this those three through time title to token too top true try two type types under
unit unknown until up update use used user users uses using valid value values var variable version very via view void wait want was way
we were what when where whether which while who why will with within without word work works would write wrong x y yes yet you zero`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// rare counts the words that are not common.
func rare(words []string) int {
	n := 0
	for _, w := range words {
		if len(w) > 2 && !common[w] {
			n++
		}
	}
	return n
}

// word is a word of a text, at bytes Start to End.
type word struct {
	text       string
	lower      string
	start, end int
	code       bool // stands among code marks
}

// read cuts a text into words: names as programs have them, and numbers.
func read(text string) []word {
	code := codeSpans(text)
	var out []word
	for i := 0; i < len(text); {
		n := nameLen(text[i:])
		if n == 0 && text[i] >= '0' && text[i] <= '9' {
			n = numberLen(text[i:])
		}
		if n == 0 {
			i++
			continue
		}
		for len(code) > 0 && code[0].end <= i {
			code = code[1:]
		}
		w := word{text: text[i : i+n], start: i, end: i + n, code: len(code) > 0 && code[0].start <= i}
		w.lower = strings.ToLower(w.text)
		w.code = w.code || strings.HasPrefix(text[w.end:], "()")
		out = append(out, w)
		i += n
	}
	return out
}

// codeSpans are the ranges between back-quotes, single or fenced.
func codeSpans(text string) []word {
	var out []word
	for i := 0; i < len(text); {
		start := strings.IndexByte(text[i:], '`')
		if start < 0 {
			break
		}
		start += i
		marks := prefixLen(text[start:], func(r rune) bool { return r == '`' })
		end := strings.Index(text[start+marks:], text[start:start+marks])
		if end < 0 {
			i = start + marks
			continue
		}
		end += start + marks
		out = append(out, word{start: start, end: end})
		i = end + marks
	}
	return out
}
