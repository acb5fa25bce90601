// Package jvm is what the test tools of Java, Kotlin and their like share: which JDK a project is for, how Java's programs learn of the
// network while an environment is built, and how a report's classes become ids that begin with the file of the test.
//
// It starts nothing itself: it gives steps and reads reports.
package jvm

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Language is that of the JVM: their sources lie side by side and one build tool compiles them.
var Language = project.Language{Name: "Java", Extensions: []string{".java", ".kt", ".groovy", ".scala"}}

// Image is the base image of the language's recipes.
const Image = "sluice/jvm:trixie"

// The programs of ours. They are parts of steps, and so of fingerprints and keys.
var (
	//go:embed java.sh
	javaScript string
	//go:embed setup.sh
	setupScript string
	//go:embed run.sh
	runScript string
	//go:embed Network.java
	networkProgram string
	// sourcesProgram is a class that finds sources and compiled tests.
	//go:embed Sources.java
	sourcesProgram string
)

// Folder is where our programs are in an environment.
const Folder = "{env}/sluice"

// levelVar is the variable that says for which Java a project is.
const levelVar = "SLUICE_JAVA"

// oldestJDK is the oldest Java that a JDK is looked for by: what a JDK's compiler does not know any more is built for the oldest that it knows.
const oldestJDK = 8

// Env are the variables of a recipe for a Java version; 0 is unknown.
func Env(level int) map[string]string {
	env := map[string]string{"CI": "true", "MAVEN_SKIP_RC": "1"}
	if level > oldestJDK {
		env[levelVar] = strconv.Itoa(level)
	}
	return env
}

// Script is a step's command: a script of ours that Setup put into the environment, with its arguments. In it, java is the right JDK's.
func Script(name string, args ...string) []string {
	return append([]string{"sh", Folder + "/src/" + name}, args...)
}

// Setup is the first step of Install: it fails when no JDK is new enough. Programs are names and texts; scripts among them find the JDK
// as the first thing that they do.
func Setup(programs ...string) replay.Step {
	args := []string{"sh", "-c", setupScript, "sh", Folder, "java.sh", javaScript, "run.sh", runScript, "Network.java", networkProgram, "Sources.java", sourcesProgram}
	return replay.Step{Name: "java", Args: append(args, programs...), MustPass: true}
}

var number = regexp.MustCompile(`^(?:1\.)?([0-9]{1,2})$`)

// Level reads "1.8", "8" or "17"; 0 is none.
func Level(s string) int {
	m := number.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

var testFile = regexp.MustCompile(`^(?:Test.*|.*(?:Test|Tests|TestCase|Spec|Specs|IT))$`)

// Tests are the files of a target that can hold tests, by their names. Helpers cannot be run themselves.
func Tests(paths []string) []string {
	var list []string
	for _, p := range paths {
		clean := path.Clean("/" + p)[1:]
		ext := path.Ext(clean)
		if slices.Contains(Language.Extensions, ext) && testFile.MatchString(strings.TrimSuffix(path.Base(clean), ext)) {
			list = append(list, clean)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// layout splits a path into the folder of its module and what is below the folder of its sources.
var layout = regexp.MustCompile(`^(?:(.*)/)?src/[^/]+/(?:java|kotlin|groovy|scala)/(.+)\.[a-z]+$`)

// Split returns the folder of a test file's module, and the class that the file is named for as a path; ok is false for another layout.
func Split(file string) (module, class string, ok bool) {
	m := layout.FindStringSubmatch(file)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}
