package cargo

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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

// TestNoToolchain: where a toolchain cannot be had, the one that is there is used, which the log says; or it is too old.
func TestNoToolchain(t *testing.T) {
	t.Parallel()
	python(t)
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "1.91.0") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("[pkg.rustc.target.x]\n"))
	}))
	t.Cleanup(answers.Close)
	for _, c := range []struct {
		name, channel, have string
		needed              bool
		exit                int
		says                string
	}{
		{"a pin", "1.91.0", "1.85.0", false, 0, "NOTE: the toolchain 1.91.0 cannot be had: there is none: HTTP Error 404: Not Found; Rust 1.85.0 is used instead"},
		{"needed, and the machine's is newer", "1.91.0", "1.95.0-nightly", true, 0, "Rust 1.95.0 is used instead"},
		{"needed", "1.91.0", "1.85.0", true, 1, "the code needs it, and here is 1.85.0"},
		{"not for this machine", "1.90.0", "1.85.0", false, 0, "it has no rustc for "},
	} {
		env := t.TempDir()
		if err := os.WriteFile(filepath.Join(env, "kept"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		args := install("toolchain", chosen{Channel: c.channel, Components: []string{}, Needed: c.needed})
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "{env}", env)
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = []string{"PATH=" + fakeRust(t, c.have), "RUSTUP_DIST_SERVER=" + answers.URL}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.exit || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: exit %d: %s", c.name, code, out)
		}
		if _, err := os.Stat(filepath.Join(env, "rust")); err == nil {
			t.Errorf("%s: half a toolchain is left", c.name)
		}
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

// TestNoNetwork: a server that does not answer, or that stops in the middle, is the same as one that has nothing.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	python(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("[pkg]"))
	}))
	t.Cleanup(short.Close)
	program := strings.NewReplacer("(2, 10, None)", "(0, 0, None)").Replace(installProgram)
	for server, says := range map[string]string{gone.URL: "<urlopen error ", short.URL: "IncompleteRead("} {
		cmd := exec.Command("python3", "-c", program, "toolchain", t.TempDir(), "", `{"channel":"stable","components":[],"needed":false}`)
		cmd.Env = []string{"PATH=" + fakeRust(t, "1.85.0"), "RUSTUP_DIST_SERVER=" + server}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "NOTE: the toolchain stable cannot be had: "+says) {
			t.Errorf("%v: %s", err, out)
		}
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
