//go:build linux

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// TestHalfAnEnvironment: one of which somebody removed a file, or to which somebody wrote, is made anew by the next process; one that is whole
// is not.
func TestHalfAnEnvironment(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	open := func() string {
		s := walled(t, local.Options{Root: root})
		env := prepare(t, s, sh("install", `mkdir -p {env}/lib; echo one > {env}/lib/a; ln -s a {env}/lib/b; date +%s%N > {env}/made`))
		res, err := s.Run(t.Context(), replay.Job{Name: "look", Tree: sandboxtest.NewTree("empty"), Env: env,
			Steps: []replay.Step{sh("look", "cat {env}/made {env}/lib/b; echo written >> {env}/lib/a || true")}})
		if err != nil || res.Steps[0].ExitCode != 0 {
			t.Fatalf("%v, %v", err, res.Steps)
		}
		return string(res.Steps[0].Stdout)
	}
	first := open()
	if again := open(); again != first {
		t.Errorf("a whole environment was made anew: %q, %q", first, again)
	}
	files, err := filepath.Glob(filepath.Join(root, "envs", "*", "content", "lib", "a"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	for name, harm := range map[string]func() error{
		"removed":  func() error { return os.Remove(files[0]) },
		"written":  func() error { return os.WriteFile(files[0], []byte("two\n"), 0o644) },
		"added":    func() error { return os.WriteFile(files[0]+"2", nil, 0o644) },
		"all gone": func() error { return os.RemoveAll(filepath.Dir(filepath.Dir(files[0]))) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		got := open()
		if got == first || !strings.HasSuffix(got, "\none\n") {
			t.Errorf("%s: the next job saw %q", name, got)
		}
		first = got
	}
}
