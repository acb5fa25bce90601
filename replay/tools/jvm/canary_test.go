package jvm

import (
	"regexp"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/canary"
)

var space = regexp.MustCompile(`\s+`)

// TestCanaryClass: a class is in its neighbour's package and language, with its library and the assertions that it makes.
func TestCanaryClass(t *testing.T) {
	t.Parallel()
	const java, kotlin = "m/src/test/java/a/b/ATest.java", "src/test/kotlin/a/Tests.kt"
	for _, tt := range []struct {
		name, file, text string
		has              string // apart by ";;"; "" for no class
		lacks            string
	}{
		{"JUnit 4", java, "package a.b;\n\nimport static org.junit.Assert.*;\nimport org.junit.Test;\n\tassertEquals(1, 1);",
			"package a.b;;public class Zzw0rdTest {;;@org.junit.Test public void zzw0rd();;sum = 626;;org.junit.Assert.assertEquals(sum, n);;throw new AssertionError", "assertTrue"},
		{"all of JUnit 4", java, "package a.b;\nimport org.junit.*;", "@org.junit.Test public", "assertEquals"},
		{"JUnit 5", java, "package a.b;\nimport org.junit.jupiter.api.Test;\nassertTrue(x);", "@org.junit.jupiter.api.Test;;Assertions.assertTrue(n == sum)", "assertEquals"},
		{"both", java, "import org.junit.Test;\nimport org.junit.jupiter.api.*;", "@org.junit.jupiter.api.Test", "package"},
		{"TestNG", java, "package a.b;\nimport org.testng.annotations.Test;\nassertEquals(1, 1);", "@org.testng.annotations.Test;;org.testng.Assert.assertEquals(n, sum)", ""},
		{"JUnit 3", java, "package a.b;\nimport junit.framework.TestCase;", "extends junit.framework.TestCase {;;public void testzzw0rd()", "@"},
		{"Kotlin", kotlin, "package a\n\nimport org.junit.Test\nassertEquals(1, 1)", "package a ;;public class Zzw0rdTest {;;@org.junit.Test public fun zzw0rd(): Unit;;assertEquals(sum, n)", ";"},
		{"no library", java, "package a.b;\nimport spock.lang.*;", "", ""},
		{"a package that cannot be read", java, "package a./**/b;\nimport org.junit.Test;", "", ""},
		{"another layout", "tests/ATest.java", "import org.junit.Test;", "", ""},
		{"not taken unasked", "src/test/java/AIT.java", "import org.junit.Test;", "", ""},
		{"Groovy", "src/test/groovy/ATest.groovy", "import org.junit.Test", "", ""},
	} {
		got := Project{}.Canaries(canary.Request{Word: "w0rd", Tests: []canary.Test{{Fails: true}}, Files: []replay.File{canary.Text(tt.file, tt.text)}})
		if tt.has == "" || len(got) != 1 {
			if (tt.has == "") != (len(got) == 0) {
				t.Errorf("%s: %+v", tt.name, got)
			}
			continue
		}
		text := space.ReplaceAllString(string(got[0].Data), " ")
		for _, part := range strings.Split(tt.has, ";;") {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", tt.name, part, got[0].Data)
			}
		}
		if tt.lacks != "" && strings.Contains(text, tt.lacks) {
			t.Errorf("%s: %q in\n%s", tt.name, tt.lacks, got[0].Data)
		}
		if got[0].Listed || !got[0].Together || got[0].Target != "" {
			t.Errorf("%s: %+v", tt.name, got[0])
		}
	}
}

// TestCanaryFolders: one class for each folder, beside those of the target if there are any.
func TestCanaryFolders(t *testing.T) {
	t.Parallel()
	file := func(name string) replay.File {
		return canary.Text("src/test/java/"+name+".java", "import org.junit.Test;\n")
	}
	files := []replay.File{file("a/ATest"), file("a/BTest"), file("b/CTest")}
	for target, want := range map[string]int{"": 2, "src/test/java/b/CTest.java": 1, "README": 2} {
		q := canary.Request{Word: "w", Tests: []canary.Test{{}}, Files: files}
		if target != "" {
			q.Target = []string{target}
		}
		got := Project{}.Canaries(q)
		if len(got) != want || target != "" && got[0].Target != got[0].Path {
			t.Errorf("%q: %+v", target, got)
		}
	}
}
