// Package testid has the words for test functions as the sources of a state name them, and matches their names with ids of reports.
//
// A source often tells only a part of a name, such as a title with a value in it. It knows no test tool: each says itself what it makes of
// a function's names.
package testid

import (
	"regexp"
	"strings"
)

// Function is a test function of a file, or what a language has for one.
type Function struct {
	File string // path in the tree
	Path []Name // from the outside in, without what the file's own place makes: classes, blocks, modules, and its own name
}

// Name is a name as far as it is known: pieces of text with anything between one and the next. One piece is the whole.
type Name []string

// any reports whether nothing is known of a name.
func (n Name) any() bool { return strings.Join(n, "") == "" && len(n) > 1 }

// Joined is the path as one name. What follows a name of which nothing is known may follow at once: it may stand for no name at all.
func (f Function) Joined(separator string) Name {
	var out Name
	for i, n := range f.Path {
		if len(n) == 0 {
			return nil
		}
		if i > 0 && !f.Path[i-1].any() {
			n = append(Name{separator + n[0]}, n[1:]...)
		}
		if len(out) == 0 {
			out = append(out, n...)
			continue
		}
		out[len(out)-1] += n[0]
		out = append(out, n[1:]...)
	}
	return out
}

// Match reports whether a text may be the name, all of it.
func (n Name) Match(s string) bool {
	last := len(n) - 1
	if last < 0 || !strings.HasPrefix(s, n[0]) {
		return false
	}
	if s = s[len(n[0]):]; last == 0 {
		return s == ""
	}
	for _, piece := range n[1:last] {
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return strings.HasSuffix(s, n[last])
}

// Begins reports whether a text is the name, or begins with all of it before one of some characters.
func (n Name) Begins(s, before string) bool {
	if n.Match(s) {
		return true
	}
	for i, c := range s {
		if strings.ContainsRune(before, c) && n.Match(s[:i]) {
			return true
		}
	}
	return false
}

// In is what stands behind "::" in the id of a test whose place is a file of the tree.
func In(file, id string) (rest string, ok bool) { return strings.CutPrefix(id, file+"::") }

var number = regexp.MustCompile(`#[0-9]+$`)

// Unnumbered is a name without the number by which tests of one name are told apart.
func Unnumbered(s string) string { return number.ReplaceAllString(s, "") }
