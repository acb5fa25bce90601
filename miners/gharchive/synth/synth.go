// Package synth writes hour files that no archive ever held, for benchmarks and tests: the same seed gives the same bytes.
//
// The forms are those of GH Archive's five eras, written down from GitHub's documentation of event payloads and from single events
// that public projects quote in their tests; no text is copied. Names, ids and prose come from a random source. The mix of types is
// that of busy hours of 2020 to 2023 as far as it is published. TestShape holds what makes such a file cost what a real one costs:
// gzip makes it five to eight times smaller (6.9), half of the lines are shorter than 1.5 kB and one in a hundred longer than 15 kB, and
// pull requests are a twentieth of the events and a third of the bytes. It never claims to be data.
package synth

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Era is a form of the archive.
type Era int

// The eras, by when they began.
const (
	API2011      Era = iota // repo is often "/", pushes have shas
	Timeline2012            // repository and actor_attributes, no ids
	Events2015              // today's frame, pushes list commits
	Crawler2025             // the same, filed by the crawler's clock
	Short2025               // pushes and pull requests without texts
)

// Config says what to write.
type Config struct {
	Seed  uint64
	Bytes int64 // at least, uncompressed
	Era   Era
	Start time.Time // of the hour; default a moment of the era
	// Leads is how many of a thousand texts speak of a defect's origin; 0 for what looks usual, which is 3.
	Leads int
}

// starts are the default hours.
var starts = map[Era]time.Time{
	API2011: time.Date(2011, 10, 3, 15, 0, 0, 0, time.UTC), Timeline2012: time.Date(2013, 8, 6, 3, 0, 0, 0, time.UTC),
	Events2015: time.Date(2021, 3, 10, 15, 0, 0, 0, time.UTC), Crawler2025: time.Date(2025, 6, 11, 15, 0, 0, 0, time.UTC),
	Short2025: time.Date(2025, 11, 12, 15, 0, 0, 0, time.UTC),
}

// Write writes whole lines until there are enough bytes, and tells how many events there are.
func Write(w io.Writer, c Config) (events int, err error) {
	if c.Start.IsZero() {
		c.Start = starts[c.Era]
	}
	if c.Leads == 0 {
		c.Leads = 3
	}
	g := newGenerator(c)
	out := bufio.NewWriterSize(w, 1<<18)
	for n := int64(0); n < c.Bytes; events++ {
		g.b.Reset()
		g.event()
		g.b.WriteByte('\n')
		n += int64(g.b.Len())
		if _, err := io.WriteString(out, g.b.String()); err != nil {
			return events, err
		}
	}
	return events, out.Flush()
}

// generator is the state of one file.
type generator struct {
	c     Config
	r     *rand.Rand
	b     strings.Builder
	words []string
	id    int64
	tick  time.Duration // since the hour's beginning
	names map[string]repo
	owner []string
}

// repo is a repository that events repeat: busy ones come again and again, which is half of why files compress.
type repo struct {
	id          int64
	owner, name string
	ownerID     int64
	about       string
	branch      string
}

func (p repo) full() string { return p.owner + "/" + p.name }

func newGenerator(c Config) *generator {
	g := &generator{c: c, r: rand.New(rand.NewPCG(c.Seed, 42)), id: 15_600_000_000 + int64(c.Seed%1000)*1_000_000, names: map[string]repo{}}
	const vowels, consonants = "aeiou", "bcdfghklmnprstvw"
	seen := map[string]bool{}
	for len(g.words) < 6000 {
		var w []byte
		for range 1 + g.r.IntN(4) {
			w = append(w, consonants[g.r.IntN(len(consonants))], vowels[g.r.IntN(len(vowels))])
			if g.r.IntN(3) == 0 {
				w = append(w, consonants[g.r.IntN(len(consonants))])
			}
		}
		if s := string(w); !seen[s] {
			seen[s] = true
			g.words = append(g.words, s)
		}
	}
	return g
}

// p writes with a format; all of the forms below are made of it.
func (g *generator) p(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

// one tells whether something that happens n times in a thousand happens now.
func (g *generator) one(n int) bool { return g.r.IntN(1000) < n }

// word prefers the first ones, as languages do.
func (g *generator) word() string {
	x := g.r.Float64()
	return g.words[int(x*x*x*float64(len(g.words)))]
}

func (g *generator) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[g.r.IntN(16)]
	}
	return string(b)
}

// login is a person's name: few people make most events.
func (g *generator) login() string {
	if len(g.owner) > 50 && g.one(500) {
		return g.owner[int(g.skew()*float64(len(g.owner)))]
	}
	s := g.word() + []string{"", "-dev", "42", "x", "-" + g.word()}[g.r.IntN(5)]
	if g.one(400) {
		s += fmt.Sprint(g.r.IntN(9999))
	}
	g.owner = append(g.owner, s)
	return s
}

func (g *generator) skew() float64 { x := g.r.Float64(); return x * x }

func (g *generator) repo() repo {
	if n := len(g.names); n > 50 && g.one(450) {
		if p, ok := g.names[fmt.Sprint(int(g.skew()*float64(n)))]; ok {
			return p
		}
	}
	p := repo{
		id: 1_000_000 + g.r.Int64N(600_000_000), owner: g.login(), name: g.word() + []string{"", "-" + g.word(), ".js", "_" + g.word(), "-api"}[g.r.IntN(5)],
		ownerID: 1000 + g.r.Int64N(90_000_000), about: g.sentence(3 + g.r.IntN(9)), branch: []string{"main", "main", "master", "develop"}[g.r.IntN(4)],
	}
	g.names[fmt.Sprint(len(g.names))] = p
	return p
}

// sentence is prose without a meaning.
func (g *generator) sentence(words int) string {
	var s strings.Builder
	for i := range words {
		if i > 0 {
			s.WriteByte(' ')
		}
		w := g.word()
		switch {
		case i == 0:
			w = strings.ToUpper(w[:1]) + w[1:]
		case g.one(15):
			w = "`" + w + "_" + g.word() + "()`"
		case g.one(6):
			w = `\"` + w + `\"`
		case g.one(4):
			w += "é"
		}
		s.WriteString(w)
	}
	return s.String()
}

// body is a text of several paragraphs, with the escapes that JSON needs.
func (g *generator) body() string {
	n := 1 + int(g.skew()*g.skew()*30)
	var s strings.Builder
	for i := range n {
		if i > 0 {
			s.WriteString([]string{`\r\n`, `\r\n\r\n`, `\n`, `\n\n- `, `\r\n- [x] `}[g.r.IntN(5)])
		}
		switch {
		case g.one(30):
			fmt.Fprintf(&s, `%s #%d`, g.sentence(4), 1+g.r.IntN(9000))
		case g.one(60):
			fmt.Fprintf(&s, `https://github.com/%s/%s/issues/%d`, g.word(), g.word(), 1+g.r.IntN(9000))
		case g.one(40):
			fmt.Fprintf(&s, "```\\r\\n  at %s.%s (%s.js:%d:%d)\\r\\n  at %s.%s (%s.js:%d:%d)\\r\\n```", g.word(), g.word(), g.word(), g.r.IntN(900), g.r.IntN(80), g.word(), g.word(), g.word(), g.r.IntN(900), g.r.IntN(80))
		case g.one(15):
			s.WriteString("fix " + g.word() + " in " + g.hex(7))
		default:
			s.WriteString(g.sentence(4+g.r.IntN(16)) + ".")
		}
	}
	return s.String()
}

// moment is the time of the next event.
func (g *generator) moment() time.Time {
	g.tick += time.Duration(g.r.IntN(25)) * time.Millisecond
	t := g.tick % time.Hour
	if g.c.Era >= Crawler2025 {
		t -= time.Duration(g.r.IntN(120)) * time.Second // as the crawler met them
	}
	return g.c.Start.Add(t)
}
