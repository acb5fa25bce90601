// Package pynarrow leaves out of Python test files what cannot be imported, and all that names it. The test tools of Python share
// it; each reads its own words for what failed.
//
// It never edits inside of a statement, but for names of an import, and runs nothing.
package pynarrow

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/narrow"
)

// Error is one module that could not be imported: the last place of the traceback, and what was raised there.
type Error struct {
	File    string // as the tool names it
	Line    int
	Message string // "ImportError: cannot import name 'x' from 'm' (…)"
	Syntax  bool   // the file itself is no Python for that interpreter
}

var (
	noName   = regexp.MustCompile(`^ImportError: cannot import name '([^']+)' from `)
	noModule = regexp.MustCompile(`^ModuleNotFoundError: No module named '([^']+)'`)
)

// Narrow drops the imports that fail when a test tool collects files, and all that names what they bring: Python itself would
// complain only when a test runs, which would look like a failed test. What is dropped takes what names it along, and a
// fixture of a conftest.py the tests below that folder.
func Narrow(files map[string][]byte, errors []Error) narrow.Edit {
	n := &pyNarrowing{files: files, edit: narrow.Begin(files), modules: map[string]*pyModule{}}
	for _, err := range errors {
		if why := n.fail(err); why != "" {
			return narrow.Stuck("%s", why)
		}
	}
	if why := n.spread(); why != "" {
		return narrow.Stuck("%s", why)
	}
	for _, name := range slices.Sorted(maps.Keys(n.modules)) {
		n.modules[name].save(n.edit)
	}
	return n.edit.Finish()
}

type pyNarrowing struct {
	files   map[string][]byte
	edit    *narrow.Edit
	modules map[string]*pyModule
}

func (n *pyNarrowing) open(name string) (*pyModule, error) {
	if m := n.modules[name]; m != nil {
		return m, nil
	}
	m, err := openPython(name, n.files[name])
	if err == nil {
		n.modules[name] = m
	}
	return m, err
}

// fail deals with one error; it returns why that is not possible, or "".
func (n *pyNarrowing) fail(err Error) string {
	name := narrow.Match(n.files, err.File)
	if name == "" {
		return fmt.Sprintf("%s:%d: %s", err.File, err.Line, err.Message)
	}
	if _, there := n.edit.Files[name]; !there {
		return ""
	}
	m, parseErr := n.open(name)
	if err.Syntax || parseErr != nil {
		if isConftest(name) {
			return name + " cannot be parsed, and tests may need its fixtures"
		}
		delete(n.modules, name)
		n.edit.DropFile(name, "it cannot be parsed: "+err.Message)
		return ""
	}
	u := m.unitAt(err.Line)
	if u == nil {
		return fmt.Sprintf("%s: no statement holds line %d: %s", name, err.Line, err.Message)
	}
	return m.dropAt(u, err.Message)
}

// unitAt finds the innermost unit that holds a line.
func (m *pyModule) unitAt(line int) *pyUnit {
	var found *pyUnit
	for _, u := range m.units {
		holds := int(u.node.StartPoint().Row) < line && line <= int(u.node.EndPoint().Row)+1
		if holds && (found == nil || u.parent == found) {
			found = u
		}
	}
	return found
}

// dropAt drops what fails: of an import that lacks one name, that name only.
func (m *pyModule) dropAt(u *pyUnit, because string) string {
	if u.kind != "import" {
		return m.drop(u, because)
	}
	parts := m.imported(u.node)
	if slices.ContainsFunc(parts, func(p pyImport) bool { return p.as == "*" }) {
		return m.name + " imports everything from what is not here: " + because
	}
	at := slices.IndexFunc(parts, func(p pyImport) bool { return failing(p, u.node.Type(), because) })
	if at < 0 || len(parts) == 1 {
		return m.drop(u, because)
	}
	part := parts[at]
	if slices.ContainsFunc(m.dropped, func(d *pyUnit) bool { return d.node.Equal(part.node) }) {
		return "" // pytest says it twice
	}
	m.mark(&pyUnit{
		node: part.node, span: partSpan(parts, at), kind: "import", name: part.name, binds: []string{part.as},
	}, because)
	return ""
}

func failing(p pyImport, statement, because string) bool {
	if x := noName.FindStringSubmatch(because); x != nil {
		return p.name == x[1]
	}
	x := noModule.FindStringSubmatch(because)
	return x != nil && statement == "import_statement" && (p.name == x[1] || strings.HasPrefix(p.name, x[1]+"."))
}

// partSpan is the range of one name of several, with the comma that belongs to it.
func partSpan(parts []pyImport, at int) narrow.Span {
	s := nodeSpan(parts[at].node)
	if at+1 < len(parts) {
		return narrow.Span{Start: s.Start, End: int(parts[at+1].node.StartByte())}
	}
	return narrow.Span{Start: int(parts[at-1].node.EndByte()), End: s.End}
}

// setUps are functions that others run without naming them.
var setUps = map[string]bool{
	"setup_module": true, "teardown_module": true, "setup_function": true, "teardown_function": true, "setUpModule": true,
	"tearDownModule": true, "setUp": true, "tearDown": true, "setUpClass": true, "tearDownClass": true, "asyncSetUp": true,
	"asyncTearDown": true, "setup_class": true, "teardown_class": true, "setup_method": true, "teardown_method": true, "setup": true,
	"teardown": true, "__init__": true, "pytestmark": true, "pytest_plugins": true,
}

// drop marks a unit. What others silently rely on cannot go: for a class's own set-up the class goes instead.
func (m *pyModule) drop(u *pyUnit, because string) string {
	if u.gone {
		return ""
	}
	silent := slices.ContainsFunc(u.binds, func(b string) bool { return setUps[b] || strings.HasPrefix(b, "pytest_") })
	if silent || m.automatic(u) {
		if u.parent == nil {
			return fmt.Sprintf("%s: %s cannot be dropped: %s", m.name, u.name, because)
		}
		u = u.parent
	}
	m.mark(u, because)
	return ""
}

// automatic finds fixtures that apply without being named.
func (m *pyModule) automatic(u *pyUnit) bool {
	if u.node.Type() != "decorated_definition" {
		return false
	}
	return bytes.Contains(m.src[u.span.Start:u.span.End], []byte("autouse"))
}

func (m *pyModule) mark(u *pyUnit, because string) {
	if !u.gone {
		u.gone, u.because = true, because
		m.dropped = append(m.dropped, u)
	}
}

// spread drops what names something dropped until nothing does.
func (n *pyNarrowing) spread() string {
	for done := map[*pyUnit]bool{}; ; {
		before := len(done)
		for _, name := range slices.Sorted(maps.Keys(n.modules)) {
			m := n.modules[name]
			for i := 0; i < len(m.dropped); i++ {
				if u := m.dropped[i]; !done[u] {
					done[u] = true
					if why := n.follow(m, u); why != "" {
						return why
					}
				}
			}
		}
		if len(done) == before {
			return ""
		}
	}
}

// follow drops what names the bindings of one dropped unit.
func (n *pyNarrowing) follow(m *pyModule, u *pyUnit) string {
	if u.parent != nil {
		return m.followMethod(u)
	}
	for _, name := range u.binds {
		because := "it names " + name + ", which was dropped"
		if why := m.dropUsers(name, nil, because); why != "" {
			return why
		}
		if isConftest(m.name) && u.kind != "import" {
			if why := n.below(path.Dir(m.name), name, because); why != "" {
				return why
			}
		}
	}
	return ""
}

// followMethod stays in the class: there a method is named through self, and a fixture plainly.
func (m *pyModule) followMethod(u *pyUnit) string {
	because := "it names " + u.name + ", which was dropped"
	if m.fixture(u) {
		if why := m.dropUsers(u.name, u.parent, because); why != "" {
			return why
		}
	}
	return m.dropUsers("self."+u.name, u.parent, because)
}

func (m *pyModule) fixture(u *pyUnit) bool {
	return u.node.Type() == "decorated_definition" && bytes.Contains(m.src[u.span.Start:u.span.End], []byte("fixture"))
}

// below drops the users of a conftest's fixture in the overlay's files of its folder.
func (n *pyNarrowing) below(dir, name, because string) string {
	for _, file := range slices.Sorted(maps.Keys(n.edit.Files)) {
		in := dir == "." || strings.HasPrefix(file, dir+"/")
		if !in || !strings.HasSuffix(file, ".py") || !bytes.Contains(n.files[file], []byte(name)) {
			continue
		}
		m, err := n.open(file)
		if err != nil {
			return fmt.Sprintf("%s cannot be parsed and may name %s, which was dropped", file, name)
		}
		if why := m.dropUsers(name, nil, because); why != "" {
			return why
		}
	}
	return ""
}

// dropUsers drops the units that mention a name: of one class, or of the whole module.
func (m *pyModule) dropUsers(name string, class *pyUnit, because string) string {
	for _, u := range m.units {
		if u.gone || !u.uses[name] || class != nil && u.parent != class || u.kind == "import" {
			continue
		}
		if why := m.drop(u, because); why != "" {
			return why
		}
	}
	return ""
}

// save writes the module without what was dropped, or removes it if no definition is left.
func (m *pyModule) save(e *narrow.Edit) {
	if _, there := e.Files[m.name]; !there || len(m.dropped) == 0 {
		return
	}
	for _, u := range m.units { // a class without methods is no class
		if u.kind == "class" && !u.gone && m.emptied(u) {
			m.mark(u, "none of its methods is left")
		}
	}
	var spans []narrow.Span
	for _, u := range m.dropped {
		name := u.name
		if u.parent != nil {
			name = u.parent.name + "." + name
		}
		e.Dropped = append(e.Dropped, narrow.Drop{File: m.name, Name: name, Kind: u.kind, Line: line(u.node), Because: u.because})
		spans = append(spans, u.span)
	}
	if !slices.ContainsFunc(m.units, func(u *pyUnit) bool { return !u.gone && !m.idle(u) }) {
		e.DropFile(m.name, "nothing but imports is left")
		return
	}
	out := narrow.Cut(m.src, spans)
	if _, err := parsePython(out); err != nil {
		e.DropFile(m.name, "what is left cannot be parsed")
		return
	}
	e.Files[m.name] = out
}

// emptied says that a class had methods and all of them are dropped.
func (m *pyModule) emptied(class *pyUnit) bool {
	had := false
	for _, u := range m.units {
		if u.parent == class {
			if !u.gone {
				return false
			}
			had = true
		}
	}
	return had
}

// idle says that a unit does nothing by itself: an import, or a string that documents.
func (m *pyModule) idle(u *pyUnit) bool {
	if u.kind == "import" || u.parent != nil {
		return true
	}
	return u.node.Type() == "expression_statement" && u.node.NamedChildCount() == 1 && u.node.NamedChild(0).Type() == "string"
}
