//go:build linux

package maven_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/docker/images"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/tooltest"
)

// modulesTree is two modules, of which one uses the other. The tests look at what they have and spoil it.
func modulesTree(answer string) tooltest.Tree {
	module := func(name, dependencies string) string {
		return "<project><modelVersion>4.0.0</modelVersion><parent><groupId>org.x</groupId><artifactId>p</artifactId><version>1</version></parent>" +
			"<artifactId>" + name + "</artifactId><dependencies>" + dependencies + "</dependencies></project>"
	}
	return tooltest.Tree{
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
}

// box is a sandbox, and where it is told which environments the test made.
type box struct {
	replay.Sandbox
	made map[string]bool
}

func skip(t *testing.T, variable string, why error) {
	t.Helper()
	if os.Getenv(variable) == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// dockerBox is a sandbox of the engine that is there; the environments of the test are removed at its end.
func dockerBox(t *testing.T) box {
	t.Helper()
	engine, err := images.Open(t.Context(), "")
	if err != nil {
		skip(t, "SLUICE_REQUIRE_DOCKER", err)
	}
	list, err := engine.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i images.Image) bool { return i.Name == jvm.Image }) {
		skip(t, "SLUICE_REQUIRE_DOCKER", docker.ErrNoImage)
	}
	s, err := docker.New(t.Context(), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := box{s, map[string]bool{}}
	t.Cleanup(func() {
		_ = s.Close()
		list, err := engine.List(context.Background())
		if err != nil {
			t.Error(err)
		}
		list = slices.DeleteFunc(list, func(i images.Image) bool { return !b.made[i.ID] })
		if _, err := engine.Remove(context.Background(), list); err != nil {
			t.Error(err)
		}
		_ = engine.Close()
	})
	return b
}

// localBox is a sandbox of this machine, if it has what the image has.
func localBox(t *testing.T) box {
	t.Helper()
	for _, program := range []string{"mvn", "javac", "jar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err) // the image has them
		}
	}
	s, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if !s.Capabilities().Overlay {
		skip(t, "SLUICE_REQUIRE_SANDBOX", errors.New("without overlays nobody can write to an environment"))
	}
	return box{s, map[string]bool{}}
}

// TestModules installs from the repository of Maven, and runs two states in one environment, with the same ends in both sandboxes.
func TestModules(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from Maven's repository")
	}
	for name, open := range map[string]func(*testing.T) box{"docker": dockerBox, "local": localBox} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			states(t, b)
			if len(b.made) != 1 {
				t.Errorf("states that differ in sources only have %d environments", len(b.made))
			}
		})
	}
}

func states(t *testing.T, b box) {
	t.Helper()
	for answer, want := range map[string]string{"1": "pass", "2": "fail assertion"} {
		tree := modulesTree(answer)
		r := detect(t, tree, "a/src/main/java/org/x/A.java")
		env, err := b.Prepare(t.Context(), r, tree)
		if failed := new(replay.InstallError); errors.As(err, &failed) {
			t.Fatalf("%v\n%s", err, failed.Log)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.made[env.ID] = true
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.Run(t.Context(), replay.Job{Name: "modules", Tree: tree, Env: env, Steps: run.Steps(r, replay.Target{})})
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Diff(t, run.Parse(r, replay.Target{}, res), tooltest.View{Phases: "ok ok ok", Tests: `
			b/src/test/java/org/x/BTest.java::findsWhatWasInstalled pass
			b/src/test/java/org/x/BTest.java::usesTheStateOfTheOtherModule ` + want + "\n"})
	}
}
