package ctest_test

import (
	"os"
	"os/exec"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// skip says what this machine lacks; where all must be there, it is a failure.
func skip(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// tree is a library that two programs test, of which one does not compile where broken is set.
func tree(answer, broken string) tooltest.Tree {
	return tooltest.Tree{
		"CMakeLists.txt": `cmake_minimum_required(VERSION 3.10)
project(shop C)
option(SHOP_TESTS "" OFF)
add_library(shop src/shop.c)
target_compile_options(shop PRIVATE -Wall -Wextra -Werror)
if(SHOP_TESTS)
  enable_testing()
  add_executable(one tests/one.c)
  target_link_libraries(one shop)
  add_test(NAME one COMMAND one)
  add_executable(two EXCLUDE_FROM_ALL tests/two.c)
  add_test(NAME two COMMAND two)
endif()
`,
		"src/shop.h":   "int answer(void);\n",
		"src/shop.c":   "int answer(void) { int unused; return " + answer + "; }\n",
		"tests/one.c":  "#include \"../src/shop.h\"\n#include <assert.h>\nint main(void) { assert(answer() == 1); return 0; }\n",
		"tests/two.c":  "#include \"two.h\"\nint main(void) { return " + broken + "; }\n",
		"tests/two.h":  "enum { good };\n",
		"docs/notes.h": "",
	}
}

// TestStates builds and runs states of one project: a library's file chooses the tests that are linked to it, a header those that
// include it, and a file of which no program knows all.
func TestStates(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles")
	}
	for _, program := range []string{"cmake", "make", "cc", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			skip(t, err)
		}
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	one, two := "one::one pass\n", "two::two pass\n"
	for _, c := range []struct {
		name  string
		tree  tooltest.Tree
		paths []string
		want  tooltest.View
	}{
		{"all", tree("1", "good"), nil, tooltest.View{Phases: "ok ok ok", Tests: one + two}},
		{"library", tree("1", "good"), []string{"src/shop.c"}, tooltest.View{Phases: "ok ok ok", Tests: one}},
		{"header", tree("1", "good"), []string{"tests/two.h"}, tooltest.View{Phases: "ok ok ok", Tests: two}},
		{"unknown", tree("1", "good"), []string{"docs/notes.h"}, tooltest.View{Phases: "ok ok ok", Tests: one + two}},
		{"test broken", tree("2", "bad"), nil, tooltest.View{Phases: "ok failed ok", Tests: "one::one error assertion\n", Broken: "two"}},
		{"source broken", tree("bad", "good"), nil, tooltest.View{Phases: "failed ok ok", Tests: two, Broken: "one shop"}},
	} {
		r, err := tools.Detect(t.Context(), c.tree, tools.Options{})
		if err != nil {
			t.Fatal(err)
		}
		env, err := box.Prepare(t.Context(), r, c.tree)
		if err != nil {
			t.Fatal(err)
		}
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		target := replay.Target{Paths: c.paths}
		res, err := box.Run(t.Context(), replay.Job{Name: c.name, Tree: c.tree, Env: env, Steps: run.Steps(r, target)})
		if err != nil {
			t.Fatal(err)
		}
		got := run.Parse(r, target, res)
		tooltest.Diff(t, got, c.want)
		if t.Failed() {
			for _, s := range res.Steps {
				t.Logf("%s: %s %d %s %s", s.Name, s.Stop, s.ExitCode, s.Stdout, s.Stderr)
			}
			t.Fatal(c.name)
		}
	}
}
