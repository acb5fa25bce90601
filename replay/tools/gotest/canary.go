package gotest

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/canary"
	"sluice/replay/tools/project"
)

// Neighbours are the test files of the recipe's module. Those of modules below it are others'.
func (Tool) Neighbours(t *project.Tree, r replay.Recipe) []string {
	var modules, out []string
	for f := range t.Files() {
		if dir := project.Dir(f); path.Base(f) == "go.mod" && dir != r.Root && project.Within(r.Root, f) {
			modules = append(modules, dir)
		}
	}
	for f := range t.Files() {
		other := slices.ContainsFunc(modules, func(m string) bool { return project.Within(m, f) })
		if strings.HasSuffix(f, "_test.go") && !strings.ContainsAny(path.Base(f)[:1], "_.") && project.Within(r.Root, f) && !ignoredByGo(f) && !other {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// folder is a folder with tests. clause is the name of the package itself, not of the tests that live outside of it.
type folder struct{ path, clause string }

// folders lists those of test files, by path. A file that cannot be parsed counts for nothing.
func folders(files []replay.File) []folder {
	clauses := map[string]string{}
	for _, f := range files {
		if !strings.HasSuffix(f.Path, "_test.go") || strings.Contains("/"+f.Path, "/testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", f.Data, parser.PackageClauseOnly)
		if err == nil {
			clauses[path.Dir(f.Path)] = strings.TrimSuffix(parsed.Name.Name, "_test")
		}
	}
	var out []folder
	for _, dir := range slices.Sorted(maps.Keys(clauses)) {
		out = append(out, folder{dir, clauses[dir]})
	}
	return out
}

// Canaries adds a file to the packages that have tests: the package's own code runs in the same process, so a forger in it cannot tell them
// apart. Go runs the tests of the package itself first, file by file in the order of their names: what ends the package early must not end
// it before ours.
func (Tool) Canaries(q canary.Request) []canary.File {
	if len(q.Files) == 0 {
		dir := path.Join(q.Recipe.Root, "zz"+q.Word)
		f := canaryFile(q, path.Join(dir, "zz_test.go"), "zz")
		f.Ends = ends("::", f.Names)
		return []canary.File{f}
	}
	all := folders(q.Files)
	if q.Max > 0 {
		all = canary.Aimed(all, func(f folder) bool { return selects(q.Target, f.path) })
	}
	var out []canary.File
	for _, dir := range canary.Places(q, all) {
		f := canaryFile(q, path.Join(dir.path, "00"+q.Word+"_test.go"), dir.clause)
		scope := packagePath(q.Recipe, dir.path) + "::"
		f.Ends, f.Beside = ends(scope, f.Names), canary.Below(scope)
		if slices.Contains(goPackages(q.Recipe.Root, q.Target), project.Relative(q.Recipe.Root, dir.path)+"/...") {
			f.Target = "" // to name the package would leave out those below it
		}
		out = append(out, f)
	}
	return out
}

func selects(target []string, dir string) bool {
	return slices.ContainsFunc(target, func(t string) bool {
		return path.Clean(t) == dir || path.Dir(t) == dir && strings.HasSuffix(t, ".go")
	})
}

// packagePath names the package in a folder of the tree.
func packagePath(r replay.Recipe, dir string) string { return path.Join(r.Module, inModule(r, dir)) }

// inModule is a folder of the tree as its module names it; "" is the module's own.
func inModule(r replay.Recipe, dir string) string {
	root := strings.TrimSuffix(path.Clean("/"+r.Root), "/") + "/"
	return strings.Trim(strings.TrimPrefix(path.Clean("/"+dir)+"/", root), "/")
}

func ends(scope string, names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, scope+n)
	}
	return out
}

func canaryFile(q canary.Request, name, clause string) canary.File {
	text := fmt.Sprintf("package %s\n\nimport \"testing\"\n", clause)
	f := canary.File{Listed: true, Only: path.Dir(name) + "/", Broken: unloadable(name, clause, q.Word)}
	for _, t := range q.Tests {
		n := "TestZz" + q.Word + t.Part
		f.Names = append(f.Names, n)
		text += fmt.Sprintf("\nfunc %s(t *testing.T) {\n\tn := 0\n\tfor _, c := range []byte(%q) {\n\t\tn += int(c)\n\t}\n\tif n != %d {\n"+
			"\t\tt.Error(\"this test must fail\")\n\t}\n}\n", n, n, canary.Sum(n, t.Fails))
	}
	if len(q.Target) > 0 {
		f.Target = name
	}
	f.File = canary.Text(name, text)
	return f
}

func unloadable(name, clause, word string) replay.File {
	return canary.Text(name, "package "+clause+"\n\nvar _ = zz"+word+"\n")
}

// Unloadable names what is not there.
func (Tool) Unloadable(file, word string) replay.File { return unloadable(file, "zz", word) }
