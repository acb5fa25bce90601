package jvm

import (
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/report"
)

// assertion are the types by which libraries of Java say that something is not as it should be.
var assertion = regexp.MustCompile(`(?:AssertionError|AssertionFailedError|AssertionFailure|ComparisonFailure|MultipleFailuresError|MultipleAssertionsError|` +
	`ConditionNotSatisfiedError|AssertionErrors|PowerAssertionError|SpockComparisonFailure)$|^(?:org\.opentest4j|kotlin\.test|org\.assertj)\.|` +
	`^org\.mockito\.exceptions\.(?:verification|misusing)\.|\.VerifyException$`)

// timedOut says that the test framework stopped a test at its time limit.
func timedOut(w report.What) bool {
	return w.Type == "org.junit.runners.model.TestTimedOutException" || w.Type == "org.testng.internal.thread.ThreadTimeoutException" ||
		w.Type == "java.util.concurrent.TimeoutException" && strings.Contains(w.Message, "timed out after") ||
		w.Type == "java.lang.Exception" && strings.HasPrefix(w.Message, "test timed out after ")
}

var unbound = regexp.MustCompile(`^java\.lang\.(?:NoClassDefFoundError|NoSuchMethodError|NoSuchFieldError|ClassNotFoundException|AbstractMethodError)\b`)

// Unbound reports whether a test failed because it names what the state does not have.
func (Project) Unbound(t replay.Test) bool {
	return t.Kind == replay.Exception && unbound.MatchString(t.Message)
}

// CutShort are the modules in which a virtual machine ended before its tests: which had run by then is chance.
func (Project) CutShort(tests []replay.Test) []string {
	var list []string
	for _, t := range tests {
		if t.Kind != replay.Crash {
			continue
		}
		file, _, _ := strings.Cut(t.ID, "::")
		before, _, ok := strings.Cut("/"+file, "/src/")
		if !ok {
			return []string{""}
		}
		list = append(list, strings.TrimPrefix(before+"/src/", "/"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Compiler errors as Maven and Gradle print them: file, line, words.
var compiler = regexp.MustCompile(`(?m)^(?:\[ERROR\] |e: |error: )*(?:file://)?([^\s:\[\]][^:\[\]\n]*\.(?:java|kt|groovy|scala)):\s?(?:\[(\d+),\d+\]|\(?(\d+)[,:)]|(\d+))`)

// elsewhere begins what a console prints behind a compiler's words: they have no blank line, and end with their number.
var elsewhere = regexp.MustCompile(`^(?:\s*$|\d+ (?:errors?|warnings?)\b|warning: |WARNING: |Note: |FAILURE: |BUILD |> Task |:\S+ ?|\* )`)

// Errors are the files that a compiler speaks of, with its lines about each. inside says which paths are of the tree, and names them.
func Errors(output string, inside func(string) (string, bool)) map[string]string {
	broken := map[string]string{}
	file := ""
	for line := range strings.Lines(output) {
		if m := compiler.FindStringSubmatch(line); m != nil {
			file = ""
			if name, ok := inside(m[1]); ok && !strings.Contains(line, "warning:") {
				file = name
			}
		} else if elsewhere.MatchString(line) {
			file = ""
		}
		if file != "" && len(broken[file]) < report.BrokenBytes {
			broken[file] += line
		}
	}
	for f, text := range broken {
		broken[f] = report.Clip(text, report.BrokenLines, report.BrokenBytes)
	}
	return broken
}
