// Package ci reads what a tree's continuous integration says about the environment of its tests: GitHub's workflows, Travis'
// settings, tox.ini and a Makefile's test target.
//
// All of it is hostile text, read as data: nothing is run, no expression is evaluated, no file outside of the tree is named. What
// comes out has one of a few closed forms (a Debian package's name, a requirement, a requirements file of the tree, an extra, a
// variable of a closed list, a version); everything else is dropped. Files, jobs, nodes and words are bounded.
package ci

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// Bounds of what is read and of what comes out.
const (
	maxText  = 256 << 10 // bytes of a file, and of a script
	maxFiles = 40        // workflows
	maxItems = 100       // of each list of a hint
	maxValue = 200       // bytes of a word
)

// Read gathers what the tree says for the project in a folder. A tree without any of the files gives an empty hint; an error is the
// machinery's.
func Read(t *project.Tree, root string) (project.Hint, error) {
	r := &reader{tree: t, root: root}
	for _, f := range []func() error{r.workflows, r.travis, r.tox, r.makefile} {
		if err := f(); err != nil {
			return project.Hint{}, err
		}
	}
	return r.hint, nil
}

// reader fills a hint.
type reader struct {
	tree *project.Tree
	root string
	hint project.Hint
}

// text is a file's text; "" if it is too large to be what people write.
func (r *reader) text(name string) (string, error) {
	text, err := r.tree.Read(name)
	if len(text) > maxText {
		return "", err
	}
	return text, err
}

// found is what one place says, before it is known whether the place is one where tests run.
type found struct {
	hint  project.Hint
	tests bool // it runs tests
}

// take adds what a place says.
func (r *reader) take(f found, where string) {
	h := f.hint
	if h.Empty() && len(h.Unused) == 0 {
		return
	}
	into := &r.hint
	into.Packages = add(into.Packages, h.Packages...)
	into.Requirements = add(into.Requirements, h.Requirements...)
	into.Extras = add(into.Extras, h.Extras...)
	into.Unused = add(into.Unused, h.Unused...)
	into.Sources = add(into.Sources, clip(where))
	for _, file := range h.Files {
		if name, ok := r.file(file); ok {
			into.Files = add(into.Files, name)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(h.Env)) {
		if _, ok := into.Env[k]; !ok { // the first place counts
			into.Env = set(into.Env, k, h.Env[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(h.Versions)) {
		if into.Versions == nil {
			into.Versions = map[string][]string{}
		}
		into.Versions[k] = add(into.Versions[k], h.Versions[k]...)
	}
}

// file finds a file that a command names: from the project's folder, or from the tree's.
func (r *reader) file(name string) (string, bool) {
	for _, dir := range []string{r.root, ""} {
		if full, ok := project.Inside(dir, name); ok && r.tree.Has(full) {
			return full, true
		}
	}
	return "", false
}

// add appends what is not there yet, up to the bound.
func add(list []string, items ...string) []string {
	for _, it := range items {
		if len(list) < maxItems && it != "" && len(it) <= maxValue && !slices.Contains(list, it) {
			list = append(list, it)
		}
	}
	return list
}

func set(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}

func clip(s string) string {
	if len(s) > maxValue-4 {
		s = s[:maxValue-4] + "…"
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
}

// debianName is what Debian's policy (5.6.1) lets a package be called. A minus at the end would make apt remove it.
var debianName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]{0,62}[a-z0-9+]$`)

// never are packages that no test of a library needs and that cost gigabytes, or that want to be a system's own.
var never = regexp.MustCompile(`^(?:texlive.*|docker.*|containerd.*|linux-(?:image|headers|modules).*|snapd?|google-chrome.*|chromium.*|firefox.*|` +
	`virtualbox.*|systemd.*|apt.*|sudo|openssh-server|python[0-9.]*(?:-dev|-venv|-minimal|-distutils)?|pypy.*|software-properties-common)$`)

func (f *found) debian(names ...string) {
	for _, n := range names {
		n, _, _ = strings.Cut(n, ":") // the architecture
		switch {
		case !debianName.MatchString(n):
		case never.MatchString(n):
			f.hint.Unused = add(f.hint.Unused, "package "+n)
		default:
			f.hint.Packages = add(f.hint.Packages, n)
		}
	}
}

// variables that a hint may set. None of them names a place, an address or a secret, and none changes how sluice runs tests.
var variables = regexp.MustCompile(`^(?:TZ|LANG|LANGUAGE|LC_[A-Z]+|PYTHONUTF8|PYTHONIOENCODING|PYTHONASYNCIODEBUG|` +
	`CGO_ENABLED|GOEXPERIMENT|GODEBUG|NODE_ENV|BABEL_ENV|TS_NODE_[A-Z_]+|RAILS_ENV|RACK_ENV|APP_ENV|DJANGO_SETTINGS_MODULE|DJANGO_CONFIGURATION|` +
	`FLASK_ENV|FLASK_APP|QT_QPA_PLATFORM|QT_API|MPLBACKEND|SDL_VIDEODRIVER|SDL_AUDIODRIVER|SLUGIFY_USES_TEXT_UNIDECODE|` +
	`SETUPTOOLS_USE_DISTUTILS|SKLEARN_ALLOW_DEPRECATED_SKLEARN_PACKAGE_INSTALL|CRYPTOGRAPHY_DONT_BUILD_RUST|` +
	`(?:NO|DISABLE|WITH|WITHOUT|USE|SKIP|BUILD)_[A-Z0-9_]{1,40})$`)

var (
	value = regexp.MustCompile(`^[A-Za-z0-9_.,:+=-]{1,100}$`)
	// forbidden are names of secrets, and those by which programs find the network.
	forbidden = regexp.MustCompile(`TOKEN|SECRET|PASSW|CRED|_KEY|AUTH|_PROXY`)
)

func (f *found) env(name, val string) {
	if variables.MatchString(name) && value.MatchString(val) && !forbidden.MatchString(name) && !strings.Contains(val, marker) && len(f.hint.Env) < maxItems {
		f.hint.Env = set(f.hint.Env, name, val)
	}
}

var version = regexp.MustCompile(`^[0-9]{1,3}(?:\.(?:[0-9]{1,3}|x)){0,2}$`)

func (f *found) version(language string, list ...string) {
	for _, v := range list {
		if v = strings.TrimPrefix(strings.TrimSpace(v), "v"); version.MatchString(v) {
			if f.hint.Versions == nil {
				f.hint.Versions = map[string][]string{}
			}
			f.hint.Versions[language] = add(f.hint.Versions[language], v)
		}
	}
}

// relative keeps clean paths inside of the tree.
func relative(name string) (string, bool) {
	clean := path.Clean(name)
	ok := name != "" && !path.IsAbs(name) && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(name, marker+"\\*?{}\x00\n")
	return clean, ok
}
