package python

import (
	_ "embed" // the table
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// moduleTable says which distribution has a module, or a fixture of pytest's: a line holds "module" or "fixture", a name and a requirement. Only what
// it has is ever installed because an output names it: the name of a module need not be that of its distribution, and a distribution of
// that name may be anybody's.
//
//go:embed modules.txt
var moduleTable string

var distributions = readModules(moduleTable)

func readModules(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) == 3 && !strings.HasPrefix(line, "#") {
			all[w[0]+" "+w[1]] = w[2]
		}
	}
	return all
}

var (
	noModule  = regexp.MustCompile(`No module named ['"]?([A-Za-z_]\w{0,60}(?:\.\w{1,60}){0,5})`)
	noFixture = regexp.MustCompile(`fixture '(\w{1,60})' not found`)
	noAsync   = regexp.MustCompile(`async def functions are not natively supported`)
	noDjango  = regexp.MustCompile(`Requested settings?,? \w{1,60}, but settings are not configured`)
)

// maxTold bounds the requirements that one output can name.
const maxTold = 20

// Told adds to a recipe the distributions that have the modules and fixtures that an output says are missing, if they are none of the tree's.
// Where nothing is missing that is known and the project itself does not build, be it to run or to tell what it requires, it is run from the
// tree.
func (Project) Told(t *project.Tree, r replay.Recipe, f project.Failure) (replay.Recipe, bool, error) {
	names := missing(t, r, f.Output)
	if len(names) > 0 {
		if out, ok := withMore(r, names); ok {
			if slices.Contains(names, pytestDjango) {
				if err := withSettings(t, &out); err != nil {
					return r, false, err
				}
			}
			out.Notes = append(slices.Clone(r.Notes), "a try without these failed, and named what they have: "+strings.Join(names, ", "))
			return out, true, nil
		}
	}
	if !f.Build && f.Step != stepComputed || len(r.Build) == 0 {
		return r, false, nil
	}
	return fromTree(r), true, nil
}

// missing are requirements for what an output says is not there, without those that the recipe has.
func missing(t *project.Tree, r replay.Recipe, output string) []string {
	found := map[string]bool{}
	for _, m := range noModule.FindAllStringSubmatch(output, 500) {
		top, _, _ := strings.Cut(m[1], ".")
		for _, name := range []string{m[1], top} {
			if d := distributions["module "+name]; d != "" && !ownModule(t, r.Root, top) {
				found[d] = true
				break
			}
		}
	}
	for _, m := range noFixture.FindAllStringSubmatch(output, 500) {
		found[distributions["fixture "+m[1]]] = true
	}
	if noAsync.MatchString(output) {
		found["pytest-asyncio"] = true
	}
	if r.Runner == "pytest" && noDjango.MatchString(output) {
		found[pytestDjango] = true
	}
	delete(found, "")
	list := slices.Sorted(maps.Keys(found))
	list = slices.DeleteFunc(list, func(req string) bool {
		return slices.ContainsFunc(r.Install, func(s replay.Step) bool {
			return s.Name != stepBuildNeeds && slices.ContainsFunc(s.Args, func(a string) bool { return reqName(a) == reqName(req) })
		})
	})
	return list[:min(len(list), maxTold)]
}

// ownModule says that the tree has a module of that name where the project's may be.
func ownModule(t *project.Tree, root, name string) bool {
	for _, dir := range []string{"", "src", "lib", "python"} {
		p := path.Join(root, dir, name)
		if t.Has(p+".py") || t.HasDir(p) {
			return true
		}
	}
	return false
}

// withMore is a recipe that installs more requirements, after its own; false if it is none of ours.
func withMore(r replay.Recipe, names []string) (replay.Recipe, bool) {
	last := -1
	for i, s := range r.Install {
		if s.Name == stepNeeds || s.Name == stepBuildNeeds || s.Name == stepHinted || s.Name == stepTold {
			last = i
		}
	}
	i, ok := interpreterOf(r)
	switch {
	case last >= 0:
		r.Install = slices.Insert(slices.Clone(r.Install), last+1, another(r.Install[last], stepTold, names))
	case ok: // it asks for nothing else, and so has no installer
		c := choice{interpreter: i}
		r.Install = append(slices.Clone(r.Install), installerStep(c), requirementsStep(stepTold, names, options{}), versionsStep())
	}
	return r, last >= 0 || ok
}

// fromTree is a recipe that does not install the project: what imports it finds it in the tree. What it compiles is missing then.
func fromTree(r replay.Recipe) replay.Recipe {
	r.Env = maps.Clone(r.Env)
	tree := path.Join("{tree}", r.Root)
	r.Env["PYTHONPATH"] = tree + "/src:" + tree
	r.Build = nil
	r.Install = slices.DeleteFunc(slices.Clone(r.Install), func(s replay.Step) bool { return s.Name == stepComputed })
	r.Notes = append(slices.Clone(r.Notes), "the project does not build: it is run from its sources, without what it compiles")
	return r
}
