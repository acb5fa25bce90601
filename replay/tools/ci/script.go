package ci

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// marker stands for what only a run would know. No word of a closed form has it.
const marker = "\x01"

var expression = regexp.MustCompile(`\$\{\{[^\n]*?\}\}`)

// Bounds in bytes of what is read at once. A parser goes as deep as its text is nested: 250 kB of brackets are the end of a stack.
const (
	maxScript = 16 << 10
	maxLine   = 4 << 10
	maxLines  = 1000 // of a script that is read line by line
)

// script reads a script of a shell. What no shell can read, or what is long, is read line by line.
func (f *found) script(text string) {
	text = expression.ReplaceAllString(text, marker)
	if len(text) <= maxScript && f.shell(text) {
		return
	}
	lines := 0
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if lines++; lines > maxLines {
			f.hint.Unused = add(f.hint.Unused, fmt.Sprintf("what follows line %d of a script", maxLines))
			return
		}
		if len(line) <= maxLine {
			f.shell(line)
		}
	}
}

// shell reports whether it could read the text.
func (f *found) shell(text string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			f.assigned(n.Assigns)
			f.call(words(n.Args))
		case *syntax.DeclClause:
			if n.Variant.Value == "export" {
				f.assigned(n.Args)
			}
		case *syntax.CmdSubst, *syntax.FuncDecl:
			return false // what is computed, or may never be called
		}
		return true
	})
	return true
}

func (f *found) assigned(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name != nil && a.Value != nil && !a.Append {
			f.env(a.Name.Value, word(a.Value))
		}
	}
}

func words(list []*syntax.Word) []string {
	var out []string
	for _, w := range list {
		out = append(out, word(w))
	}
	return out
}

// word is a word's text; what is expanded in it is the marker.
func word(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(unescape(lit.Value))
				} else {
					b.WriteString(marker)
				}
			}
		default:
			b.WriteString(marker)
		}
	}
	return b.String()
}

var escaped = regexp.MustCompile(`\\(\n|.)`)

func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string { return strings.TrimPrefix(e[1:], "\n") })
}

// before are programs that run the rest of their words.
var before = regexp.MustCompile(`^(?:sudo|env|time|nice|travis_retry|travis_wait|retry|xvfb-run|exec|command|run|poetry|pipenv|pdm|hatch|uv|uvx|rye|-[EHna]+|--|[0-9]+|[A-Za-z_][A-Za-z0-9_]*=.*)$`)

var tests = regexp.MustCompile(`(?:^|[ /._:-])(?:tests?|pytest|py\.test|tox|nox|unittest|nosetests?|nose2?|trial|runtests|check|ctest|jest|mocha|vitest|ava|stestr|testr|gotestsum|nextest|verify)(?:$|[ ._:/-])`)

// call reads one command.
func (f *found) call(args []string) {
	joined := strings.Join(args, " ")
	if f.synced(args) {
		return
	}
	for len(args) > 0 && before.MatchString(args[0]) {
		if args[0] == "run" || args[0] == "env" || args[0] == "exec" {
			f.tests = f.tests || tests.MatchString(joined)
		}
		args = args[1:]
	}
	if len(args) < 1 {
		return
	}
	name := path.Base(args[0])
	if pythonName.MatchString(name) && len(args) > 2 && args[1] == "-m" {
		args = args[2:]
		name = args[0]
	}
	switch {
	case name == "apt-get" || name == "apt" || name == "aptitude":
		f.apt(args[1:])
	case pipName.MatchString(name):
		if verb, rest := verbOf(args[1:]); verb == "install" {
			f.pip(rest)
		}
	case name == "go" && len(args) > 2 && args[1] == "install", name == "npm" && len(args) > 3 && args[1] == "install" && args[2] == "-g":
		f.hint.Unused = add(f.hint.Unused, clip(strings.ReplaceAll(joined, marker, "…")))
	default:
		f.tests = f.tests || tests.MatchString(joined)
	}
}

var (
	pythonName = regexp.MustCompile(`^python[0-9.]*$`)
	pipName    = regexp.MustCompile(`^pip[0-9.]*$`)
	aptValued  = map[string]bool{"-o": true, "-c": true, "-t": true, "--option": true, "--target-release": true, "--default-release": true}
)

// verbOf finds a program's command behind its options.
func verbOf(args []string) (verb string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case aptValued[args[i]]:
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i], args[i+1:]
		}
	}
	return "", nil
}

func (f *found) apt(args []string) {
	verb, rest := verbOf(args)
	if verb != "install" {
		return
	}
	for i := 0; i < len(rest); i++ {
		switch {
		case aptValued[rest[i]]:
			i++
		case !strings.HasPrefix(rest[i], "-"):
			name, _, _ := strings.Cut(rest[i], "=") // a version that another release had
			f.debian(name)
		}
	}
}

// synced reads what managers of Python's projects install of the project itself.
func (f *found) synced(args []string) bool {
	if len(args) < 2 || !(args[0] == "poetry" && args[1] == "install" || args[0] == "uv" && args[1] == "sync" || args[0] == "pdm" && args[1] == "install") {
		return false
	}
	for i := 2; i < len(args); i++ {
		name, val, has := strings.Cut(args[i], "=")
		switch name {
		case "-E", "--extras", "--extra", "--with", "--group", "-G":
			if !has && i+1 < len(args) {
				i++
				val = args[i]
			}
			f.extras(val)
		}
	}
	return true
}

var extra = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$`)

func (f *found) extras(list string) {
	for _, e := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if extra.MatchString(e) {
			f.hint.Extras = add(f.hint.Extras, e)
		}
	}
}

// pipValued are pip's options with a value of their own, none of which is taken over.
var pipValued = map[string]bool{
	"-c": true, "--constraint": true, "-i": true, "--index-url": true, "--extra-index-url": true, "-f": true, "--find-links": true, "-t": true,
	"--target": true, "--prefix": true, "--root": true, "--src": true, "--cache-dir": true, "--log": true, "--timeout": true, "--retries": true,
	"--python": true, "--only-binary": true, "--no-binary": true, "--config-settings": true, "-C": true, "--trusted-host": true, "--proxy": true,
	"--upgrade-strategy": true, "--progress-bar": true, "--global-option": true, "--install-option": true, "--platform": true,
}

// ownProject is the project itself, with extras.
var ownProject = regexp.MustCompile(`^\.{0,1}/{0,1}\.?(?:\[([A-Za-z0-9._,\s-]*)\])?$`)

func (f *found) pip(args []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, val, has := strings.Cut(a, "=")
		switch {
		case pipValued[a]:
			i++
		case name == "-r" || name == "--requirement":
			if !has && i+1 < len(args) {
				i++
				val = args[i]
			}
			f.requirementsFile(val)
		case strings.HasPrefix(a, "-r") && !strings.HasPrefix(a, "--"):
			f.requirementsFile(a[2:])
		case strings.HasPrefix(a, "-"): // also -e: its value is an argument like others
		default:
			f.requirement(a)
		}
	}
}

func (f *found) requirementsFile(name string) {
	if clean, ok := relative(name); ok {
		f.hint.Files = add(f.hint.Files, clean)
	}
}

// managers are what environments have anyway, and in the version that they need.
var managers = regexp.MustCompile(`^(?i)(?:pip|setuptools|wheel|virtualenv|uv|poetry|pipenv|hatch|pdm|conda|tox|nox|coveralls|codecov|twine|build)(?:$|[^A-Za-z0-9._-])`)

// plainRequirement is what looks like a name with versions; the tool of the language looks again.
var plainRequirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._,\s-]*\])?\s*(?:(?:===|~=|==|!=|<=|>=|<|>)[A-Za-z0-9.*+!_,<>=~ -]*)?$`)

func (f *found) requirement(text string) {
	if m := ownProject.FindStringSubmatch(text); m != nil {
		f.extras(m[1])
		return
	}
	file := strings.HasSuffix(text, ".whl") || strings.HasSuffix(text, ".gz") || strings.HasSuffix(text, ".txt") || strings.HasSuffix(text, ".zip")
	if plainRequirement.MatchString(text) && !managers.MatchString(text) && !file {
		f.hint.Requirements = add(f.hint.Requirements, text)
	}
}
