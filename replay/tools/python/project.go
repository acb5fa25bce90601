// Package python knows what the files of a Python project say: where it is, what it needs to be built, to run and to be
// tested, and under which name it is published. The test tools of Python share it.
//
// What a repository says is read as data, never as shell: requirements that name addresses, folders outside of the tree or options
// of the installer are dropped, and the recipe's notes say so. It runs nothing.
package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// info is what a Python project's files say about itself.
type info struct {
	name     string
	requires []string
	extras   map[string][]string // by normalised name, as groups
	groups   map[string][]string
	hints    map[string][]string // test dependencies that other tools' tables name
	build    []string            // build-system.requires
	backend  string              // "" when nothing builds the project
	python   string              // the versions of Python that it requires
	versions []version           // those that its metadata name, where they are not read as text
	pipfile  []string            // what Pipenv installs
	// twoToThree: setuptools translates the sources from Python 2
	twoToThree bool
	dynamic    bool // requires cannot be read without running the build
	// readsRequirements: setup.py names a file of requirements, which stands for what cannot be read of it
	readsRequirements bool
}

func newInfo() *info {
	return &info{extras: map[string][]string{}, groups: map[string][]string{}, hints: map[string][]string{}}
}

const legacyBackend = "setuptools.build_meta:__legacy__"

// readProject reads all files that describe the project in root. What one leaves out another may say.
func readProject(t *project.Tree, root string) (*info, error) {
	p := newInfo()
	text, err := t.Read(path.Join(root, "pyproject.toml"))
	if err != nil {
		return nil, err
	}
	var doc table
	if text != "" {
		if err := project.DecodeTOML(text, &doc); err != nil {
			return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("%s cannot be read: %s", path.Join(root, "pyproject.toml"), project.FirstLine(err.Error()))}
		}
	}
	hasSetup := t.Has(path.Join(root, "setup.py")) || t.Has(path.Join(root, "setup.cfg"))
	if err := pyproject(t, root, doc, hasSetup, p); err != nil {
		return nil, err
	}
	if err := pipfile(t, root, p); err != nil {
		return nil, err
	}
	if len(doc.table("project")) > 0 || len(doc.table("tool").table("poetry")) > 0 {
		return p, nil // a setup.py beside them, if any, builds extensions only
	}
	if err := setupCfg(t, root, p); err != nil {
		return nil, err
	}
	return p, setupPy(t, root, p)
}

// table is a TOML table whose contents nobody has checked.
type table map[string]any

func (t table) table(key string) table {
	m, _ := t[key].(map[string]any)
	return m
}

func (t table) str(key string) string {
	s, _ := t[key].(string)
	return s
}

// strings returns the strings of a list, or a lone string as a list.
func (t table) strings(key string) []string {
	switch v := t[key].(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				list = append(list, s)
			}
		}
		return list
	}
	return nil
}

func pyproject(t *project.Tree, root string, doc table, hasSetup bool, p *info) error {
	build := doc.table("build-system")
	p.build = build.strings("requires")
	p.backend = build.str("build-backend")
	meta, tool := doc.table("project"), doc.table("tool")
	if p.backend == "" && (len(build) > 0 || len(meta) > 0 || hasSetup) {
		p.backend = legacyBackend
	}
	p.name, p.python = meta.str("name"), wantsPython(doc)
	p.requires = meta.strings("dependencies")
	optional := meta.table("optional-dependencies")
	for name := range optional {
		p.extras[normal(name)] = optional.strings(name)
	}
	if err := dynamic(t, root, doc, hasSetup, p); err != nil {
		return err
	}
	dependencyGroups(doc.table("dependency-groups"), p)
	poetry(tool.table("poetry"), p)
	flit(tool.table("flit").table("metadata"), p)
	toolHints(tool, p)
	return nil
}

// dynamic resolves what pyproject.toml leaves to setuptools, if that only names files.
func dynamic(t *project.Tree, root string, doc table, hasSetup bool, p *info) error {
	fields := doc.table("project").strings("dynamic")
	from := doc.table("tool").table("setuptools").table("dynamic")
	if slices.Contains(fields, "dependencies") {
		files := from.table("dependencies").strings("file")
		p.dynamic = len(files) == 0
		list, err := listed(t, root, files)
		if err != nil {
			return err
		}
		p.requires = list
	}
	if slices.Contains(fields, "optional-dependencies") {
		optional := from.table("optional-dependencies")
		for name := range optional {
			list, err := listed(t, root, optional.table(name).strings("file"))
			if err != nil {
				return err
			}
			p.extras[normal(name)] = list
		}
		p.dynamic = p.dynamic || len(optional) == 0 && hasSetup
	}
	return nil
}

// listed reads requirements from files that metadata names.
func listed(t *project.Tree, root string, files []string) ([]string, error) {
	var l reqList
	for _, f := range files {
		name, ok := project.Inside(root, strings.TrimSpace(f))
		if !ok {
			continue
		}
		if err := requirementsFile(t, name, &l); err != nil {
			return nil, err
		}
	}
	return l.items, nil
}

// maxGrouped bounds the requirements of all groups together: groups that include each other hold each other's.
const maxGrouped = 20000

// dependencyGroups resolves the groups of PEP 735 with what they include.
func dependencyGroups(groups table, p *info) {
	byName := map[string]any{}
	for name, v := range groups {
		byName[normal(name)] = v
	}
	left := maxGrouped
	var resolve func(name string, seen map[string]bool) []string
	resolve = func(name string, seen map[string]bool) []string {
		if seen[name] {
			return nil // included twice, or by itself
		}
		seen[name] = true
		var list []string
		items, _ := byName[name].([]any)
		for _, item := range items {
			if left--; left < 0 {
				break
			}
			switch v := item.(type) {
			case string:
				list = append(list, v)
			case map[string]any:
				list = append(list, resolve(normal(table(v).str("include-group")), seen)...)
			}
		}
		return list
	}
	for _, name := range sortedKeys(byName) {
		p.groups[name] = resolve(name, map[string]bool{})
	}
}

// pipfile reads what Pipenv installs, in Poetry's grammar but for plain versions, which Pipenv writes with their operator.
func pipfile(t *project.Tree, root string, p *info) error {
	text, err := t.Read(path.Join(root, "Pipfile"))
	if err != nil {
		return err
	}
	doc := decode(text)
	for _, name := range sortedKeys(doc.table("packages")) {
		if req, _, ok := poetryRequirement(name, doc.table("packages")[name]); ok {
			p.pipfile = append(p.pipfile, req)
		}
	}
	if dev := doc.table("dev-packages"); len(dev) > 0 {
		poetryGroup("dev", dev, p)
	}
	return nil
}

func flit(meta table, p *info) {
	if len(meta) == 0 {
		return
	}
	p.name = meta.str("dist-name")
	if p.name == "" {
		p.name = meta.str("module")
	}
	p.requires = append(p.requires, meta.strings("requires")...)
	extra := meta.table("requires-extra")
	for name := range extra {
		p.extras[normal(name)] = extra.strings(name)
	}
}

// toolHints reads the test dependencies that Hatch's and PDM's own tables name.
func toolHints(tool table, p *info) {
	envs := tool.table("hatch").table("envs")
	for name := range envs {
		env := envs.table(name)
		list := append(env.strings("dependencies"), env.strings("extra-dependencies")...)
		for _, f := range env.strings("features") {
			list = append(list, ".["+f+"]")
		}
		p.hints[hatchName(normal(name))] = list
	}
	dev := tool.table("pdm").table("dev-dependencies")
	for name := range dev {
		p.groups[normal(name)] = dev.strings(name)
	}
}

// hatchName maps Hatch's environments to the usual names; its default one is where development happens.
func hatchName(name string) string {
	switch name {
	case "default":
		return "dev"
	case "hatch-test":
		return "test"
	}
	return name
}
