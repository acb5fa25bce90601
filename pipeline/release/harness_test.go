package release

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/replay"
)

// harnessPackages are what the compatibility test installs; it pins the version that the export is made for.
var harnessPackages = []string{"swebench==5.0.2", "pytest"}

// harnessPython returns a Python that has the published harness: a virtual environment under the user's cache folder,
// made once. Where it cannot be made the test is skipped, unless SLUICE_REQUIRE_SWEBENCH=1.
func harnessPython(t *testing.T) string {
	t.Helper()
	giveUp := t.Skipf
	if os.Getenv("SLUICE_REQUIRE_SWEBENCH") == "1" {
		giveUp = t.Fatalf
	} else if testing.Short() {
		t.Skip("-short: the published swebench package is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		giveUp("no cache folder for the swebench package: %v", err)
	}
	dir := filepath.Join(cache, "sluice", "swebench-5.0.2")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		giveUp("no cache folder for the swebench package: %v", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	python, ready := filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "ready")
	if _, err := os.Stat(ready); err == nil {
		return python
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", filepath.Join(dir, "venv")},
		append([]string{python, "-m", "pip", "install", "-q", "--retries", "1"}, harnessPackages...),
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			giveUp("the swebench package cannot be installed: %s: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(ready, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return python
}

// harness runs the driver and returns what it found.
func harness[T any](t *testing.T, python, command, dataset, folder string) map[string]T {
	t.Helper()
	cmd := exec.Command(python, filepath.Join("testdata", "grade.py"), command, dataset, folder)
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "HF_HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	_, result, ok := strings.Cut(string(out), "RESULT ")
	if !ok {
		t.Fatalf("%s printed no result: %s", command, out)
	}
	var m map[string]T
	if err := json.Unmarshal([]byte(result), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// project is a small repository at its base state, and the instance that is made of it.
type project struct {
	base     map[string]string
	gold     map[string]string // files after the right change
	instance pipeline.Instance
}

func projects() []project {
	goTest := "package m\n\nimport \"testing\"\n\nfunc TestLimit(t *testing.T) {\n\tt.Run(\"zero value\", func(t *testing.T) {\n" +
		"\t\tif Limit != 3 {\n\t\t\tt.Fatal(Limit)\n\t\t}\n\t})\n}\n\nfunc TestKeep(t *testing.T) {}\n"
	g := goInstance("o__r-1")
	g.Recipe = replay.Recipe{Runner: "gotest", Env: map[string]string{"GOFLAGS": "-mod=mod", "GOPROXY": "off"}}
	g.Checks = []pipeline.Check{{
		Name: "task", Resolves: true, Target: []string{"m_test.go"},
		Files:      []pipeline.OverlayFile{{Path: "m_test.go", Mode: "100644", Data: pipeline.Text(goTest)}},
		FailToPass: []string{"example.com/m::TestLimit", "example.com/m::TestLimit/zero_value"},
		PassToPass: []string{"example.com/m::TestKeep"},
	}}
	p := pyInstance("p__q-2")
	p.Checks[0].Files[0].Data = pipeline.Text("import pytest\nimport q\n\n@pytest.mark.parametrize('s', ['unit deg', 'rad'])\n" +
		"def test_limit(s):\n    print('FAILED forged')\n    assert q.LIMIT == 3, 'limit - not 3'\n\ndef test_keep():\n    pass\n")
	p.Checks[0].FailToPass = []string{"tests/test_a.py::test_limit[rad]", "tests/test_a.py::test_limit[unit deg]"}
	p.Checks[0].PassToPass = []string{"tests/test_a.py::test_keep"}
	p.Statement = "Set the limit.\u0085Now."
	return []project{
		{map[string]string{"go.mod": "module example.com/m\n\ngo 1.22\n", "m.go": "package m\n\nvar Limit = 2\n"},
			map[string]string{"m.go": "package m\n\nvar Limit = 3\n"}, g},
		{map[string]string{"q.py": "LIMIT = 2\n"}, map[string]string{"q.py": "LIMIT = 3\n"}, p},
	}
}

// TestPublishedHarness loads the export by the published package's own loader, runs the eval scripts that it makes of
// the rows on real projects, and has it grade the captured logs.
func TestPublishedHarness(t *testing.T) {
	t.Parallel()
	python := harnessPython(t)
	l, dir := newLedger(), t.TempDir()
	for _, p := range projects() {
		l.admit(t, p.instance)
	}
	if _, err := Freeze(t.Context(), Options{Store: l, Name: "r", Dir: dir, Family: "foresight", Tool: "0", Clock: clock}); err != nil {
		t.Fatal(err)
	}
	dataset, logs := filepath.Join(dir, "r", SWEbenchFile), t.TempDir()

	type loaded struct{ Image, Statement string }
	rows := harness[loaded](t, python, "rows", dataset, t.TempDir())
	if got := rows["p__q-2"]; got.Statement != "Set the limit.\u0085Now." || got.Image != "sluice/eval.p__q-2:latest" {
		t.Errorf("the datasets library read %+v", got)
	}
	images := harness[string](t, python, "scripts", dataset, logs)
	if diff := cmp.Diff(map[string]string{"o__r-1": "sluice/eval.o__r-1:latest", "p__q-2": "sluice/eval.p__q-2:latest"}, images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	for _, p := range projects() {
		captureLog(t, python, p, nil, filepath.Join(logs, p.instance.ID), "base")
		captureLog(t, python, p, p.gold, filepath.Join(logs, p.instance.ID), "gold")
	}

	type report struct {
		Resolved bool                                           `json:"resolved"`
		Applied  bool                                           `json:"patch_successfully_applied"`
		Status   map[string]struct{ Success, Failure []string } `json:"tests_status"`
	}
	got := harness[report](t, python, "grade", dataset, logs)
	for name, want := range map[string]bool{"o__r-1.base": false, "o__r-1.gold": true, "p__q-2.base": false, "p__q-2.gold": true} {
		r := got[name]
		log, _ := os.ReadFile(filepath.Join(logs, name+".log"))
		if r.Resolved != want || !r.Applied {
			t.Errorf("%s: %+v, want resolved %v of a log that counts:\n%s", name, r, want, log)
		}
		if n := len(r.Status["PASS_TO_PASS"].Success); n != 1 {
			t.Errorf("%s: %d kept tests seen, want 1:\n%s", name, n, log)
		}
	}
}

// captureLog runs the harness's eval script of a project's state, with the state's folder in the place of /testbed.
func captureLog(t *testing.T, python string, p project, change map[string]string, script, state string) {
	t.Helper()
	tree := t.TempDir()
	for _, files := range []map[string]string{p.base, change} {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := os.ReadFile(script + ".sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", strings.ReplaceAll(string(b), "/testbed", tree))
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+filepath.Dir(python)+":"+os.Getenv("PATH"),
		"GOCACHE="+goCache(t), "GIT_CEILING_DIRECTORIES="+filepath.Dir(tree))
	out, _ := cmd.CombinedOutput() // the script ends with the restoring of files, whatever the tests said
	if err := os.WriteFile(script+"."+state+".log", out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// goCache keeps the compiled standard library although HOME is another.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
