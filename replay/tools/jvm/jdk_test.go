package jvm

import (
	"strings"
	"testing"

	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked Asked
		image string
		note  string
	}{
		{Asked{}, Image, ""},
		{Asked{Level: 8}, Image, ""},
		{Asked{Level: 7}, "sluice/jdk11:bullseye", "is for JDK 11: its sources are of Java 7"},
		{Asked{Level: 5}, "sluice/jdk11:bullseye", "is for JDK 11: its sources are of Java 5"},
		{Asked{Level: 8, Most: 8, Why: "x"}, "sluice/jdk11:bullseye", "is for JDK 11: x"},
		{Asked{Level: 8, Most: 16, Why: "x"}, "sluice/jdk11:bullseye", "is for JDK 11: x"},
		{Asked{Level: 8, Most: 19, Why: "x"}, "sluice/jdk17:bookworm", "is for JDK 17: x"},
		{Asked{Level: 16, Most: 16, Why: "x"}, "sluice/jdk17:bookworm", "is for JDK 17: x"},
		{Asked{Level: 17, Most: 11, Why: "x"}, "sluice/jdk17:bookworm", "is for JDK 17: x"},
		{Asked{Level: 6, Most: 17, Why: "x"}, "sluice/jdk11:bullseye", "is for JDK 11: its sources are of Java 6"},
		{Asked{Level: 21, Most: 17, Why: "x"}, Image, ""},
		{Asked{Level: 24}, "sluice/jdk25:trixie", "is for JDK 25: its sources are of Java 24"},
	} {
		image, notes := Choose(c.asked)
		if image != c.image || strings.Join(notes, "\n") != c.note {
			t.Errorf("%+v: %s %q", c.asked, image, notes)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, text string
		want       int
	}{
		{".java-version", "11\n", 11}, {".java-version", "1.8\n", 8}, {".java-version", "openjdk64-11.0.2\n", 11}, {".java-version", "system\n", 0},
		{".sdkmanrc", "# for sdk\njava=17.0.8-tem\n", 17}, {".sdkmanrc", "gradle=7.6\n", 0},
		{".tool-versions", "nodejs 20\njava adoptopenjdk-8.0.275\n", 8}, {"system.properties", "java.runtime.version=1.8\n", 8},
		{"jitpack.yml", "jdk:\n  - openjdk11\n", 11}, {"jitpack.yml", "jdk: openjdk17\n", 17}, {"jitpack.yml", "install:\n  - ./gradlew\n", 0},
	} {
		scanned, err := project.Scan(t.Context(), tooltest.Tree{c.file: c.text, "sub/a": ""})
		if err != nil {
			t.Fatal(err)
		}
		got, file, err := named(scanned, "sub")
		if err != nil || got != c.want || (got > 0) != (file == c.file) {
			t.Errorf("%s %q: %d in %q %v", c.file, c.text, got, file, err)
		}
	}
}
