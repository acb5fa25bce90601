package gradle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

func detect(t *testing.T, tree tooltest.Tree, paths ...string) replay.Recipe {
	t.Helper()
	r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFind(t *testing.T) {
	t.Parallel()
	whole := tooltest.Tree{"settings.gradle.kts": "", "core/build.gradle.kts": "", "core/src/test/kotlin/ATest.kt": ""}
	below := tooltest.Tree{"java/settings.gradle": "", "java/core/build.gradle": "", "go.txt": ""}
	for _, c := range []struct {
		name, want string
		tree       tooltest.Tree
		paths      []string
	}{
		{"root", "", whole, nil},
		{"module", "", whole, []string{"core/src/test/kotlin/ATest.kt"}},
		{"below", "java", below, []string{"java/core/src/A.java"}},
		{"without settings", "", tooltest.Tree{"build.gradle": ""}, nil},
	} {
		r := detect(t, c.tree, c.paths...)
		if r.Runner != "gradle" || r.Root != c.want {
			t.Errorf("%s: %s in %q", c.name, r.Runner, r.Root)
		}
	}
	android := tooltest.Tree{"build.gradle": "classpath 'com.android.tools.build:gradle:7.0.0'"}
	var none tools.ErrNoRecipe
	if _, err := tools.Detect(t.Context(), android, tools.Options{}); !errors.As(err, &none) || !strings.Contains(none.Reason, "Android") {
		t.Errorf("Android: %v", err)
	}
	if r := detect(t, tooltest.Tree{"build.gradle": "", "pom.xml": "<project><artifactId>a</artifactId></project>"}); r.Runner != "maven" {
		t.Errorf("with both: %s", r.Runner)
	}
}

func TestRecipe(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"settings.gradle": "", "build.gradle": "java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\nsourceCompatibility = '1.8'",
		"gradle/wrapper/gradle-wrapper.properties": "distributionUrl=https\\://x.example/distributions/gradle-8.5-bin.zip\n",
		"gradle/wrapper/gradle-wrapper.jar":        "", "gradle/libs.versions.toml": "", "gradle.properties": "", "buildSrc/src/main/groovy/x.groovy": "",
		"src/main/java/A.java": "", "libs/a.jar": "", "src/test/resources/b.jar": "",
	}
	r := detect(t, tree)
	want := []string{"build.gradle", "buildSrc/src/main/groovy/x.groovy", "gradle.properties", "gradle/libs.versions.toml", "libs/a.jar", "settings.gradle"}
	if d := cmp.Diff(want, r.Inputs); d != "" {
		t.Error(d)
	}
	if r.Env["SLUICE_JAVA"] != "17" || strings.Join(r.Notes, "") != "asks for Gradle 8.5, and gets the image's where the network has no other" {
		t.Errorf("Java %s, notes %q", r.Env["SLUICE_JAVA"], r.Notes)
	}
}

// TestJDK: a version of Gradle runs on JDKs of its time.
func TestJDK(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, build, image, note string }{
		{"8.5", "", "sluice/jvm:trixie", ""},
		{"8.4", "", "sluice/jdk17:bookworm", "is for JDK 17: Gradle 8.4 runs on JDK 20 at most"},
		{"7.3.3", "", "sluice/jdk17:bookworm", "is for JDK 17: Gradle 7.3.3 runs on JDK 17 at most"},
		{"6.9", "", "sluice/jdk11:bullseye", "is for JDK 11: Gradle 6.9 runs on JDK 15 at most"},
		{"6.9", "sourceCompatibility = 17", "sluice/jdk17:bookworm", "is for JDK 17: Gradle 6.9 runs on JDK 15 at most"},
		{"1.12", "", "sluice/jdk11:bullseye", "is for JDK 11: Gradle 1.12 runs on JDK 7 at most"},
		{"", "sourceCompatibility = 1.7", "sluice/jdk11:bullseye", "is for JDK 11: its sources are of Java 7"},
	} {
		tree := tooltest.Tree{"build.gradle": c.build}
		if c.version != "" {
			tree["gradle/wrapper/gradle-wrapper.properties"] = "distributionUrl=https\\://x.example/gradle-" + c.version + "-bin.zip\n"
		}
		r := detect(t, tree)
		notes := strings.Join(r.Notes, ";")
		if r.Image != c.image || !strings.HasPrefix(notes, c.note) || c.note == "" && strings.Contains(notes, "is for JDK") {
			t.Errorf("%+v: %s, notes %q", c, r.Image, r.Notes)
		}
	}
}

// TestDistribution: only a plain address is asked, and only over a channel that is checked.
func TestDistribution(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`distributionUrl=https\://x.example/distributions/gradle-8.5-bin.zip`:         {"https://x.example/distributions/gradle-8.5-bin.zip", "8.5"},
		`distributionUrl = https://x.example/d/e/gradle-7.0-rc-1-all.zip`:             {"https://x.example/d/e/gradle-7.0-rc-1-all.zip", "7.0-rc-1"},
		`distributionUrl=http\://x.example/gradle-8.5-bin.zip`:                        {"", ""},
		`distributionUrl=file\:///gradle-8.5-bin.zip`:                                 {"", ""},
		`distributionUrl=https\://u:p@x.example/gradle-8.5-bin.zip`:                   {"", ""},
		`distributionUrl=https\://x.example/gradle-8.5-bin.zip?x=$(id)`:               {"", ""},
		`distributionUrl=https\://x.example/a b/gradle-8.5-bin.zip`:                   {"", ""},
		`distributionUrl=https\://x.example/gradle-../../../tmp/gradle-8.5/x-bin.zip`: {"", ""},
		`distributionUrl=gradle-8.5-bin.zip`:                                          {"", ""},
	} {
		r := detect(t, tooltest.Tree{"build.gradle": "", "gradle/wrapper/gradle-wrapper.properties": line + "\n"})
		if d := cmp.Diff(want, r.Install[1].Args[3:5]); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	r := detect(t, tooltest.Tree{"build.gradle": ""})
	run, err := tools.For("gradle")
	if err != nil {
		t.Fatal(err)
	}
	for paths, want := range map[string]string{
		"a/src/test/java/ATest.java a/build.gradle b/BSpec.groovy": "-Dsluice.files=a/src/test/java/ATest.java\nb/BSpec.groovy",
		"a/Helper.java": "-Dsluice.report={out}/gradle.jsonl",
	} {
		args := run.Steps(r, replay.Target{Paths: strings.Fields(paths)})[0].Args
		if got := args[len(args)-2]; got != want {
			t.Errorf("%s: %q", paths, got)
		}
	}
}

// TestMany: a build with more inputs than are read has no recipe.
func TestMany(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"settings.gradle": ""}
	for i := range 1999 {
		tree[fmt.Sprintf("m%d/build.gradle", i)] = ""
	}
	if r := detect(t, tree); len(r.Inputs) != 2000 {
		t.Errorf("%d inputs", len(r.Inputs))
	}
	tree["one/build.gradle"] = ""
	var none tools.ErrNoRecipe
	if _, err := tools.Detect(t.Context(), tree, tools.Options{}); !errors.As(err, &none) || !strings.Contains(none.Reason, "more than 2000") {
		t.Errorf("%d inputs: %v", len(tree), err)
	}
}
