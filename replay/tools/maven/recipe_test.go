package maven_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/maven"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func pom(body string) string {
	return `<?xml version="1.0" encoding="ISO-8859-1"?><project xmlns="http://maven.apache.org/POM/4.0.0"><groupId>org.x</groupId><artifactId>p</artifactId>` +
		body + `</project>`
}

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
	modules := tooltest.Tree{
		"pom.xml": pom("<modules><module>core</module><module>ext</module></modules>"), "core/pom.xml": pom(""),
		"ext/pom.xml": pom("<modules><module>a</module></modules>"), "ext/a/pom.xml": pom(""), "tools/pom.xml": pom(""),
		"core/src/test/resources/pom.xml": pom(""),
	}
	below := tooltest.Tree{"java/pom.xml": pom("<modules><module>core</module></modules>"), "java/core/pom.xml": pom(""), "README": ""}
	flat := tooltest.Tree{
		"all/pom.xml": pom("<modules><module>../all.core</module></modules>"), "all.core/pom.xml": pom("<parent><relativePath>../all</relativePath></parent>"),
		"apart/pom.xml": pom(""), "old/pom.xml": pom("<version>2</version><modules><module>../old.core</module></modules>"),
		"old.core/pom.xml": pom("<parent><groupId>org.x</groupId><artifactId>p</artifactId><version>1</version></parent>"),
	}
	for _, c := range []struct {
		name, want string
		tree       tooltest.Tree
		paths      []string
	}{
		{"root", "", modules, nil},
		{"module", "", modules, []string{"ext/a/src/test/java/ATest.java"}},
		{"resource", "", modules, []string{"core/src/test/resources/pom.xml"}},
		{"apart", "tools", modules, []string{"tools/src/test/java/ATest.java"}},
		{"flat", "all", flat, []string{"all.core/src/main/java/A.java"}},
		{"flat, of another version", "old.core", flat, []string{"old.core/src/main/java/A.java"}},
		{"beside a flat one", "apart", flat, []string{"apart/src/main/java/A.java"}},
		{"below", "java", below, []string{"java/core/src/main/java/A.java"}},
	} {
		r := detect(t, c.tree, c.paths...)
		if r.Runner != "maven" || r.Root != c.want || r.Image != "sluice/jvm:trixie" {
			t.Errorf("%s: %s in %q on %s", c.name, r.Runner, r.Root, r.Image)
		}
	}
	if _, err := tools.Detect(t.Context(), below, tools.Options{}); !errors.As(err, new(tools.ErrNoRecipe)) {
		t.Errorf("a project below the root without paths: %v", err)
	}
	if _, err := tools.Detect(t.Context(), tooltest.Tree{"pom.xml": "<project"}, tools.Options{}); !errors.As(err, new(tools.ErrNoRecipe)) {
		t.Errorf("a pom that cannot be read: %v", err)
	}
}

// TestLevel: the JDK is the one that a project asks for; what is older than JDKs build for is built for the oldest, and noted.
func TestLevel(t *testing.T) {
	t.Parallel()
	compiler := func(s string) string {
		return "<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><configuration>" + s + "</configuration></plugin></plugins></build>"
	}
	for _, c := range []struct{ name, body, want, note string }{
		{"release", "<properties><maven.compiler.release>17</maven.compiler.release></properties>", "17", ""},
		{"source", compiler("<source>1.8</source><target>11</target>"), "11", ""},
		{"variable", "<properties><jdk>21</jdk></properties>" + compiler("<release>${jdk}</release>"), "21", ""},
		{"variables in a ring", "<properties><a>${b}</a><b>${a}</b></properties>" + compiler("<release>${a}</release>"), "", ""},
		{"Spring Boot", "<properties><java.version>25</java.version></properties>", "25", "is for JDK 25: its sources are of Java 25"},
		{"old", compiler("<source>1.5</source>"), "", "is for JDK 11: its sources are of Java 5"},
		{"Apache's old name", "<properties><maven.compile.source>1.5</maven.compile.source></properties>", "", "is for JDK 11: its sources are of Java 5"},
		{"in a profile", "<profiles><profile><properties><maven.compiler.release>99</maven.compiler.release></properties></profile></profiles>", "", ""},
		{"none", "", "", ""},
	} {
		r := detect(t, tooltest.Tree{"pom.xml": pom(c.body)})
		if got := r.Env["SLUICE_JAVA"]; got != c.want || strings.Join(r.Notes, ";") != c.note {
			t.Errorf("%s: Java %q, notes %q", c.name, got, r.Notes)
		}
	}
}

// TestJDK: an older JDK is for what the newest one cannot run.
func TestJDK(t *testing.T) {
	t.Parallel()
	plugin := func(artifact, configuration string) string {
		return "<build><plugins><plugin><artifactId>" + artifact + "</artifactId><configuration>" + configuration + "</configuration></plugin></plugins></build>"
	}
	level := "<properties><maven.compiler.source>1.8</maven.compiler.source></properties>"
	for _, c := range []struct{ body, file, text, image, note string }{
		{level, "", "", jvm.Image, ""},
		{level, ".java-version", "1.8", "sluice/jdk11:bullseye", "is for JDK 11: .java-version names JDK 8"},
		{level, ".java-version", "21", jvm.Image, ""},
		{level + plugin("maven-toolchains-plugin", "<toolchains><jdk><version>[1.8,12)</version></jdk></toolchains>"), "", "", "sluice/jdk11:bullseye", "is for JDK 11: its toolchain is JDK 8"},
		{level + plugin("maven-surefire-plugin", "<argLine>-Djava.security.manager=x</argLine>"), "", "", "sluice/jdk17:bookworm", "is for JDK 17: its tests have a security manager"},
		{level + plugin("maven-surefire-plugin", "<!-- <argLine>\n-Djava.security.manager=x</argLine> -->"), "", "", jvm.Image, ""},
	} {
		tree := tooltest.Tree{"pom.xml": pom(c.body)}
		if c.file != "" {
			tree[c.file] = c.text
		}
		r := detect(t, tree)
		if r.Image != c.image || r.Base.Image != c.image || strings.Join(r.Notes, ";") != c.note {
			t.Errorf("%s %s: %s, base %s, notes %q", c.body, c.file, r.Image, r.Base.Image, r.Notes)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	r := detect(t, tooltest.Tree{
		"pom.xml":                               pom("<build><plugins><plugin><artifactId>maven-failsafe-plugin</artifactId></plugin></plugins></build>"),
		".mvn/wrapper/maven-wrapper.properties": "distributionUrl=https://x.example/org/apache/maven/apache-maven/3.6.3/apache-maven-3.6.3-bin.zip\n",
	})
	want := []string{"asks for Maven 3.6.3 and gets the image's", "has integration tests (Failsafe), which are not run"}
	if d := cmp.Diff(want, r.Notes); d != "" {
		t.Error(d)
	}
}

// TestInputs: states that differ in sources only share an environment.
func TestInputs(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"pom.xml": pom("<modules><module>a</module></modules>"), "a/pom.xml": pom(""), "a/src/main/java/A.java": "1", ".mvn/maven.config": "",
		"lib/local.jar": "", "a/src/test/resources/x.jar": "", "a/src/it/p/pom.xml": "", ".mvn/wrapper/maven-wrapper.jar": "",
	}
	r := detect(t, tree)
	if d := cmp.Diff([]string{".mvn/maven.config", "a/pom.xml", "lib/local.jar", "pom.xml"}, r.Inputs); d != "" {
		t.Error(d)
	}
	tree["a/src/main/java/A.java"] = "2"
	if detect(t, tree).Fingerprint != r.Fingerprint {
		t.Error("a source changes the environment")
	}
	tree["a/pom.xml"] = pom("<version>2</version>")
	if detect(t, tree).Fingerprint == r.Fingerprint {
		t.Error("a pom does not change the environment")
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"pom.xml": pom("<modules><module>a</module><module>a/b</module></modules>"), "a/pom.xml": pom(""), "a/b/pom.xml": pom("")}
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"class", []string{"a/src/test/java/org/x/ATest.java"}, "-Dtest=org/x/ATest -pl a -am"},
		{"two modules", []string{"a/src/test/java/ATest.java", "a/b/src/test/java/BTest.java", "a/src/main/java/A.java"}, "-Dtest=ATest,BTest -pl a,a/b -am"},
		{"Kotlin", []string{"a/b/src/test/kotlin/org/x/CTest.kt"}, "-Dtest=**/CTest -pl a/b -am"},
		{"the root's own", []string{"src/test/java/ATest.java"}, "-Dtest=ATest"},
		{"helper", []string{"a/src/test/java/Helper.java", "a/pom.xml"}, ""},
		{"all", nil, ""},
	} {
		r := detect(t, tree)
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		args := run.Steps(r, replay.Target{Paths: c.paths})[0].Args
		i := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "-Dsluice.reports=") })
		if got := strings.Join(args[i+1:len(args)-1], " "); got != c.want || args[len(args)-1] != "test" || !slices.Contains(args, "-o") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestFlat: a module beside the root is named, and chosen, from the root.
func TestFlat(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"all/pom.xml": pom("<modules><module>../all.core</module></modules>"), "all.core/pom.xml": pom("")}
	r := detect(t, tree, "all.core/src/main/java/A.java")
	if got := r.Env["SLUICE_MODULES"]; got != "\n../all.core" {
		t.Errorf("modules %q", got)
	}
	run, err := tools.For(r.Runner)
	if err != nil {
		t.Fatal(err)
	}
	steps := run.Steps(r, replay.Target{Paths: []string{"all.core/src/test/java/org/x/ATest.java", "apart/src/test/java/BTest.java"}})
	if got := strings.Join(steps[0].Args, " "); steps[0].Dir != "all" || !strings.HasSuffix(got, " -Dtest=org/x/ATest -pl ../all.core -am test") {
		t.Errorf("in %s: %s", steps[0].Dir, got)
	}
}

// TestSnapshots: versions in the making that other projects had are named for Install; what the poms' own properties do not say, and what
// cannot be a folder, is not.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	dependency := func(group, artifact, version, scope string) string {
		return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId><version>" + version + "</version><scope>" + scope + "</scope></dependency>"
	}
	root := "<parent><groupId>org.base</groupId><artifactId>base</artifactId><version>2.1-SNAPSHOT</version></parent><version>${own}</version>" +
		"<properties><own>1-SNAPSHOT</own><y.version>3.${y}</y.version><y>4-SNAPSHOT</y></properties><modules><module>a</module></modules><dependencyManagement><dependencies>" +
		dependency("org.y", "bom", "${y.version}", "import") + dependency("org.y", "y", "${y.version}", "") + "</dependencies></dependencyManagement>"
	a := "<parent><groupId>org.x</groupId><artifactId>p</artifactId><version>1-SNAPSHOT</version></parent><artifactId>a</artifactId><dependencies>" +
		dependency("org.x", "p", "${project.version}", "") + dependency("org.x", "outside", "${project.version}", "") + dependency("org.z", "z", "1.0", "") +
		dependency("org.z", "..", "1-SNAPSHOT", "") + dependency("org z", "z", "1-SNAPSHOT", "") + dependency("${z}", "z", "1-SNAPSHOT", "") + "</dependencies>"
	r := detect(t, tooltest.Tree{"pom.xml": pom(root), "a/pom.xml": "<project>" + a + "</project>"})
	want := "dependency org.x:outside:1-SNAPSHOT\ndependency org.y:y:3.4-SNAPSHOT\nparent org.base:base:2.1-SNAPSHOT\nparent org.y:bom:3.4-SNAPSHOT"
	if d := cmp.Diff(want, r.Install[0].Env["SLUICE_SNAPSHOTS"]); d != "" {
		t.Error(d)
	}
	if n := strings.Join(r.Notes, ";"); !strings.Contains(n, "asks for 4 versions in the making") {
		t.Error(n)
	}
	if r := detect(t, tooltest.Tree{"pom.xml": pom("<version>1-SNAPSHOT</version>")}); len(r.Install[0].Env) > 0 || len(r.Notes) > 0 {
		t.Errorf("of a project that wants none: %v %q", r.Install[0].Env, r.Notes)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names, err := tools.Names(t.Context(), tooltest.Tree{"pom.xml": pom("")}, nil)
	if d := cmp.Diff([]string{"org.x:p"}, names); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestMany: what Maven would not read whole has no recipe.
func TestMany(t *testing.T) {
	t.Parallel()
	modules, jars, plain := tooltest.Tree{}, tooltest.Tree{"pom.xml": pom("")}, tooltest.Tree{"pom.xml": pom("")}
	var names strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&names, "<module>m%d</module>", i)
		modules[fmt.Sprintf("m%d/pom.xml", i)] = pom("")
		jars[fmt.Sprintf("lib/%d.jar", i)] = ""
		plain[fmt.Sprintf("lib/%d.txt", i)] = ""
	}
	modules["pom.xml"] = pom("<modules>" + names.String() + "</modules>")
	for _, tree := range []tooltest.Tree{modules, jars} {
		var none tools.ErrNoRecipe
		if _, err := tools.Detect(t.Context(), tree, tools.Options{}); !errors.As(err, &none) || !strings.Contains(none.Reason, "more than 2000") {
			t.Errorf("%d files: %v", len(tree), err)
		}
	}
	if r := detect(t, plain); len(r.Inputs) != 1 {
		t.Errorf("inputs %q", r.Inputs)
	}
	scanned, err := project.Scan(t.Context(), modules)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := (maven.Tool{}).Names(scanned, nil); err != nil || got != nil {
		t.Errorf("names %q: %v", got, err)
	}
}
