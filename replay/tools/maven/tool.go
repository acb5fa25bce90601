// Package maven runs the tests of Maven's projects with Surefire, and reads its XML reports.
//
// An extension of ours tells Maven where the reports go and writes how each goal ended, so that a failure of the source, of the tests'
// sources and of tests are told apart without a look at the console. The integration tests of Failsafe are not run.
package maven

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "maven"

// Tool runs Surefire's tests.
type Tool struct{ jvm.Project }

// Name is "maven".
func (Tool) Name() string { return Name }

// The programs of ours.
var (
	//go:embed MavenTests.java
	testsProgram string
	//go:embed MavenEvents.java
	eventsProgram string
	//go:embed Log.java
	logProgram string
	//go:embed components.xml
	componentsFile string
	//go:embed compile.sh
	compileScript string
	//go:embed install.sh
	installScript string
	//go:embed warm.sh
	warmScript string
)

// Where things are in the folder for reports.
const (
	eventFile  = "maven.jsonl"
	reportsDir = "reports"
)

const (
	repository = "{env}/m2"
	modulesVar = "SLUICE_MODULES" // folders of the modules below the root, where there are several; one a line
)

// Find is the outermost pom that has the touched files' among its modules.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	dir, ok := t.Nearest(slices.DeleteFunc(slices.Clone(paths), resource), pomFile)
	if !ok {
		if !t.Has(pomFile) {
			return "", project.ErrNoRecipe{Reason: "no Maven project"}
		}
		dir = ""
	}
	if t.Has(pomFile) && dir != "" {
		list, err := reactor(t, "")
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(list, func(m module) bool { return m.dir == dir }) && len(list) > 0 && !strings.Contains(dir, "src/") {
			return top(t, dir)
		}
		return "", nil
	}
	return top(t, dir)
}

// resource says that a file is a test's or an archetype's data: a pom beside it is none of the project's.
func resource(p string) bool {
	return strings.Contains("/"+p, "/resources/") || strings.Contains("/"+p, "/src/it/")
}

// Recipe installs what the poms say, with all that Maven itself needs to run offline.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	list, err := reactor(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	if len(list) == 0 {
		return replay.Recipe{}, project.ErrNoRecipe{Reason: "the pom cannot be read"}
	}
	asked, err := asks(t, root, list)
	if err != nil {
		return replay.Recipe{}, err
	}
	r := replay.Recipe{Runner: Name, Root: root, Env: jvm.Env(asked.Level)}
	r.Image, r.Notes = jvm.Choose(asked)
	if r.Inputs, err = inputs(t); err != nil {
		return replay.Recipe{}, err
	}
	if len(list) > 1 {
		var dirs []string
		for _, m := range list {
			dirs = append(dirs, relative(root, m.dir))
		}
		r.Env[modulesVar] = strings.Join(dirs, "\n")
	}
	notes, err := wrapperNote(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	r.Notes = append(r.Notes, notes...)
	if slices.ContainsFunc(list, func(m module) bool { return uses(m.pom, "maven-failsafe-plugin") }) {
		r.Notes = append(r.Notes, "has integration tests (Failsafe), which are not run")
	}
	r.Base = base(asked.Level)
	step := replay.Step{Name: "dependencies", Dir: root, MustPass: true, Args: installing("install.sh")}
	if s := snapshots(list); len(s) > 0 {
		step.Env = map[string]string{snapshotsVar: strings.Join(s, "\n")}
		r.Notes = append(r.Notes, fmt.Sprintf("asks for %d versions in the making of other projects', and gets their releases if these cannot be had", len(s)))
	}
	r.Install = []replay.Step{step}
	return r, nil
}

// base is the environment that all of Maven's start from: our extension, compiled, and what most projects want.
func base(level int) *replay.Recipe {
	return &replay.Recipe{Runner: Name, Env: jvm.Env(level), Install: []replay.Step{
		jvm.Setup("compile.sh", compileScript, "install.sh", installScript, "warm.sh", warmScript, "MavenTests.java", testsProgram,
			"MavenEvents.java", eventsProgram, "Log.java", logProgram, "components.xml", componentsFile),
		{Name: "extension", Args: jvm.Script("compile.sh", jvm.Folder), MustPass: true},
		{Name: "common plugins", Args: installing("warm.sh"), Warm: true},
	}}
}

// patience is how long a repository may be silent, in milliseconds. Maven's own half an hour is the whole time of an installation.
const patience = "120000"

// installing is a script that makes Maven bring what a build needs.
func installing(script string) []string {
	return jvm.Script(script, append([]string{repository}, append(command(),
		"-Dsluice.mode=install", "-Dsluice.reports=/tmp/sluice-reports", "-Daether.connector.http.retryHandler.count=3",
		"-Dmaven.wagon.http.retryHandler.count=3", "-Daether.connector.requestTimeout="+patience, "-Dmaven.wagon.rto="+patience,
		"-Dtest=SluiceStubTest")...)...)
}

func uses(p *pom, artifact string) bool {
	return slices.ContainsFunc(slices.Concat(p.Plugins, p.Managed), func(x plugin) bool { return x.Artifact == artifact })
}

// relative is a folder or file as it is named from inside the root; "" is the root itself. In a flat layout it begins with "../".
func relative(root, name string) string {
	rel := strings.TrimPrefix(project.Relative(root, name), "./")
	if rel == "." {
		return ""
	}
	return rel
}

// command is Maven with our extension.
func command() []string {
	return []string{
		"mvn", "-B", "-ntp", "-Dstyle.color=never", "-Dmaven.ext.class.path=" + jvm.Folder + "/maven.jar", "-DfailIfNoTests=false",
		"-Dsurefire.failIfNoSpecifiedTests=false", "-DskipTests=false",
	}
}

// inputs are all poms, Maven's own settings in the tree, and the files of a repository that the tree may hold.
func inputs(t *project.Tree) ([]string, error) {
	var list []string
	for f := range t.Files() {
		base := path.Base(f)
		if resource(f) {
			continue
		}
		local := strings.HasSuffix(base, ".jar") && !strings.Contains("/"+f, "/src/") && !strings.HasSuffix(f, "maven-wrapper.jar") || strings.HasSuffix(base, ".pom")
		if base == pomFile || local || strings.HasPrefix(f, ".mvn/") && !strings.HasPrefix(f, ".mvn/wrapper/") {
			list = append(list, f)
		}
	}
	if len(list) > maxPoms {
		return nil, errTooMany
	}
	slices.Sort(list)
	return list, nil
}

var wrapperVersion = regexp.MustCompile(`(?m)^\s*distributionUrl\s*=.*apache-maven-([0-9][\w.-]*?)-bin\.`)

func wrapperNote(t *project.Tree, root string) ([]string, error) {
	text, err := t.Read(path.Join(root, ".mvn/wrapper/maven-wrapper.properties"))
	if m := wrapperVersion.FindStringSubmatch(text); m != nil && err == nil {
		return []string{"asks for Maven " + m[1] + " and gets the image's"}, nil
	}
	return nil, err
}

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"mvn", "test"} }

// Names is the project as repositories name it.
func (Tool) Names(t *project.Tree, paths []string) ([]string, error) {
	root, err := Tool{}.Find(t, paths)
	var list []module
	if err == nil {
		list, err = reactor(t, root)
	}
	if errors.As(err, new(project.ErrNoRecipe)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list {
		group := m.pom.group()
		if group != "" && m.pom.Artifact != "" && !strings.Contains(group+m.pom.Artifact, "${") {
			names = append(names, group+":"+m.pom.Artifact)
		}
	}
	return names, nil
}

// Steps runs the recipe's Build steps, then Maven offline up to the phase test. Files of a target choose the modules that are built, with
// what those need, and the classes that run.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	args := append(command(), "-o", "-Dmaven.repo.local="+repository, "-Dsluice.report={out}/"+eventFile, "-Dsluice.reports={out}/"+reportsDir)
	args = append(append(args, selection(r, t)...), "test")
	steps := slices.Clone(r.Build)
	return append(steps, replay.Step{Name: report.StepTest, Dir: r.Root, Args: jvm.Script("run.sh", args...)})
}

// StepsByHand is the same without our extension.
func (Tool) StepsByHand(r replay.Recipe, t replay.Target) []replay.Step {
	args := append([]string{"mvn", "-B", "-o", "-Dmaven.repo.local=" + repository}, selection(r, t)...)
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Dir: r.Root, Args: append(args, "test")})
}

// selection names modules and classes of a target.
func selection(r replay.Recipe, t replay.Target) []string {
	modules, classes := map[string]bool{}, map[string]bool{}
	known := strings.Split(r.Env[modulesVar], "\n")
	for _, p := range jvm.Tests(t.Paths) {
		rel := relative(r.Root, p)
		if strings.HasPrefix(rel, "../") && owner(known, "", rel) == "" {
			continue
		}
		dir, class, laidOut := jvm.Split(rel)
		if !laidOut || path.Ext(rel) != ".java" {
			class = "**/" + strings.TrimSuffix(path.Base(rel), path.Ext(rel)) // a package need not be a folder
		}
		classes[class] = true
		modules[owner(known, dir, rel)] = true
	}
	if len(classes) == 0 {
		return nil
	}
	args := []string{"-Dtest=" + strings.Join(slices.Sorted(maps.Keys(classes)), ",")}
	if len(known) > 1 && !modules[""] {
		args = append(args, "-pl", strings.Join(slices.Sorted(maps.Keys(modules)), ","), "-am")
	}
	return args
}

// owner is the innermost module that a file is in; "" for the root's own.
func owner(known []string, dir, rel string) string {
	best := ""
	for _, m := range known {
		if m != "" && (m == dir || strings.HasPrefix(rel, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}
