package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
)

func TestPytestKey(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a.py::t":                   "a.py::t",
		"a.py::t[x-Unit 'deg' (y)]": "a.py::t[x-Unit 'deg' (y)]",
		"a.py::t[a  b]":             "a.py::t[a b]",
		`a.py::t[x-Unit 'deg' \(angle\) could not ... 'distance'. ]`: `a.py::t[x-Unit 'deg' \(angle\) could not ... 'distance'. ]`,
		"a.py::t[10m]":      "a.py::t]",
		"a.py::t[m]":        "a.py::t[m]",
		"a.py::t[10]":       "a.py::t[10]",
		"a.py::t[\x1bx]":    "a.py::t[x]",
		"a.py::t[é\u00a0x]": "a.py::t[é x]",
		"[":                 "[",
		"":                  "",
	}
	for in, want := range tests {
		if got := pytestKey("", in); got != want {
			t.Errorf("pytestKey of %q = %q, want %q", in, got, want)
		}
	}
}

func TestPytestKeyBelowRoot(t *testing.T) {
	t.Parallel()
	if got := pytestKey("py", "py/tests/a.py::t"); got != "tests/a.py::t" {
		t.Errorf("pytestKey = %q, want the id from inside py", got)
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	inst := goInstance("x")
	inst.Flaky = []string{"example.com/z::TestKeep"}
	f2p, p2p, dropped := visible(parserOf["gotest"], inst, inst.Checks[0])
	if diff := cmp.Diff([]string{"TestLimit", "TestLimit/zero"}, f2p); diff != "" {
		t.Errorf("F2P (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{}, p2p); diff != "" {
		t.Errorf("P2P (-want +got):\n%s", diff)
	}
	want := []string{"example.com/m/sub::TestKeep", "example.com/m/sub::TestSame", "example.com/m::TestSame"}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

func TestRowsLeftOut(t *testing.T) {
	t.Parallel()
	latin := goInstance("a-latin")
	latin.Patch = pipeline.Text("diff --git a/a b/a\n+caf\xe9\n")
	latin.Checks = latin.Checks[:1]
	other := goInstance("b-other")
	other.Recipe.Runner = "cargo"
	other.Checks = other.Checks[:1]
	hidden := goInstance("c-hidden")
	hidden.Checks = hidden.Checks[:1]
	hidden.Checks[0].FailToPass = []string{"m/a::TestX", "m/b::TestX"}
	e := exportSWEbench([]pipeline.Instance{latin, other, hidden}, SWEbench{})
	var got []string
	for _, x := range e.excluded {
		word, _, _ := strings.Cut(x.Reason, ":")
		got = append(got, x.ID+" "+x.File+" "+word)
	}
	want := []string{"a-latin swebench.jsonl not-utf8", "b-other swebench.jsonl no-parser", "c-hidden swebench.jsonl no-visible-test"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("excluded (-want +got):\n%s", diff)
	}
	if len(e.rows[SWEbenchFile]) != 0 {
		t.Errorf("rows = %v, want none", e.rows)
	}
}

// TestUnittestScript: the program of the tool is asked for lines that the target's parser reads, instead of a report.
func TestUnittestScript(t *testing.T) {
	t.Parallel()
	inst := pyInstance("u")
	inst.Recipe.Runner = "unittest"
	script, err := evalScript(inst, inst.Checks[0], parserOf["unittest"])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(script, "/tmp/out/") || !strings.Contains(script, "' - ") || !strings.Contains(script, "PASSED") {
		t.Errorf("script:\n%s", script)
	}
}

func TestTestListsAsStrings(t *testing.T) {
	t.Parallel()
	r, _, why := makeRow(pyInstance("x"), 0, SWEbench{Strings: true, ImagePrefix: "reg/"})
	if why != "" {
		t.Fatal(why)
	}
	want := `["tests/test_a.py::test_a","tests/test_a.py::test_q[a b]"]`
	if r.FailToPass != want {
		t.Errorf("FAIL_TO_PASS = %v, want the string %s", r.FailToPass, want)
	}
	if r.Image != "reg/x:latest" || r.ImageName != r.Image || r.DockerImage != r.Image {
		t.Errorf("images = %q %q %q", r.Image, r.ImageName, r.DockerImage)
	}
}

// TestEncodeSeparators: nothing but the final newline ends a line, for readers that split as Python does.
func TestEncodeSeparators(t *testing.T) {
	t.Parallel()
	b, err := encode(map[string]any{"k\u0085": "a\u0085b\u2028c\u2029d\ve\ff\x1cg\r\n", "raw": goInstance("x").Link}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, sep := range []string{"\u0085", "\u2028", "\u2029", "\v", "\f", "\x1c", "\r"} {
		if bytes.Contains(b, []byte(sep)) {
			t.Errorf("%q stands in %q", sep, b)
		}
	}
	if bytes.Count(b, []byte("\n")) != 1 {
		t.Errorf("%q does not hold one newline", b)
	}
}

// TestEvalScriptRuns runs the script of the Go fixture in a scratch repository with a stand-in for the test command, and
// looks at what the tests would have seen.
func TestEvalScriptRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree, seen, bin := filepath.Join(dir, "tree"), filepath.Join(dir, "seen"), filepath.Join(dir, "bin")
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = tree
		cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+bin+":"+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	put(filepath.Join(tree, "a_test.go"), "package old\n", 0o644)
	put(filepath.Join(tree, "old_test.go"), "package old\n", 0o644)
	run("git", "init", "-q")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "add", ".")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "base")
	// The model changed one sealed path and made another.
	put(filepath.Join(tree, "a_test.go"), "package forged\n", 0o644)
	put(filepath.Join(tree, "sub/b_test.go"), "package forged\n", 0o644)
	put(filepath.Join(bin, "go"), "#!/bin/sh\n[ \"$1\" = test ] && cp -a . "+seen+"\nexit 0\n", 0o755)

	inst := goInstance("x")
	script, err := evalScript(inst, inst.Checks[0], parserOf["gotest"])
	if err != nil {
		t.Fatal(err)
	}
	script = strings.ReplaceAll(script, "/testbed", tree)
	put(filepath.Join(dir, "eval.sh"), script, 0o644)
	out := run("bash", filepath.Join(dir, "eval.sh"))
	for _, f := range inst.Checks[0].Files {
		if f.Mode == "120000" {
			if got, err := os.Readlink(filepath.Join(seen, f.Path)); err != nil || got != string(f.Data) {
				t.Errorf("%s links to %q, %v", f.Path, got, err)
			}
			continue
		}
		got, err := os.ReadFile(filepath.Join(seen, f.Path))
		if err != nil {
			t.Errorf("%v\n%s", err, out)
			continue
		}
		if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Path, diff)
		}
	}
	if _, err := os.Stat(filepath.Join(seen, "old_test.go")); err == nil {
		t.Error("old_test.go was there while the tests ran")
	}
	// Afterwards the paths are as at the base.
	if got := run("git", "status", "--porcelain"); got != "" {
		t.Errorf("left behind: %q", got)
	}
	trace := out[strings.Index(out, ">>>>> Start"):]
	if n := strings.Index(trace, ">>>>> End"); !strings.Contains(trace[:n], "go test -v -count=1 -vet=off -gcflags=-e -timeout=5m . ./sub") {
		t.Errorf("between the markers: %q", trace[:n])
	}
}
