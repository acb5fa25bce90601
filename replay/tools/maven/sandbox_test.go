//go:build linux

package maven_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/tooltest"
)

// modulesTree is two modules, of which one uses the other, with their parent above or, if flat, beside them; then it wants versions in the
// making that have long been released, too. The tests look at what they have and spoil it.
func modulesTree(answer string, flat bool) tooltest.Tree {
	module := func(name, dependencies string) string {
		return "<project><modelVersion>4.0.0</modelVersion><parent><groupId>org.x</groupId><artifactId>p</artifactId><version>1</version></parent>" +
			"<artifactId>" + name + "</artifactId><dependencies>" + dependencies + "</dependencies></project>"
	}
	tree := tooltest.Tree{
		"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>org.x</groupId><artifactId>p</artifactId><version>1</version><packaging>pom</packaging>" +
			"<modules><module>a</module><module>b</module></modules><properties><maven.compiler.release>11</maven.compiler.release>" +
			"<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>",
		"a/pom.xml": module("a", ""),
		"b/pom.xml": module("b", "<dependency><groupId>org.x</groupId><artifactId>a</artifactId><version>1</version></dependency>"+
			"<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>"),
		"a/src/main/java/org/x/A.java": "package org.x;\npublic class A { public static int answer() { return " + answer + "; } }\n",
		"b/src/test/java/org/x/BTest.java": `package org.x;
import static org.junit.Assert.*;
import java.nio.file.*;
public class BTest {
	static Path installed() throws Exception {
		return Paths.get(org.junit.Test.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent();
	}
	@org.junit.Test public void usesTheStateOfTheOtherModule() { assertEquals(1, A.answer()); }
	@org.junit.Test public void findsWhatWasInstalled() throws Exception { assertFalse(Files.exists(installed().resolve("spoilt"))); }
	@org.junit.AfterClass public static void spoil() throws Exception { Files.write(installed().resolve("spoilt"), new byte[0]); }
}
`,
	}
	if flat {
		parent := "<parent><groupId>org.sonatype.oss</groupId><artifactId>oss-parent</artifactId><version>9-SNAPSHOT</version><relativePath/></parent>"
		tree["all/pom.xml"] = strings.NewReplacer("<module>", "<module>../", "<groupId>org.x<", parent+"<groupId>org.x<").Replace(tree["pom.xml"])
		delete(tree, "pom.xml")
		for _, name := range []string{"a/pom.xml", "b/pom.xml"} {
			tree[name] = strings.ReplaceAll(tree[name], "</parent>", "<relativePath>../all</relativePath></parent>")
			tree[name] = strings.ReplaceAll(tree[name], "4.13.2", "4.13.2-SNAPSHOT")
		}
	}
	return tree
}

// localBox is a sandbox of this machine, if it has what the image has.
func localBox(t *testing.T) tooltest.Box {
	t.Helper()
	for _, program := range []string{"mvn", "javac", "jar"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
				t.Fatal(err)
			}
			t.Skip(err) // the image has them
		}
	}
	s, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if !s.Capabilities().Overlay {
		t.Skip("without overlays nobody can write to an environment")
	}
	return tooltest.Box{Sandbox: s, Made: map[string]bool{}}
}

// TestModules installs from the repository of Maven, and runs two states in one environment, with the same ends in both sandboxes.
func TestModules(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from Maven's repository")
	}
	engine := func(t *testing.T) tooltest.Box { return tooltest.Docker(t, jvm.Image) }
	for name, open := range map[string]func(*testing.T) tooltest.Box{"docker": engine, "local": localBox} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			states(t, b, name == "local")
			if len(b.Made) != 1 {
				t.Errorf("states that differ in sources only have %d environments", len(b.Made))
			}
		})
	}
}

func states(t *testing.T, b tooltest.Box, flat bool) {
	t.Helper()
	for answer, want := range map[string]string{"1": "pass", "2": "fail assertion"} {
		tree := modulesTree(answer, flat)
		r := detect(t, tree, "a/src/main/java/org/x/A.java")
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Diff(t, b.Report(t, run, r, tree, replay.Target{}), tooltest.View{Phases: "ok ok ok", Tests: `
			b/src/test/java/org/x/BTest.java::findsWhatWasInstalled pass
			b/src/test/java/org/x/BTest.java::usesTheStateOfTheOtherModule ` + want + "\n"})
	}
}
