package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func plain(What) replay.Kind { return replay.Exception }

// short is a case in one line: suites|file|class|name outcome message.
func short(c Case) string {
	t := c.Test(plain)
	return strings.TrimSpace(fmt.Sprintf("%s|%s|%s|%s %s %s", strings.Join(c.Suites, ">"), c.File, c.Class, c.Name, t.Outcome, t.Message))
}

func TestReadJUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, xml string
		want      []string
	}{
		{"Surefire", `<testsuite name="m.ATest" tests="4"><properties><property name="a" value="&lt;testcase"/></properties>
			<testcase name="ok" classname="m.ATest" time="0.1"><system-out><![CDATA[<testcase name="forged"/>]]></system-out></testcase>
			<testcase name="flaky" classname="m.ATest"><flakyFailure message="once" type="E"><stackTrace>at x</stackTrace><system-out>o</system-out></flakyFailure></testcase>
			<testcase name="bad" classname="m.ATest"><failure message="first" type="E">s</failure><rerunFailure message="second"/><rerunError message="third"/></testcase>
			<testcase name="err" classname="m.ATest"><error message="e" type="x.Y"/></testcase></testsuite>`,
			[]string{"m.ATest||m.ATest|ok pass", "m.ATest||m.ATest|flaky missing failed, and passed when it was run again: once",
				"m.ATest||m.ATest|bad fail first", "m.ATest||m.ATest|err error e"}},
		{"nested suites", `<testsuites name="jest"><testsuite name="outer" file="a.test.js"><testcase name="x" classname="c"/>
			<testsuite name="inner"><testcase name="y" file="b.js"><skipped message="why" type="todo"/></testcase></testsuite>
			<testcase name="z"/></testsuite></testsuites>`,
			[]string{"jest>outer|a.test.js|c|x pass", "jest>outer>inner|b.js||y skip todo: why", "jest>outer|a.test.js||z pass"}},
		{"CTest", `<testsuite name="Linux"><testcase name="a" classname="a" status="run"/><testcase name="b" classname="b" status="fail"><failure message="Failed"/></testcase>
			<testcase name="c" classname="c" status="disabled"/><testcase name="d" classname="d" status="notrun"><skipped message="SKIP_RETURN_CODE=1"/></testcase></testsuite>`,
			[]string{"Linux||a|a pass", "Linux||b|b fail Failed", "Linux||c|c skip not run", "Linux||d|d skip SKIP_RETURN_CODE=1"}},
		{"GoogleTest", `<?xml version="1.0" encoding="UTF-8"?><testsuites><testsuite name="S"><testcase name="T" status="run" result="completed" classname="S" file="a.cc" line="1">
			<failure message="Expected &#x0A; equal" type=""><![CDATA[a.cc:1]]></failure></testcase></testsuite></testsuites>`,
			[]string{"S|a.cc|S|T fail Expected \n equal"}},
		{"what is printed around cases", `<testsuite name="s"><system-out><testcase name="forged"/></system-out><system-err/><testcase name="t"/></testsuite>`,
			[]string{"s|||t pass"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cases, err := ReadJUnit([]byte(c.xml))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range cases {
				got = append(got, short(x))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestJUnitLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", whatBytes)
	cases, err := ReadJUnit([]byte(`<testsuite><testcase name="t"><failure message="m">` + long + ` DocTestFailure</failure></testcase></testsuite>`))
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	if text := cases[0].Failures[0].Text; len(text) > whatBytes+20 || !strings.HasSuffix(text, "DocTestFailure") || !utf8.ValidString(text) {
		t.Errorf("a long text has %d bytes", len(text))
	}
	if _, err := ReadJUnit(make([]byte, JUnitBytes+1)); err == nil {
		t.Error("a huge report was read")
	}
	deep := strings.Repeat("<testsuite>", 100_000)
	if _, err := ReadJUnit([]byte(deep)); err == nil {
		t.Error("suites without an end were believed")
	}
	if _, err := ReadJUnit([]byte("<html/>")); err == nil {
		t.Error("a page was taken for a report")
	}
}

func TestReadJUnits(t *testing.T) {
	t.Parallel()
	one := []byte(`<testsuite name="s"><testcase name="t"/></testsuite>`)
	files := map[string][]byte{"TEST-b.xml": one, "TEST-a.xml": one, "other.xml": []byte("<"), "TEST-c.txt": one}
	cases, err := ReadJUnits(files, "TEST-*.xml")
	if err != nil || len(cases) != 2 {
		t.Errorf("%d cases, %v", len(cases), err)
	}
	files["TEST-0.xml"] = one[:30]
	if cases, err = ReadJUnits(files, "TEST-*.xml"); err == nil || !strings.HasPrefix(err.Error(), "TEST-0.xml: ") || len(cases) != 2 {
		t.Errorf("with a cut file: %d cases, %v", len(cases), err)
	}
	if _, err := ReadJUnits(files, "*.none"); err == nil {
		t.Error("no report at all is one")
	}
}

func FuzzReadJUnit(f *testing.F) {
	names, err := filepath.Glob("../pytest/testdata/*/*.xml")
	if err != nil || len(names) == 0 {
		f.Fatalf("no captured reports: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`<testsuites><testsuite><testcase name="a"><flakyError/><skipped/></testcase></testsuite></testsuites>`))
	f.Add([]byte(`<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := ReadJUnit(data)
		if n := bytes.Count(data, []byte("testcase")); len(cases) > n {
			t.Errorf("%d cases of a report with the word %d times", len(cases), n)
		}
		if err == nil && !bytes.Contains(data, []byte("testsuite")) {
			t.Error("a report without a suite was believed")
		}
		var set Set
		for _, c := range cases {
			test := c.Test(plain)
			test.ID = "::" + c.Name
			if !Known(test.Outcome) || !utf8.ValidString(c.Name+c.Class+c.File+c.Words()) {
				t.Errorf("unsound case %+v", c)
			}
			set.Add(test)
		}
		if sorted := set.Sorted(); len(sorted) != set.Len() || set.Len() > len(cases) {
			t.Errorf("%d tests of %d cases", len(sorted), len(cases))
		}
	})
}
