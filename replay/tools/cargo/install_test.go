package cargo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeRust puts a rustc of a version first on the path.
func fakeRust(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho 'rustc %s (x 2026-01-01)'\n", version)
	if err := os.WriteFile(filepath.Join(dir, "rustc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + ":" + os.Getenv("PATH")
}

// fakeRustup is a rustup that has 1.90.0 and no component but rustc-dev; it writes down how it is called.
const fakeRustup = `#!/bin/sh
echo "$@" >>"$LOG"
case "$1 $2 $3" in
"toolchain install 1.90.0") mkdir -p "$RUSTUP_HOME/toolchains/1.90.0-x/bin" && echo brought >"$RUSTUP_HOME/toolchains/1.90.0-x/bin/cargo" ;;
"toolchain install "*) mkdir -p "$RUSTUP_HOME/toolchains/half"; echo "info: syncing" >&2; echo "error: no release found for '$3'" >&2; exit 1 ;;
"component add --toolchain") [ "$5" = rustc-dev ] || { echo "error: no such component" >&2; exit 1; } ;;
esac
`

// TestBring: a toolchain that can be had is the environment's own; where it cannot, the one that is there is used, which the log
// says, or it is too old. Nothing else of rustup's is left.
func TestBring(t *testing.T) {
	t.Parallel()
	python(t)
	for _, c := range []struct {
		name, channel, have string
		needed              bool
		exit                int
		says, brought       string
	}{
		{"a pin", "1.91.0", "1.85.0", false, 0, "NOTE: the toolchain 1.91.0 cannot be had: no release found for '1.91.0'; Rust 1.85.0 is used instead", ""},
		{"needed, and the machine's is newer", "1.91.0", "1.95.0-nightly", true, 0, "Rust 1.95.0 is used instead", ""},
		{"needed", "1.91.0", "1.85.0", true, 1, "the code needs it, and here is 1.85.0", ""},
		{"there is one", "1.90.0", "1.85.0", true, 0, "the toolchain has no component miri\n", "brought\n"},
	} {
		env := t.TempDir()
		args := install("toolchain", chosen{Channel: c.channel, Components: []string{"miri", "rustc-dev"}, Needed: c.needed})
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "{env}", env)
		}
		cmd := exec.Command(args[0], args[1:]...)
		path := fakeRust(t, c.have)
		dir, _, _ := strings.Cut(path, ":")
		if err := os.WriteFile(filepath.Join(dir, "rustup"), []byte(fakeRustup), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.Env = []string{"PATH=" + path, "LOG=" + filepath.Join(dir, "log")}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.exit || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: exit %d: %s", c.name, code, out)
		}
		if brought, _ := os.ReadFile(filepath.Join(env, "rust", "bin", "cargo")); string(brought) != c.brought {
			t.Errorf("%s: the environment has %q", c.name, brought)
		}
		if left, err := os.ReadDir(env); err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "rust" {
			t.Errorf("%s: left are %v, %v", c.name, left, err)
		}
		if calls, _ := os.ReadFile(filepath.Join(dir, "log")); !strings.HasPrefix(string(calls), "toolchain install "+c.channel+" --profile minimal --no-self-update\n") {
			t.Errorf("%s: rustup was called so: %s", c.name, calls)
		}
	}
}

// TestNoRustup: where there is none, the toolchain that is there is used.
func TestNoRustup(t *testing.T) {
	t.Parallel()
	python(t)
	dir, _, _ := strings.Cut(fakeRust(t, "1.85.0"), ":")
	python3, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output() // not a script of somebody's that wants a path
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python3)), "-c", installProgram, "toolchain", t.TempDir(), "", `{"channel":"stable","components":[],"needed":false}`)
	cmd.Env = []string{"PATH=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "NOTE: the toolchain stable cannot be had: there is no rustup; Rust 1.85.0") {
		t.Errorf("%v: %s", err, out)
	}
}

// python skips where there is none that reads TOML.
func python(t *testing.T) {
	t.Helper()
	if err := exec.Command("python3", "-c", "import tomllib").Run(); err != nil {
		if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
			t.Fatal(err)
		}
		t.Skip("python3 without tomllib: ", err)
	}
}

// TestLagging: what was changed in a lock file is said; packages of the tree are none.
func TestLagging(t *testing.T) {
	t.Parallel()
	python(t)
	cut := strings.Index(installProgram, "def main():")
	program := installProgram[:cut] + "print(changes(versions(sys.argv[1]), versions(sys.argv[2])))\nprint(versions('/not/there'))\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a": "[[package]]\nname = 'x'\nversion = '1.0.0'\nsource = 'r'\n[[package]]\nname = 'own'\nversion = '1.0.0'\n",
		"b": "[[package]]\nname = 'x'\nversion = '1.0.1'\nsource = 'r'\n[[package]]\nname = 'own'\nversion = '2.0.0'\n[[package]]\nname = 'y'\nversion = '3.0.0'\nsource = 'r'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("python3", "-c", program, filepath.Join(dir, "a"), filepath.Join(dir, "b")).CombinedOutput()
	if want := "new: x 1.0.1, y 3.0.0; gone: x 1.0.0\nset()\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// TestPrintedEvents: what a test prints may look like an event of the test library, and ends nothing.
func TestPrintedEvents(t *testing.T) {
	t.Parallel()
	python(t)
	cut := strings.Index(runProgram, "def main():")
	program := runProgram[:cut] + `
class Out:
    def add(self, **event): pass
t = object.__new__(Tests)
t.out, t.count, end = Out(), 1, {}
print(t.lines(['{"type":"test","event":"started"}', '{"type":"test","event":"started","name":[1]}', '{"type":"test","name":{}}', '{"type":[]}',
    'x{"type":"test","event":"started","name":"a"}', '{"type":"test","event":"ok","name":"a"}', '{"type":"a","b":' + '[' * 100000], end), end)
`
	out, err := exec.Command("python3", "-c", program).CombinedOutput()
	if want := "(['a'], {'a'}) {'cut': True}\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// TestUndated: an index that does not say when a version was published makes no environment of a day.
func TestUndated(t *testing.T) {
	t.Parallel()
	python(t)
	cut := strings.Index(installProgram, "def main():")
	program := installProgram[:cut] + "print(undated({('Told', '1.0.0'), ('silent', '1.0.0'), ('silent', '2.0.0'), ('gone', '1.0.0')}, sys.argv[1]))\n"
	dir := t.TempDir()
	cache := filepath.Join(dir, "index.example.org-1", ".cache", "x")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"told":   "\x03\x02\x00\x00\x00etag\x001.0.0\x00" + `{"name":"Told","vers":"1.0.0","pubtime":"2024-01-01T00:00:00Z"}` + "\x00",
		"silent": "1.0.0\x00" + `{"name":"silent","vers":"1.0.0"}` + "\x00{no\x00[1]\x002.0.0\x00" + `{"name":"silent","vers":"2.0.0","pubtime":"2024-01-01T00:00:00Z"}`,
	} {
		if err := os.WriteFile(filepath.Join(cache, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("python3", "-c", program, dir).CombinedOutput()
	if want := "[('gone', '1.0.0'), ('silent', '1.0.0')]\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}
