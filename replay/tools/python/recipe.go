package python

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// language is Python.
var language = project.Language{Name: "Python", Extensions: []string{".py", ".pyi"}}

var markers = []string{"pyproject.toml", "setup.py", "setup.cfg", manage}

// Root finds the project: the one that most touched files are in, else the root. Its error is a project.ErrNoRecipe.
func Root(t *project.Tree, paths []string) (string, error) {
	if root, ok := t.Nearest(paths, markers...); ok && (root == "" || !t.HasAny("", markers)) {
		return root, nil
	}
	if t.HasAny("", markers) {
		return "", nil
	}
	for f := range t.Files() {
		if base := path.Base(f); strings.HasSuffix(base, ".py") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "tests.py") {
			return "", nil
		}
	}
	return "", project.ErrNoRecipe{Reason: "no Python project"}
}

// Extra is what a test tool needs besides what the project asks for.
type Extra struct {
	Runner  string
	Env     map[string]string
	Plugins []string // as the tool's configuration names them: taken with the care that is due to a project's words
	Tool    string   // the tool's own distribution, installed if the project does not name it; "" for none
}

// Recipe makes the recipe of the project in root.
//
// Its image is one with the newest Python that the state supports. A virtual environment in {env} holds what the project needs to be built,
// to run and to be tested, of the versions that its lock file names if it has one. If its metadata can be read, Install gets a list of
// requirements and no file of the tree, so that all states that want the same share an environment. If not, Install sees the whole tree
// and runs the build. Each state then installs itself, without a network, into its job's own view of the environment; that compiles
// what is to be compiled from the state's own sources.
func Recipe(t *project.Tree, root string, x Extra) (replay.Recipe, error) {
	p, err := readProject(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	var l reqList
	if err := needs(t, root, p, &l); err != nil {
		return replay.Recipe{}, err
	}
	l.addAll(x.Plugins, "the "+x.Runner+" configuration")
	if x.Tool != "" && !l.names(x.Tool) {
		l.add(x.Tool, "sluice")
	}
	if l.locked, err = constraints(t, root, p, &l); err != nil {
		return replay.Recipe{}, err
	}
	c, err := findVersion(t, root, p)
	if err != nil {
		return replay.Recipe{}, err
	}
	if x.Tool == "pytest" {
		l.fitTool(c)
	}
	r := replay.Recipe{Runner: x.Runner, Root: root, Image: c.image, Env: environment(root, p, x.Env), Notes: l.notes}
	if c.note != "" {
		r.Notes = append(r.Notes, c.note)
	}
	installs{p: p, c: c, l: &l, tool: x.Tool}.into(&r)
	if p.backend != "" {
		r.Build = []replay.Step{{
			Name: "install project", Args: []string{"sh", "-c", buildScript}, Env: c.buildEnv(), Dir: root, MustPass: true,
		}}
	}
	return r, nil
}

func environment(root string, p *info, more map[string]string) map[string]string {
	env := map[string]string{"VIRTUAL_ENV": venv, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
	maps.Copy(env, more)
	if p.backend == "" {
		tree := path.Join("{tree}", root)
		env["PYTHONPATH"] = tree + "/src:" + tree
	}
	return env
}

// Names are the names under which the registry would have the project of a change: of its distribution. What cannot be read has none.
func (Project) Names(t *project.Tree, paths []string) ([]string, error) {
	root, err := Root(t, paths)
	if err != nil {
		return nil, nil
	}
	p, err := readProject(t, root)
	if errors.As(err, new(project.ErrNoRecipe)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{p.name}, nil
}

// testNames are the extras, groups and files that hold test dependencies; devNames those to take if there are none.
var (
	testNames = []string{"test", "tests", "testing", "pytest", "unittest", "unit-test", "unit-tests", "all-tests"}
	devNames  = []string{"dev", "develop", "development", "ci", "all"}
)

// wanted are the names of test extras or groups that exist, else of development ones.
func wanted(have map[string][]string) []string {
	for _, names := range [][]string{testNames, devNames} {
		var found []string
		for _, n := range names {
			if _, ok := have[n]; ok {
				found = append(found, n)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// needs lists what the project needs to run and to be tested.
func needs(t *project.Tree, root string, p *info, l *reqList) error {
	l.addAll(p.requires, "the project")
	l.selves = append(l.selves, wanted(p.extras)...)
	for _, kind := range []map[string][]string{p.groups, p.hints} {
		for _, name := range wanted(kind) {
			l.addAll(withoutTools(name, kind[name]), "group "+name)
		}
	}
	if err := testFiles(t, root, p, l); err != nil {
		return err
	}
	l.expandSelf(p)
	return nil
}

// devTools are what a development list names besides what tests need: checkers, and makers of documents and releases.
var devTools = regexp.MustCompile(`^(sphinx.*|furo|mkdocs.*|.*-sphinx-theme|sphinxcontrib-.*|myst-.*|numpydoc|pdoc3?|` +
	`mypy|pyright|pyre-check|pre-commit|prek|black|ruff|isort|flake8.*|pep8-naming|pylint.*|bandit|autoflake|pyupgrade|codespell|` +
	`tox.*|nox|twine|build|bump2version|bumpversion|bump-my-version|towncrier|commitizen|python-semantic-release|codecov|` +
	`jupyter.*|notebook|ipdb|ipython)$`)

// withoutTools drops a development list's tools: they are many, and one that does not install costs the environment.
func withoutTools(list string, reqs []string) []string {
	if slices.Contains(testNames, list) {
		return reqs
	}
	return slices.DeleteFunc(slices.Clone(reqs), func(r string) bool { return devTools.MatchString(reqName(r)) })
}

var reqFile = regexp.MustCompile(`^(?:(?:requirements?[-_./]?(tests?|testing|dev|develop|development|ci|all)?|requirements/(?:base|common|default|main)|` +
	`(tests?|testing|dev|develop|ci)[-_/]requirements?)\.(?:txt|pip|in)|tools/pip-requires|tools/(test)-requires)$`)

// testFiles reads requirements files: the plain one if no metadata says what the project requires; those for tests, or
// else for development. tox.ini is asked when nothing else names test dependencies.
func testFiles(t *project.Tree, root string, p *info, l *reqList) error {
	byKind := map[string][]string{}
	for f := range t.Files() {
		rel, ok := strings.CutPrefix(f, strings.TrimPrefix(root+"/", "/"))
		m := reqFile.FindStringSubmatch(rel)
		if ok && m != nil {
			kind := m[1] + m[2] + m[3]
			byKind[kind] = append(byKind[kind], f)
		}
	}
	var files []string
	if len(p.requires) == 0 && (!p.dynamic || p.readsRequirements) {
		files = append(files, byKind[""]...)
		if len(files) == 0 {
			l.addAll(p.pipfile, "Pipfile")
		}
	}
	kinds := wanted(byKind)
	known := len(wanted(p.extras))+len(wanted(p.groups))+len(wanted(p.hints)) > 0
	if known {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return !slices.Contains(testNames, k) })
	}
	for _, k := range kinds {
		files = append(files, byKind[k]...)
	}
	slices.Sort(files)
	for _, f := range files {
		if err := requirementsFile(t, f, l); err != nil {
			return err
		}
	}
	if known || len(kinds) > 0 {
		return nil
	}
	return toxDeps(t, root, l)
}

// toxDeps takes the unconditional dependencies of tox's plain environment, with those that it takes from other sections.
func toxDeps(t *project.Tree, root string, l *reqList) error {
	name := path.Join(root, "tox.ini")
	text, err := t.Read(name)
	if err != nil {
		return err
	}
	seen, left := map[string]bool{}, maxToxLines
	for _, line := range toxLines(parseINI(text), "testenv", "deps", 0, &left) {
		if strings.ContainsAny(line, "{}") || toxFactor.MatchString(line) {
			continue
		}
		if err := requirementLine(t, name, line, l, seen); err != nil {
			return err
		}
	}
	return nil
}

var toxReference = regexp.MustCompile(`^\{\[([^\]]+)\]([^}]+)\}$`)

// What is read of a section's value: how far it goes into others, and how many lines in all.
const (
	maxReferences = 5
	maxToxLines   = 2000
)

// toxLines are the lines of a section's value; one that is a reference to another section's value stands for those of that.
func toxLines(doc ini, section, key string, depth int, left *int) []string {
	var list []string
	for _, line := range requirementLines(doc[section][key]) {
		if *left--; *left < 0 {
			break
		}
		if m := toxReference.FindStringSubmatch(line); m != nil && depth < maxReferences {
			list = append(list, toxLines(doc, m[1], m[2], depth+1, left)...)
			continue
		}
		list = append(list, line)
	}
	return list
}

var toxFactor = regexp.MustCompile(`^[A-Za-z0-9_.!,-]+:\s`)

// expandSelf replaces requirements of the project itself, by name or as ".", with what those extras hold: else a
// released version of the project would be installed over the state's.
func (l *reqList) expandSelf(p *info) {
	done := map[string]bool{}
	self := normal(p.name)
	for n := 0; n < maxRequirements; n++ {
		i := slices.IndexFunc(l.items, func(r string) bool { return p.name != "" && reqName(r) == self })
		switch {
		case i >= 0:
			l.selves = append(l.selves, reqExtras(l.items[i])...)
			l.items = slices.Delete(l.items, i, i+1)
		case len(l.selves) > 0:
			extra := normal(l.selves[0])
			if l.selves = l.selves[1:]; !done[extra] {
				done[extra] = true
				l.addAll(withoutTools(extra, p.extras[extra]), fmt.Sprintf("extra %s", extra))
			}
		default:
			return
		}
	}
}

// sortedKeys names a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
