package leak

import (
	"regexp"
	"strings"
)

// clue is a piece of the later change that a statement must not hold.
type clue struct {
	kind     Kind
	source   string
	evidence string   // as written
	words    []string // lower case, taken apart where it is a name
	strength Strength
	marked   bool // counts only where the statement marks it as code
}

// clues of one change, by how they are looked for.
type clueSet struct {
	past    *past
	single  map[string]clue   // one word, as written
	byKey   map[string]clue   // compound names, in any spelling, and as words apart
	phrases map[string][]clue // by their first word
	count   int
	// The line that was looked at last, and whether its strings are shown to people.
	line  string
	shown bool
}

// maxClues bounds what one change can give.
const maxClues = 50000

func collect(in Input, p *past) *clueSet {
	s := &clueSet{past: p, single: map[string]clue{}, byKey: map[string]clue{}, phrases: map[string][]clue{}}
	s.patch("tests", clip(in.Tests)) // first: a test's name is one, even where the source's patch holds inline tests
	s.patch("fix", clip(in.Fix))
	for _, w := range read(aside.ReplaceAllString(clip(in.Words), " ")) {
		if compound(w.text) {
			s.name(clue{kind: Identifier, source: "words", evidence: w.text})
		}
	}
	return s
}

// aside are the parts of a discussion that say nothing of the code: addresses, and lines for machines.
var aside = regexp.MustCompile(`(?m)\S*(?:://|@)\S*|^[A-Za-z][A-Za-z-]*-[A-Za-z]+:.*$`)

func (s *clueSet) patch(source, patch string) {
	for _, f := range ReadPatch(patch) {
		for _, h := range f.Hunks {
			lines := strings.Split(h.After, "\n")
			for i, l := range lines {
				if h.Added[i] && s.count < maxClues {
					s.tests(source, l)
				}
			}
			for _, t := range Lex(f.Path, h.After) {
				if h.Added[t.Line] && s.count < maxClues {
					s.token(source, t, lines[t.Line])
				}
			}
		}
	}
}

// raises matches lines whose strings are shown to people.
var raises = regexp.MustCompile(`(?i)\b(?:raise|throw|panic|error|errorf|fatal|fatalf|warn|warning|exception|assert\w*|expect|printf?|println|fprintf|log|logger|die|bail|abort|failf?|message|msg)\b|error|exception|anyhow|ensure!`)

func (s *clueSet) token(source string, t Token, line string) {
	switch t.Kind {
	case Name:
		s.name(clue{kind: Identifier, source: source, evidence: t.Text})
	case Number:
		s.number(source, t.Text)
	case Comment:
		for _, w := range read(t.Text) {
			if compound(w.text) {
				s.name(clue{kind: Identifier, source: source, evidence: w.text})
			}
		}
	case Literal:
		kind := Text
		if line != s.line {
			s.line, s.shown = line, len(line) <= maxToken && raises.MatchString(line)
		}
		if s.shown {
			kind = Message
		}
		s.literal(kind, source, t.Text)
	}
}

// name adds an identifier that was not there before.
func (s *clueSet) name(c clue) {
	c.words = Split(c.evidence)
	if len(c.words) == 0 || len(c.evidence) < 4 || len(c.words) == 1 && common[c.words[0]] {
		return
	}
	if _, ok := s.single[c.evidence]; ok || s.past.named(c.evidence) {
		return
	}
	c.strength = Strong
	if !compound(c.evidence) {
		// A simple word may stand in prose by chance, and a text from before may be missing.
		c.marked = true
		if !s.past.tree {
			c.strength = Weak
		}
		s.single[c.evidence] = c
		s.count++
		return
	}
	// "isValid", "newFile": any program may have one that the texts at hand do not show. And people speak of names that were there
	// long before. A tree would know them.
	if !s.past.tree && (rare(c.words) == 0 || c.source == "words") {
		c.strength = Weak
	}
	s.single[c.evidence] = c
	if _, ok := s.byKey[strings.Join(c.words, " ")]; !ok {
		s.byKey[strings.Join(c.words, " ")] = c
	}
	s.count++
}

// holes are the places of a string where a program fills something in, and escapes.
var holes = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]|\$\{[^}]*\}|\$\w+|#\{[^}]*\}|\{[\w.:!]*\}|\\[nrt"'\\]|\\x[0-9a-fA-F]{2}|\\u\{?[0-9a-fA-F]+\}?`)

// literal adds a string: as a name where it is one word, else each piece between its holes as a run of words.
func (s *clueSet) literal(kind Kind, source, text string) {
	for _, piece := range holes.Split(text, -1) {
		found := read(piece)
		if len(found) == 1 {
			bare := strings.TrimSpace(piece)
			if c := (clue{kind: kind, source: source, evidence: bare}); compound(bare) || bare == found[0].text {
				s.name(c)
			}
			continue
		}
		s.run(clue{kind: kind, source: source, evidence: strings.TrimSpace(piece)}, found)
	}
}

// run adds a run of words, if it is long enough to be no chance.
func (s *clueSet) run(c clue, found []word) {
	letters := 0
	for _, w := range found {
		c.words = append(c.words, w.lower)
		letters += len(w.text)
	}
	if len(c.words) < 2 || len(c.words) > 60 || letters < 8 || rare(c.words) == 0 {
		return
	}
	c.strength = Weak
	if n := len(c.words); n >= 4 && letters >= 16 || n == 3 && rare(c.words) >= 2 && c.kind == Message {
		c.strength = Strong
	}
	first := c.words[0]
	for _, old := range s.phrases[first] {
		if strings.Join(old.words, " ") == strings.Join(c.words, " ") {
			return
		}
	}
	if len(s.phrases[first]) < 2000 {
		s.phrases[first] = append(s.phrases[first], c)
		s.count++
	}
}

// folded are the clue's words as a folded text has them.
func (c clue) folded() []string {
	var out []string
	for _, w := range read(c.evidence) {
		out = append(out, Split(w.text)...)
	}
	return out
}

// number adds a number with enough digits to be no chance.
func (s *clueSet) number(source, text string) {
	digits := strings.Trim(text, "0_.")
	if len(digits) < 3 || usual[text] || s.past.names[text] {
		return
	}
	if _, ok := s.single[text]; ok {
		return
	}
	strength := Weak
	if significant := strings.TrimRight(digits, "0"); len(significant) >= 5 || strings.Count(text, ".") == 1 && len(significant) >= 5 {
		strength = Strong
	}
	s.single[text] = clue{kind: Figure, source: source, evidence: text, strength: strength}
	s.count++
}

// usual are numbers that stand in any program: powers, sizes, ports, statuses.
var usual = set(`100 127 128 200 201 204 255 256 301 302 304 307 308 400 401 403 404 405 409 410 422 429 443 500 501 502 503 504 511 512
1000 1023 1024 2000 2047 2048 3000 4095 4096 5000 8000 8080 8192 10000 16384 32767 32768 65535 65536 100000 1000000 2147483647 2147483648
4294967295 4294967296 9223372036854775807 0xff 0xffff 0xffffffff 127.0.0.1 0.0.0.0 3.14 0644 0755 0600 0777`)

// testNames match the names of tests: functions by the prefix that runners look for, and cases by their description.
var (
	testFunc = regexp.MustCompile(`\b(?:def|func|fn|function|void|sub|it|fun)\s+((?:test|Test|Benchmark|Fuzz|Example)\w+|test_\w+|\w+_test|\w+Test)\b`)
	testCase = regexp.MustCompile("\\b(?:it|test|describe|context|scenario|specify|testset|t\\.Run|tape|group)(?:\\.\\w+)?[\\s(]+[\"'`]([^\"'`]{3,200})[\"'`]")
	prefixed = regexp.MustCompile(`^(?:test|Test|TEST)_?`)
)

// tests adds the names of the tests that a line begins.
func (s *clueSet) tests(source, line string) {
	if len(line) > maxToken {
		return
	}
	if m := testFunc.FindStringSubmatch(line); m != nil && !s.past.names[m[1]] {
		c := clue{kind: TestName, source: source, evidence: m[1], words: Split(m[1]), strength: Strong}
		s.single[m[1]] = c
		s.byKey[strings.Join(c.words, " ")] = c
		if bare := Split(prefixed.ReplaceAllString(m[1], "")); len(bare) >= 2 && rare(bare) > 0 {
			c.words, c.strength = bare, Weak
			s.byKey[strings.Join(bare, " ")] = c
		}
		s.count++
	}
	if m := testCase.FindStringSubmatch(line); m != nil {
		s.run(clue{kind: TestName, source: source, evidence: m[1]}, read(m[1]))
	}
}
