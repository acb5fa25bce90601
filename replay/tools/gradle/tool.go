// Package gradle runs the tests of Gradle's builds, and reads what an init script of ours tells of them.
//
// The script listens to Gradle itself, so that tests that were running when their process ended are known. The wrapper's own jar, which
// is a program of the repository, is never started. Builds of Android are not known.
package gradle

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "gradle"

// Tool runs the tasks named test.
type Tool struct{ jvm.Project }

// Name is "gradle".
func (Tool) Name() string { return Name }

// The programs of ours.
var (
	//go:embed sluice.gradle
	initScript string
	//go:embed Fetch.java
	fetchProgram string
	//go:embed install.sh
	installScript string
)

const eventFile = "gradle.jsonl"

var (
	settings = []string{"settings.gradle", "settings.gradle.kts"}
	builds   = []string{"build.gradle", "build.gradle.kts"}
)

// Find is the folder with the settings above the touched files' build.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	dir, ok := t.Nearest(paths, slices.Concat(settings, builds)...)
	if !ok && !t.HasAny("", slices.Concat(settings, builds)) {
		return "", project.ErrNoRecipe{Reason: "no Gradle build"}
	}
	for up := dir; ; up = project.Dir(up) {
		if t.HasAny(up, settings) {
			return up, nil
		}
		if up == "" {
			break
		}
	}
	if t.HasAny("", builds) {
		return "", nil
	}
	return dir, nil
}

var (
	// distribution is what a wrapper names: an address of the plain form, since the program that asks for it is ours.
	distribution = regexp.MustCompile(`(?m)^\s*distributionUrl\s*=\s*(https(?:\\)?://[A-Za-z0-9.-]+(?:/[\w.-]+)*/gradle-([0-9][\w.]*(?:-[\w.]+)*?)-(?:bin|all)\.zip)\s*$`)
	level        = regexp.MustCompile(`(?:JavaLanguageVersion\.of\(|jvmToolchain\(|VERSION_(?:1_)?|(?:source|target)Compatibility\s*=?\s*['"]?(?:1\.)?)(\d{1,2})\b`)
	android      = regexp.MustCompile(`com\.android\.(?:application|library|tools\.build)`)
)

// Recipe installs the Gradle of the wrapper, or takes the image's, and resolves all configurations.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	inputs, text, err := read(t)
	if err != nil {
		return replay.Recipe{}, err
	}
	if android.MatchString(text) {
		return replay.Recipe{}, project.ErrNoRecipe{Reason: "a build of Android"}
	}
	n := 0
	for _, m := range level.FindAllStringSubmatch(text, -1) {
		n = max(n, jvm.Level(m[1]))
	}
	asked, err := jvm.Ask(t, root, n)
	if err != nil {
		return replay.Recipe{}, err
	}
	r := replay.Recipe{Runner: Name, Root: root, Env: jvm.Env(n), Inputs: inputs}
	r.Env["GRADLE_USER_HOME"] = "{env}/gradle"
	wrapper, err := t.Read(path.Join(root, "gradle/wrapper/gradle-wrapper.properties"))
	if err != nil {
		return replay.Recipe{}, err
	}
	address, wanted := "", ""
	if m := distribution.FindStringSubmatch(wrapper); m != nil {
		address, wanted = strings.ReplaceAll(m[1], `\`, ""), m[2]
		if newest := newestJDK(wanted); newest > 0 {
			asked.Bound(newest, fmt.Sprintf("Gradle %s runs on JDK %d at most", wanted, newest))
		}
	}
	r.Image, r.Notes = jvm.Choose(asked)
	if wanted != "" {
		r.Notes = append(r.Notes, "asks for Gradle "+wanted+", and gets the image's where the network has no other")
	}
	install := append([]string{jvm.Folder, address, wanted}, options()...)
	r.Install = []replay.Step{
		jvm.Setup("install.sh", installScript, "Fetch.java", fetchProgram, "sluice.gradle", initScript),
		{Name: "dependencies", Dir: root, MustPass: true, Args: jvm.Script("install.sh", append(install, "-Dsluice.mode=install")...)},
	}
	return r, nil
}

// runsOn are the newest JDKs on which versions of Gradle run, by docs.gradle.org/current/userguide/compatibility.html: from a version on, the newest first.
var runsOn = []struct{ major, minor, jdk int }{
	{9, 1, 25}, {8, 14, 24}, {8, 10, 23}, {8, 8, 22}, {8, 5, 21}, {8, 3, 20}, {7, 6, 19}, {7, 5, 18}, {7, 3, 17}, {7, 0, 16}, {6, 7, 15}, {6, 3, 14},
	{6, 0, 13}, {5, 4, 12}, {5, 0, 11}, {4, 7, 10}, {4, 3, 9}, {2, 0, 8}, {0, 0, 7},
}

var numbers = regexp.MustCompile(`^(\d{1,3})\.(\d{1,3})`)

// newestJDK is the newest one on which a version of Gradle runs; 0 if the version cannot be read.
func newestJDK(version string) int {
	m := numbers.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(m[1]) // digits
	minor, _ := strconv.Atoi(m[2])
	i := slices.IndexFunc(runsOn, func(r struct{ major, minor, jdk int }) bool {
		return major > r.major || major == r.major && minor >= r.minor
	})
	return runsOn[i].jdk
}

// options make Gradle leave nothing behind, and read our script.
func options() []string {
	return []string{
		"--no-daemon", "--console=plain", "-I", jvm.Folder + "/src/sluice.gradle", "-Dsluice.home=" + jvm.Folder, "-Dorg.gradle.parallel=false",
		"-Dorg.gradle.caching=false", "-Dorg.gradle.configuration-cache=false", "-Dorg.gradle.unsafe.configuration-cache=false",
		"-Dorg.gradle.vfs.watch=false", "-Dorg.gradle.jvmargs=-Xmx1g", "-Dorg.gradle.java.installations.auto-download=false",
	}
}

// maxInputs bounds the files that Install reads. With fewer than a build has, Gradle would resolve less than the tests need.
const maxInputs = 2000

// maxScripts bounds the bytes of the scripts that are looked through.
const maxScripts = 64 << 20

// read lists what a build reads before it compiles, and the text of its scripts.
func read(t *project.Tree) (inputs []string, text string, err error) {
	for f := range t.Files() {
		base := path.Base(f)
		logic := strings.Contains("/"+f, "/buildSrc/") || strings.Contains("/"+f, "/build-logic/")
		if strings.Contains("/"+f, "/resources/") {
			continue
		}
		if logic || strings.HasSuffix(base, ".gradle") || strings.HasSuffix(base, ".gradle.kts") || base == "gradle.properties" || base == "gradle.lockfile" ||
			strings.HasSuffix(base, ".versions.toml") || strings.HasSuffix(base, ".jar") && base != "gradle-wrapper.jar" {
			inputs = append(inputs, f)
		}
	}
	if len(inputs) > maxInputs {
		return nil, "", project.ErrNoRecipe{Reason: fmt.Sprintf("the Gradle build has more than %d scripts and other files that it reads", maxInputs)}
	}
	slices.Sort(inputs)
	var all strings.Builder
	for _, f := range inputs {
		if strings.Contains(path.Base(f), ".gradle") || strings.HasSuffix(f, ".toml") {
			s, err := t.Read(f)
			if err != nil {
				return nil, "", err
			}
			if all.WriteString(s); all.Len() > maxScripts {
				return nil, "", project.ErrNoRecipe{Reason: fmt.Sprintf("the scripts of the Gradle build are more than %d MiB", maxScripts>>20)}
			}
		}
	}
	return inputs, all.String(), nil
}

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"gradle", "test"} }

// Steps runs the recipe's Build steps, then all tasks named test, offline. Files of a target choose classes, in the builds that they are in.
func (Tool) Steps(r replay.Recipe, t replay.Target) []replay.Step {
	args := append([]string{jvm.Folder + "/gradle"}, options()...)
	args = append(args, "--offline", "--continue", "-Dsluice.report={out}/"+eventFile)
	var files []string
	for _, p := range jvm.Tests(t.Paths) {
		if rel, ok := strings.CutPrefix(p, r.Root+"/"); ok || r.Root == "" {
			files = append(files, rel)
		}
	}
	if len(files) > 0 {
		args = append(args, "-Dsluice.files="+strings.Join(files, "\n"))
	}
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Dir: r.Root, Args: jvm.Script("run.sh", append(args, "test")...)})
}

// StepsByHand is the same without our script.
func (Tool) StepsByHand(r replay.Recipe, _ replay.Target) []replay.Step {
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Dir: r.Root, Args: []string{jvm.Folder + "/gradle", "--offline", "--continue", "test"}})
}
