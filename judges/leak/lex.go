package leak

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenKind says what a token is to a reader.
type TokenKind int

// The kinds of tokens. Marks and white space make none.
const (
	Name    TokenKind = iota + 1 // an identifier or a keyword
	Literal                      // what stands between quotation marks, escapes as written
	Number                       // digits, with point, exponent or base as written
	Comment                      // the words of a comment
)

// Token is a word of a program.
type Token struct {
	Kind TokenKind
	Text string
	Line int // from 0, where the token begins
	// Start and End are bytes of the piece, marks of strings and comments included.
	Start, End int
}

// maxToken is the longest token that is kept, in bytes: what is longer is data, and names nothing.
const maxToken = 2000

// style is how a language writes what is no code.
type style struct {
	line      []string // marks of comments to the end of the line
	block     [2]string
	quotes    string // marks of strings
	chars     bool   // ' holds one character, and may stand alone (lifetimes, labels)
	triple    bool   // """ and ''' hold several lines
	prose     bool   // no code at all
	multiline string // quotes that go on over lines
}

var (
	slashes = style{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'`", multiline: "`"}
	cFamily = style{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'", chars: true, triple: true}
	goLike  = style{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "\"'`", chars: true, multiline: "`"}
	hashes  = style{line: []string{"#"}, quotes: "\"'", triple: true}
	dashes  = style{line: []string{"--"}, quotes: "\"'"}
	lisps   = style{line: []string{";"}, quotes: "\"", multiline: "\""}
	percent = style{line: []string{"%"}, quotes: "\""}
	markup  = style{block: [2]string{"<!--", "-->"}, quotes: "\"'"}
	words   = style{prose: true}
)

var styles = map[string]style{
	".c": cFamily, ".h": cFamily, ".cc": cFamily, ".cpp": cFamily, ".cxx": cFamily, ".hpp": cFamily, ".hh": cFamily, ".m": cFamily,
	".java": cFamily, ".cs": cFamily, ".rs": cFamily, ".swift": cFamily, ".kt": cFamily, ".kts": cFamily, ".scala": cFamily,
	".zig": cFamily, ".d": cFamily, ".go": goLike,
	".py": hashes, ".pyi": hashes, ".pyx": hashes, ".rb": hashes, ".sh": hashes, ".bash": hashes, ".zsh": hashes, ".fish": hashes,
	".pl": hashes, ".pm": hashes, ".t": hashes, ".r": hashes, ".jl": hashes, ".ex": hashes, ".exs": hashes, ".nim": hashes,
	".yaml": hashes, ".yml": hashes, ".toml": hashes, ".cfg": hashes, ".ini": hashes, ".conf": hashes, ".cmake": hashes, ".nix": hashes,
	".mk": hashes, ".am": hashes, ".build": hashes, ".tcl": hashes, ".coffee": hashes,
	".sql": dashes, ".lua": dashes, ".hs": dashes, ".elm": dashes, ".adb": dashes, ".ads": dashes,
	".lisp": lisps, ".el": lisps, ".clj": lisps, ".cljs": lisps, ".scm": lisps, ".rkt": lisps, ".tex": percent, ".erl": percent,
	".html": markup, ".htm": markup, ".xml": markup, ".svg": markup, ".xhtml": markup,
	".md": words, ".txt": words, ".rst": words, ".adoc": words, ".po": words, ".log": words, ".1": words, ".8": words,
}

// styleOf guesses by the file's name; what is unknown is read as one of the languages with slashes.
func styleOf(name string) style {
	base := strings.ToLower(path.Base(name))
	if s, ok := styles[path.Ext(base)]; ok {
		return s
	}
	if base == "makefile" || base == "dockerfile" || base == "rakefile" || base == "gemfile" {
		return hashes
	}
	return slashes
}

// Lex cuts a piece of a file into tokens. The file's name says how comments and strings look; a piece that begins in the middle of
// a comment or a string is read as well as can be, and never fails.
func Lex(name, text string) []Token {
	l := lexer{style: styleOf(name), text: text, endless: map[byte]int{}}
	for l.at < len(l.text) {
		l.next()
	}
	return l.out
}

type lexer struct {
	style style
	text  string
	at    int
	line  int
	out   []Token
	// Up to where a mark is known to have no end, by its first byte: no byte is searched twice for it.
	endless map[byte]int
}

// next reads one token or skips one rune.
func (l *lexer) next() {
	rest := l.text[l.at:]
	if !l.style.prose {
		if l.comment(rest) || l.quoted(rest) {
			return
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case startsName(r):
		l.take(Name, nameLen(rest), 0, 0)
	case r >= '0' && r <= '9':
		l.take(Number, numberLen(rest), 0, 0)
	default:
		l.skip(size)
	}
}

// skip goes on by n bytes and counts their lines.
func (l *lexer) skip(n int) {
	l.line += strings.Count(l.text[l.at:l.at+n], "\n")
	l.at += n
}

// take makes a token of the next n bytes but for its marks at both ends.
func (l *lexer) take(kind TokenKind, n, front, back int) {
	if text := l.text[l.at+front : l.at+n-back]; text != "" && len(text) <= maxToken {
		l.out = append(l.out, Token{Kind: kind, Text: text, Line: l.line, Start: l.at, End: l.at + n})
	}
	l.skip(n)
}

func (l *lexer) comment(rest string) bool {
	for _, mark := range l.style.line {
		if strings.HasPrefix(rest, mark) {
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.take(Comment, n, len(mark), 0)
			return true
		}
	}
	open, shut := l.style.block[0], l.style.block[1]
	if open == "" || !strings.HasPrefix(rest, open) || l.endless[open[0]] > l.at {
		return false
	}
	end := strings.Index(rest[len(open):], shut)
	if end < 0 {
		l.endless[open[0]] = len(l.text)
		return false // a hunk may end before the comment does: its words are read as code
	}
	l.take(Comment, len(open)+end+len(shut), len(open), len(shut))
	return true
}

func (l *lexer) quoted(rest string) bool {
	if strings.IndexByte(l.style.quotes, rest[0]) < 0 {
		return false
	}
	q := rest[:1]
	if triple := strings.Repeat(q, 3); l.style.triple && strings.HasPrefix(rest, triple) {
		// Without its end this mark is more likely the end of a string that began before the piece.
		end := strings.Index(rest[3:], triple)
		if end < 0 {
			l.skip(3)
		} else {
			l.take(Literal, end+6, 3, 3)
		}
		return true
	}
	if l.endless[rest[0]] > l.at {
		l.skip(1)
		return true
	}
	end, ok := closing(rest, strings.Contains(l.style.multiline, q))
	if !ok {
		l.endless[rest[0]] = l.at + end
	}
	switch {
	case !ok, q == "'" && l.style.chars && rest[1] != '\\' && utf8.RuneCountInString(rest[1:end]) != 1:
		l.skip(1)
	default:
		l.take(Literal, end+1, 1, 1)
	}
	return true
}

// closing is where the mark that text begins with stands again, unescaped; not ok: nowhere before end, where its line ends or all.
func closing(text string, multiline bool) (end int, ok bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return i, true
		case text[i] == '\\':
			i++
		case text[i] == '\n' && !multiline:
			return i, false
		}
	}
	return len(text), false
}

func startsName(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

func nameLen(s string) int {
	return prefixLen(s, func(r rune) bool { return startsName(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) })
}

// numberLen takes a number with its point, base and exponent, and dotted ones as versions are, but not a point that ends a
// sentence.
func numberLen(s string) int {
	n := prefixLen(s, func(r rune) bool {
		return r < utf8.RuneSelf && (r == '.' || r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r))
	})
	for n > 1 && (s[n-1] == '.' || s[n-1] == '_') {
		n--
	}
	return n
}

func prefixLen(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}
