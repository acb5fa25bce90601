package ctest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/native"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func scan(t testing.TB, tree tooltest.Tree) *project.Tree {
	t.Helper()
	s, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// settings are what a step of a recipe tells its program.
func settings(t testing.TB, s replay.Step) native.Settings {
	t.Helper()
	var set native.Settings
	if err := json.Unmarshal([]byte(s.Args[len(s.Args)-1]), &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// TestFind: the project is the topmost that holds the touched files, and it declares tests.
func TestFind(t *testing.T) {
	t.Parallel()
	project1 := "project(a)\nadd_subdirectory(t)\n"
	tree := tooltest.Tree{
		"CMakeLists.txt": project1, "t/CMakeLists.txt": "project(inner)\nadd_test(NAME x COMMAND x)\n", "t/x.c": "",
	}
	two := tooltest.Tree{
		"a/CMakeLists.txt": project1, "a/t.cmake": "gtest_discover_tests(x)\n", "b/CMakeLists.txt": "project(b)\nmy_add_unit_test(x)\n", "c.c": "",
	}
	for _, c := range []struct {
		tree       tooltest.Tree
		paths      []string
		want, none string
	}{
		{tree, []string{"t/x.c"}, "", ""},
		{tree, nil, "", ""},
		{two, []string{"b/x.c", "b/y.c", "a/z.c"}, "b", ""},
		{two, []string{"c.c"}, "", "2 projects"},
		{tooltest.Tree{"CMakeLists.txt": project1}, nil, "", "declares no test"},
		{tooltest.Tree{"configure.ac": ""}, nil, "", "configure and make are not known"},
	} {
		got, err := Tool{}.Find(scan(t, c.tree), c.paths)
		var none project.ErrNoRecipe
		switch {
		case c.none == "" && (err != nil || got != c.want):
			t.Errorf("%v: got %q, %v, want %q", c.paths, got, err, c.want)
		case c.none != "" && (!errors.As(err, &none) || !strings.Contains(none.Reason, c.none)):
			t.Errorf("%v: got %v, want %q", c.paths, err, c.none)
		}
	}
}

// TestRecipe: tests that are off by default are switched on, packages come from the table, and what is fetched is named.
func TestRecipe(t *testing.T) {
	t.Parallel()
	tree := scan(t, tooltest.Tree{
		"build/x": "", "CMakeLists.txt": `project(a)
option(SHOP_BUILD_TESTS "b" OFF)
OPTION( ENABLE_UNIT_TEST "b" OFF)
set(SHOP_TESTING OFF CACHE BOOL "x")
option(SHOP_TEST_COVERAGE "c" OFF)
option(SHOP_FUZZ_TESTS "c" OFF)
option(DISABLE_TESTS "c" ON)
option(WARNINGS_AS_ERRORS "d" ON)
option(SHOP_LATEST "not a test" OFF)
# find_package(Qt6)
find_package(ZLIB REQUIRED) find_package(Boost 1.60 REQUIRED COMPONENTS filesystem nosuch)
find_package(Unheard QUIET)
set(QT_MAJOR Qt5) find_package(${QT_MAJOR} REQUIRED COMPONENTS Core Svg) find_package(${NEVER_SET}Core)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.1 "json-c")
FetchContent_Declare(gtest URL https://github.com/google/googletest/x.zip)
FetchContent_Declare(shoplib GIT_REPOSITORY https://example.com/x)
add_test(NAME x COMMAND x)
`, "third_party/x/CMakeLists.txt": "find_package(OpenCV)\n"})
	r, err := Tool{}.Recipe(tree, "")
	if err != nil {
		t.Fatal(err)
	}
	args := r.Install[0].Args
	packages := args[slices.Index(args, "sh")+4:]
	if d := cmp.Diff([]string{"libboost-dev", "libboost-filesystem-dev", "libglib2.0-dev", "libgmock-dev", "libgtest-dev", "libjson-c-dev", "libqt5svg5-dev", "qtbase5-dev", "zlib1g-dev"}, packages); d != "" {
		t.Errorf("packages (-want +got):\n%s", d)
	}
	set := settings(t, r.Build[0])
	want := []string{
		"-DENABLE_UNIT_TEST:BOOL=ON", "-DSHOP_BUILD_TESTS:BOOL=ON", "-DSHOP_TESTING:BOOL=ON", "-DDISABLE_TESTS:BOOL=OFF", "-DWARNINGS_AS_ERRORS:BOOL=OFF",
	}
	if d := cmp.Diff(want, set.Args[4:]); d != "" || set.Build != "build-sluice" || !slices.Equal(set.Googletest, []string{"GTEST"}) {
		t.Errorf("built in %q with %q, options (-want +got):\n%s", set.Build, set.Googletest, d)
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "cmake unheard") || !strings.Contains(notes, "shoplib is fetched") || len(r.Inputs) != 0 {
		t.Errorf("notes %q, inputs %q", notes, r.Inputs)
	}
	steps := Tool{}.Steps(r, replay.Target{Paths: []string{"t/./x.c", "../y.c", "{out}/z.c"}})
	if got := settings(t, steps[len(steps)-1]); got.Build != set.Build || !slices.Equal(got.Paths, []string{"t/x.c", "y.c"}) {
		t.Errorf("the tests run in %q over %q", got.Build, got.Paths)
	}
}

// FuzzRecipe: whatever a description says, what is installed is of the table, and what CMake is told are settings.
func FuzzRecipe(f *testing.F) {
	f.Add("project(a)\noption(A_TESTS)\nfind_package(${X})\nset(X Qt5)\npkg_check_modules(A REQUIRED a>=1 --x)\nFetchContent_Declare(gtest x)\n")
	f.Add("option(TEST-$(x) \"\nset(TESTS \x00 CACHE BOOL\nfind_package(Boost COMPONENTS \"a;b\" -x ${}")
	f.Fuzz(func(t *testing.T, text string) {
		tree := scan(t, tooltest.Tree{"CMakeLists.txt": text})
		r, err := Tool{}.Recipe(tree, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Install {
			for _, p := range s.Args[4:] {
				if !strings.Contains("abcdefghijklmnopqrstuvwxyz", p[:1]) || strings.ContainsAny(p, " /;$") {
					t.Errorf("%q would be installed", p)
				}
			}
		}
		for _, a := range settings(t, r.Build[0]).Args {
			if !strings.HasPrefix(a, "-D") || strings.ContainsAny(a, " /;${}") {
				t.Errorf("CMake is told %q", a)
			}
		}
	})
}

// TestMany: what is not read of many descriptions is in the notes, or the reason why there is no recipe.
func TestMany(t *testing.T) {
	t.Parallel()
	whole, apart := tooltest.Tree{"CMakeLists.txt": "project(a)\nadd_test(NAME x COMMAND x)\n"}, tooltest.Tree{}
	for i := range 2000 {
		whole[fmt.Sprintf("m%d/CMakeLists.txt", i)] = ""
		apart[fmt.Sprintf("m%d/CMakeLists.txt", i)] = ""
	}
	apart["z/CMakeLists.txt"] = whole["CMakeLists.txt"]
	r, err := Tool{}.Recipe(scan(t, whole), "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"of 2001 files that describe the build the first 2000 are read"}, r.Notes); d != "" {
		t.Error(d)
	}
	late := maps.Clone(whole)
	late["CMakeLists.txt"], late["z/CMakeLists.txt"] = "project(a)\n", "add_test(NAME x COMMAND x)\n"
	for want, tree := range map[string]tooltest.Tree{"the first 2000 are read": late, "more than 2000 folders": apart} {
		var none project.ErrNoRecipe
		if _, err := (Tool{}).Find(scan(t, tree), nil); !errors.As(err, &none) || !strings.Contains(none.Reason, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	delete(whole, "m7/CMakeLists.txt")
	if root, err := (Tool{}).Find(scan(t, whole), nil); err != nil || root != "" {
		t.Errorf("%q: %v", root, err)
	}
	if r, err := (Tool{}).Recipe(scan(t, whole), ""); err != nil || len(r.Notes) > 0 {
		t.Errorf("notes %q: %v", r.Notes, err)
	}
}
