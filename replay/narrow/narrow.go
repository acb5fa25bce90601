// Package narrow makes test files that name things which a state does not have fit that state, by leaving out whole
// declarations.
//
// Tests of a later change laid over an earlier state often do not build: some of them name what came later. The others
// may still show the defect. Narrowing drops the top-level functions, types, variables and imports in which the errors
// lie, and nothing else: what stays is byte for byte what it was, so no assertion is ever edited. It never drops what
// other tests would silently run without (TestMain, init, set-up functions, automatic fixtures): then it ends. What the errors are, and what a declaration is, each test tool knows (Func); here are the rounds
// and the mechanics that all share.
//
// A dropped test is not evidence of anything: whoever runs narrowed tests must leave the dropped ones out of account.
package narrow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/replay"
)

// Drop is one declaration, or whole file, that was left out.
type Drop struct {
	File    string `json:"file"`
	Name    string `json:"name"` // "TestX", "TestC.test_x"; of a file: its path
	Kind    string `json:"kind"` // func, method, type, class, var, const, import, statement or file
	Line    int    `json:"line"` // in the file as its round began
	Because string `json:"because"`
}

// Edit is what one round did. Files holds all files after it; a removed one is not in it.
type Edit struct {
	Files   map[string][]byte
	Removed []string // sorted
	Dropped []Drop   // in order of file and line
	// Stuck says why the errors cannot be narrowed away; then nothing else is set.
	Stuck string
}

// Narrowed is an overlay after all rounds.
type Narrowed struct {
	Overlay replay.Overlay `json:"overlay"`
	Dropped []Drop         `json:"dropped"`
	Built   bool           `json:"built"`
	// Stuck says why it does not build, if so.
	Stuck string `json:"stuck,omitempty"`
}

// Build tries an overlay: ok if its tests can be run, else output says where not. An error is the machinery's.
type Build func(ctx context.Context, o replay.Overlay) (output string, ok bool, err error)

// Func narrows files once, by what a tool said of them. Each test tool that can has one.
type Func func(files map[string][]byte, output string) Edit

// Rounds say how an overlay is narrowed.
type Rounds struct {
	Narrow Func   // nil: the tool knows no way
	Output string // what the first build, of the whole overlay, said
	Build  Build
	Most   int // builds, after which it gives up
}

// Loop narrows an overlay until it builds. It gives up when an error lies outside of the overlay or in what must not be
// dropped, when nothing is left, or after the most builds. A file of which nothing is left leaves the overlay: if the state
// has a file of that name, the state's own version is seen again. An error is Build's.
func Loop(ctx context.Context, o replay.Overlay, r Rounds) (Narrowed, error) {
	n := Narrowed{Overlay: o}
	if r.Narrow == nil {
		n.Stuck = "no way is known to leave out what does not build with this test tool"
		return n, nil
	}
	output := r.Output
	for range r.Most {
		if n.round(r.Narrow(contents(n.Overlay), output)); n.Stuck != "" {
			return n, nil
		}
		var err error
		if output, n.Built, err = r.Build(ctx, n.Overlay); err != nil {
			return n, fmt.Errorf("building a narrowed overlay: %w", err)
		}
		if n.Built {
			return n, nil
		}
	}
	n.Stuck = fmt.Sprintf("it does not build after %d rounds", r.Most)
	return n, nil
}

func (n *Narrowed) round(e Edit) {
	n.Stuck = e.Stuck
	if e.Stuck != "" {
		return
	}
	if len(e.Dropped) == 0 {
		n.Stuck = "the errors name nothing that could be dropped"
		return
	}
	n.Dropped = append(n.Dropped, e.Dropped...)
	if n.Overlay = apply(n.Overlay, e); len(n.Overlay.Files) == 0 {
		n.Stuck = "nothing is left"
	}
}

func contents(o replay.Overlay) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range o.Files {
		if f.Mode.IsRegular() {
			files[f.Path] = f.Data
		}
	}
	return files
}

// apply returns a new overlay; the old one is not changed.
func apply(o replay.Overlay, e Edit) replay.Overlay {
	next := replay.Overlay{Remove: o.Remove}
	for _, f := range o.Files {
		if slices.Contains(e.Removed, f.Path) {
			continue
		}
		if data, ok := e.Files[f.Path]; ok {
			f.Data = data
		}
		next.Files = append(next.Files, f)
	}
	return next
}

// Begin starts an edit of files, which it does not change.
func Begin(files map[string][]byte) *Edit {
	e := &Edit{Files: maps.Clone(files)}
	if e.Files == nil {
		e.Files = map[string][]byte{}
	}
	return e
}

// Finish puts an edit's lists in order.
func (e *Edit) Finish() Edit {
	slices.Sort(e.Removed)
	slices.SortStableFunc(e.Dropped, func(a, b Drop) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return *e
}

// Stuck is the edit of errors that cannot be narrowed away.
func Stuck(format string, args ...any) Edit { return Edit{Stuck: fmt.Sprintf(format, args...)} }

// DropFile removes a whole file.
func (e *Edit) DropFile(name, because string) {
	if _, ok := e.Files[name]; !ok {
		return
	}
	delete(e.Files, name)
	e.Removed = append(e.Removed, name)
	e.Dropped = append(e.Dropped, Drop{File: name, Name: name, Kind: "file", Line: 1, Because: because})
}

// Match finds the file that a tool calls name: the tool may run in a folder below the tree's root, or name files from
// the root of its file system. "" if none or several fit.
func Match(files map[string][]byte, name string) string {
	for strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		_, name, _ = strings.Cut(name, "/")
	}
	if _, ok := files[name]; ok {
		return name
	}
	found := ""
	for f := range files {
		if strings.HasSuffix(f, "/"+name) || strings.HasPrefix(name, "/") && strings.HasSuffix(name, "/"+f) {
			if found != "" {
				return ""
			}
			found = f
		}
	}
	return found
}

// Span is a range of bytes of a file.
type Span struct{ Start, End int }

// Cut removes spans. A line of which only white space is left goes with them.
func Cut(src []byte, spans []Span) []byte {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for _, s := range spans {
		s = wholeLines(src, s)
		if s.Start > at {
			out = append(out, src[at:s.Start]...)
		}
		at = max(at, s.End)
	}
	return append(out, src[at:]...)
}

// wholeLines widens a span to whole lines if nothing else is on its first and last line.
func wholeLines(src []byte, s Span) Span {
	start, end := s.Start, s.End
	for start > 0 && (src[start-1] == ' ' || src[start-1] == '\t') {
		start--
	}
	for end < len(src) && (src[end] == ' ' || src[end] == '\t' || src[end] == '\r') {
		end++
	}
	if (start > 0 && src[start-1] != '\n') || (end < len(src) && src[end] != '\n') {
		return s
	}
	return Span{start, min(end+1, len(src))}
}
