package python

import (
	"maps"
	"regexp"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Hinted adds to a recipe what a project's continuous integration installs besides: requirements, requirements files, extras and
// groups, with the care that is due to a project's words. They are installed after the project's own, in a step of their own.
func (Project) Hinted(t *project.Tree, r replay.Recipe, h project.Hint) (replay.Recipe, bool, error) {
	p, err := readProject(t, r.Root)
	if err != nil {
		return r, false, err
	}
	var l reqList
	l.addAll(h.Requirements, "the workflow")
	for _, f := range h.Files {
		if err := requirementsFile(t, f, &l); err != nil {
			return r, false, err
		}
	}
	for _, e := range h.Extras {
		name := normal(e)
		for _, kind := range []map[string][]string{p.extras, p.groups, p.hints} {
			l.addAll(withoutTools(name, kind[name]), "extra "+name)
		}
	}
	l.expandSelf(p)
	have := map[string]bool{}
	last := -1
	for i, s := range r.Install {
		for _, a := range s.Args {
			have[a] = true
		}
		if s.Name == stepNeeds || s.Name == stepBuildNeeds {
			last = i
		}
	}
	var items []string
	for _, it := range l.items {
		if name := reqName(it); !have[it] && name != "" && !devTools.MatchString(name) && !hintTools.MatchString(name) {
			items = append(items, it)
		}
	}
	if len(items) == 0 || last < 0 {
		return r, false, nil
	}
	r.Notes = append(slices.Clone(r.Notes), l.notes...)
	// Before what computes the project's requirements by running its build: that may need them.
	r.Install = slices.Insert(slices.Clone(r.Install), last+1, another(r.Install[last], stepHinted, items))
	return r, true, nil
}

// hintTools are what a workflow installs for itself.
var hintTools = regexp.MustCompile(`^(?:pip|pip-tools|setuptools|wheel|virtualenv|pipenv|poetry|uv|hatch|pyinstaller|coveralls|diff-cover|types-.*|awscli|setuptools-scm)$`)

// another is a step that installs requirements as one does that there is already.
func another(s replay.Step, name string, items []string) replay.Step {
	n := slices.Index(s.Args, "--") + 1
	return replay.Step{
		Name: name, Args: append(slices.Clone(s.Args[:n]), items...), Env: maps.Clone(s.Env), Dir: s.Dir, MustPass: true,
	}
}
