package meson

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func parse(t testing.TB, files map[string][]byte, exit int) replay.Report {
	t.Helper()
	return tooltest.Parse(t, Tool{}, tooltest.Left{Files: files, Exit: exit})
}

var versions = map[string]int{"meson1.3": 11, "meson1.9": 11}

// TestParse reads what two versions left of one project.
func TestParse(t *testing.T) {
	t.Parallel()
	for v, exit := range versions {
		got := parse(t, tooltest.CapturedAll(t, v), exit)
		tooltest.Diff(t, got, tooltest.View{Phases: "ok failed ok", Broken: "broken", Tests: `
			bails::bails error crash
			bails::bails > before pass
			cases::Add.DISABLED_Off skip
			cases::Add.Differs fail assertion
			cases::Add.Skips skip
			cases::Add.Throws fail exception
			cases::Add.Works pass
			cases::All/P.Is/0 pass
			cases::All/P.Is/1 fail assertion
			cases::All/P.Is/2 pass
			crashing::crashing error crash
			meson::script pass
			p::adds (1 + 1) "ünï" pass
			p::adds (1 + 1) "ünï"#2 pass
			p::unexpected fail assertion
			plaincases::plaincases fail exception
			points::points > 6 pass
			points::points > first (1 + 1) pass
			points::points > first (1 + 1)#2 pass
			points::points > fourth skip
			points::points > second "ünï" fail assertion
			points::points > third skip
			t_aborts::aborts error assertion
			t_expected::expected pass
			t_fails::fails fail assertion
			t_hang::hang timeout
			t_hard::hard error collection
			t_plain::plain pass
			t_segv::segv error crash
			t_skips::skips skip
			`})
	}
}

// TestForgery: what does not agree is not believed.
func TestForgery(t *testing.T) {
	t.Parallel()
	if got := parse(t, tooltest.CapturedAll(t, "meson1.9"), 0); got.Inconsistent == "" {
		t.Error("exit 0 is believed, and the report says 11")
	}
	for _, name := range []string{"meson.jsonl", "index.json", "build.json", "meson.xml"} {
		files := tooltest.CapturedAll(t, "meson1.9")
		delete(files, name)
		if got := parse(t, files, 11); got.Inconsistent == "" {
			t.Errorf("a run without %s is believed", name)
		}
	}
	files := tooltest.CapturedAll(t, "meson1.9")
	lines := strings.SplitAfter(string(files["meson.jsonl"]), "\n")
	files["meson.jsonl"] = []byte(strings.Join(lines[1:], ""))
	if got := parse(t, files, 11); !strings.Contains(got.Inconsistent, "t_plain::plain") {
		t.Errorf("a test that has no end is not missed: %q", got.Inconsistent)
	}
}

// FuzzReports puts arbitrary bytes in the place of each kind of report.
func FuzzReports(f *testing.F) {
	all := tooltest.CapturedAll(f, "meson1.9")
	for _, name := range []string{"meson.jsonl", "meson.xml", "index.json", "build.json"} {
		f.Add(name, all[name], 11)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, exit int) {
		files := tooltest.CapturedAll(t, "meson1.9")
		files[name] = data
		parse(t, files, exit)
	})
}

// TestRecipe: options that build tests are switched on, and what is asked for is installed.
func TestRecipe(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"meson.build":        "project('a', 'c')\ndep = dependency('glib-2.0', version: '>=2') # dependency('no')\ndependency('nobody-has-it')\nfind_program('bison')\nsubdir('t')\n",
		"t/meson.build":      "test('x', executable('x', 'x.c'))\n",
		"meson_options.txt":  "option('tests', type: 'feature', value: 'auto')\noption('gtk_doc', type: 'boolean',\n  value: true)\noption('other', type: 'boolean')\n",
		"lone/t/meson.build": "test('y', x)",
	}
	r, root := recipe(t, tree)
	want := []string{"bison", "libglib2.0-dev"}
	args := r.Install[0].Args
	if root != "" || strings.Join(args[len(args)-2:], " ") != strings.Join(want, " ") {
		t.Errorf("in %q %v are installed", root, args[3:])
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "pkg nobody-has-it") {
		t.Errorf("notes %q", r.Notes)
	}
	config := r.Build[0].Args[len(r.Build[0].Args)-1]
	if !strings.Contains(config, `["-Dgtk_doc=false","-Dtests=enabled"]`) {
		t.Errorf("configured with %s", config)
	}
}
