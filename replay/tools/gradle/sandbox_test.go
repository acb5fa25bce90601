package gradle_test

import (
	"testing"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/tooltest"
)

// modulesTree is two projects, of which one uses the other. The tests look at what they have and spoil it.
func modulesTree(answer string) tooltest.Tree {
	return tooltest.Tree{
		"settings.gradle": "rootProject.name = 'top'\ninclude 'a', 'b'\n",
		"build.gradle": "subprojects {\n\tapply plugin: 'java'\n\tsourceCompatibility = 1.6\n\trepositories { mavenCentral() }\n" +
			"\ttest { ignoreFailures = true; maxParallelForks = 4 }\n}\n" +
			"project(':b') { dependencies { compile project(':a'); testCompile 'junit:junit:4.13.2' } }\n",
		"a/src/main/java/org/x/A.java": "package org.x;\npublic class A { public static int answer() { return " + answer + "; } }\n",
		"b/src/test/java/org/x/BTest.java": `package org.x;
import static org.junit.Assert.*;
import java.nio.file.*;
public class BTest {
	static Path installed() throws Exception {
		return Paths.get(org.junit.Test.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent();
	}
	@org.junit.Test public void usesTheStateOfTheOtherProject() { assertEquals(1, A.answer()); }
	@org.junit.Test public void findsWhatWasInstalled() throws Exception { assertFalse(Files.exists(installed().resolve("spoilt"))); }
	@org.junit.AfterClass public static void spoil() throws Exception { Files.write(installed().resolve("spoilt"), new byte[0]); }
}
`,
	}
}

// TestModules installs from the repository of Maven with the image's Gradle, and runs two states in one environment.
func TestModules(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from Maven's repository")
	}
	b := tooltest.Docker(t, jvm.Image)
	for answer, want := range map[string]string{"1": "pass", "2": "fail assertion"} {
		tree := modulesTree(answer)
		// Levels that the newest JDK does not know any more are raised, where an image with an older one is not asked for.
		r, err := tools.Detect(t.Context(), tree, tools.Options{Image: jvm.Image, Paths: []string{"a/src/main/java/org/x/A.java"}})
		if err != nil {
			t.Fatal(err)
		}
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Diff(t, b.Report(t, run, r, tree, replay.Target{}), tooltest.View{Phases: "ok ok ok", Tests: `
			b/src/test/java/org/x/BTest.java::findsWhatWasInstalled pass
			b/src/test/java/org/x/BTest.java::usesTheStateOfTheOtherProject ` + want + "\n"})
	}
	if len(b.Made) != 1 {
		t.Errorf("states that differ in sources only have %d environments", len(b.Made))
	}
}
