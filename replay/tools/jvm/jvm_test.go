package jvm

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/tools/report"
)

func TestLevel(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"1.8": 8, " 17 ": 17, "8": 8, "": 0, "${x}": 0, "1.5": 5, "999": 0, "-1": 0} {
		if got := Level(s); got != want {
			t.Errorf("%q is %d", s, got)
		}
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	got := Tests([]string{"a/src/test/java/ATest.java", "../b/TestB.kt", "Helper.java", "c/CSpec.groovy", "x/testdata.txt", "a/src/test/java/ATest.java"})
	if strings.Join(got, " ") != "a/src/test/java/ATest.java b/TestB.kt c/CSpec.groovy" {
		t.Errorf("%q", got)
	}
}

// TestIDs: ids begin with the file, whatever a class is called.
func TestIDs(t *testing.T) {
	t.Parallel()
	c := NewClasses("core")
	c.Source("core/src/test/java/a/b/ATest.java", "a.b")
	c.Source("core/src/test/kotlin/KTest.kt", "a.k")
	c.Compiled("a.b.Other", "ATest.java")
	c.Compiled("a.k.KTest", "KTest.kt")
	for _, x := range []struct{ class, name, want string }{
		{"a.b.ATest", "x", "core/src/test/java/a/b/ATest.java::x"},
		{"a.b.ATest", "x", "core/src/test/java/a/b/ATest.java::x#2"},
		{"a.b.ATest$In$Deep", "x", "core/src/test/java/a/b/ATest.java::In::Deep::x"},
		{"a.b.Other", "x", "core/src/test/java/a/b/ATest.java::Other::x"},
		{"a.k.KTest", "a name with  spaces ü", "core/src/test/kotlin/KTest.kt::a name with spaces ü"},
		{"z.Unknown", "x", "core/src/test/java/z/Unknown.java::x"},
		{"a.b.ATest", "", "core/src/test/java/a/b/ATest.java::(class)"},
		{"a.b.ATest", "p{int}[3]", "core/src/test/java/a/b/ATest.java::p(int)[3]"},
		{"a.b.ATest", "r()[1]", "core/src/test/java/a/b/ATest.java::r[1]"},
	} {
		if got := c.ID(x.class, x.name); got != x.want {
			t.Errorf("%s %q: %s", x.class, x.name, got)
		}
	}
}

// TestUnique: no two tests have one id, in whatever order names come.
func TestUnique(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := NewClasses("")
		seen := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			id := c.ID(rapid.SampledFrom([]string{"a.A", "a.A$B", "B"}).Draw(t, "class"), rapid.SampledFrom([]string{"x", "y z", "x{a}[1]", "", "ü"}).Draw(t, "name"))
			if seen[id] {
				t.Fatalf("twice %s", id)
			}
			seen[id] = true
		}
	})
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]replay.Kind{
		"java.lang.AssertionError": replay.Assertion, "org.opentest4j.AssertionFailedError": replay.Assertion, "org.junit.ComparisonFailure": replay.Assertion,
		"java.lang.NullPointerException": replay.Exception, "org.mockito.exceptions.verification.WantedButNotInvoked": replay.Assertion,
		"org.spockframework.runtime.SpockComparisonFailure": replay.Assertion, "": replay.Exception,
	} {
		x := report.Case{Class: "A", Name: "x", Failures: []report.What{{Type: typ}}}
		if got := NewClasses("").Test(x, false).Kind; got != want {
			t.Errorf("%s is an %s", typ, got)
		}
	}
	for _, w := range []report.What{
		{Type: "org.junit.runners.model.TestTimedOutException", Message: "test timed out after 50 milliseconds"},
		{Type: "java.util.concurrent.TimeoutException", Message: "x() timed out after 1 second"},
	} {
		if got := NewClasses("").Test(report.Case{Errors: []report.What{w}}, true); got.Outcome != replay.TimedOut || got.Kind != "" {
			t.Errorf("%s: %+v", w.Type, got)
		}
	}
	if !(Project{}).Unbound(replay.Test{Kind: replay.Exception, Message: "java.lang.NoSuchMethodError: 'void a.B.c()'"}) || (Project{}).Unbound(replay.Test{Kind: replay.Assertion}) {
		t.Error("unbound")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	inside := func(s string) (string, bool) { return strings.TrimPrefix(s, "/testbed/"), true }
	got := Errors("src/A.java:[4,38] cannot find symbol\n  symbol: x\ne: file:///testbed/src/B.kt:3:5 Unresolved reference: y\n/testbed/c/C.java:7: error: no\n"+
		"/testbed/c/D.java:7: warning: old\nsrc/E.groovy: 12: unexpected token\n1 error\n\nBUILD FAILED in 33s\n", inside)
	var names []string
	for k := range got {
		names = append(names, k)
	}
	slices.Sort(names)
	if got["src/E.groovy"] != "src/E.groovy: 12: unexpected token" {
		t.Errorf("what stands behind a compiler's words is taken for them: %q", got["src/E.groovy"])
	}
	if strings.Join(names, " ") != "c/C.java src/A.java src/B.kt src/E.groovy" || !strings.Contains(got["src/A.java"], "symbol: x") {
		t.Errorf("%q", got)
	}
}

func TestCutShort(t *testing.T) {
	t.Parallel()
	crash := replay.Test{ID: "a/src/test/java/A.java::(class)", Kind: replay.Crash}
	if got := (Project{}).CutShort([]replay.Test{crash, {ID: "b/src/x::y", Kind: replay.Assertion}}); len(got) != 1 || got[0] != "a/src/" {
		t.Errorf("%q", got)
	}
	crash.ID = "A.java::x"
	if got := (Project{}).CutShort([]replay.Test{crash}); len(got) != 1 || got[0] != "" {
		t.Errorf("%q", got)
	}
}
