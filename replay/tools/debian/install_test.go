package debian

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// programs stand for Debian's: libold is installed, libnew and libbad can be had, and libbad conflicts with all else.
var programs = map[string]string{
	"dpkg-query": `for p; do :; done; [ "$p" != libold ] || printf installed`,
	"apt-cache":  `printf 'libold\nlibnew\nlibbad\nlibxnew\n'`,
	// As Debian's, it fails where the mirror does, so it must be told to try again: github.com/multi-swe-bench/multi-swe-bench/issues/50.
	"apt-get": `case "$*" in *Acquire::Retries=3*) ;; *) exit 100;; esac
echo "$*" | sed 's/ -o [^ ]*//g' >>"$TMPDIR/calls"
case "$*" in *"install -s"*libbad*) exit 100;; esac`,
	"id": "echo 0",
}

// run gives the packages to the script, and returns what it says and how it calls apt-get.
func run(t *testing.T, env []string, packages ...string) (said string, calls []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args := Install(packages).Args
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "TMPDIR=" + dir}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(out), strings.FieldsFunc(string(log), func(r rune) bool { return r == '\n' })
}

// TestElsewhere: nothing is installed into a system that is no environment's own.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	said, calls := run(t, nil, "libold", "libnew")
	if said != "not installed, and it cannot be here: libnew\n" || len(calls) > 0 {
		t.Errorf("%q, %q", said, calls)
	}
	if said, calls = run(t, []string{"DEBIAN_FRONTEND=noninteractive"}, "libold"); said != "" || len(calls) > 0 {
		t.Errorf("all is there: %q, %q", said, calls)
	}
}

// TestInstall: what the release does not have, or what fits to nothing else, is passed over and said.
func TestInstall(t *testing.T) {
	t.Parallel()
	if unix.Access("/var/lib/dpkg", unix.W_OK) != nil {
		t.Skip("it looks whether it may write to Debian's folder of packages, and may not here")
	}
	said, calls := run(t, []string{"DEBIAN_FRONTEND=noninteractive"}, "libold", "lib.new", "libnew", "libbad")
	want := []string{
		"-q update", "-q install -s --no-install-recommends libnew libbad", "-q install -s --no-install-recommends libnew",
		"-q install -s --no-install-recommends libnew libbad", "-q install -y --no-install-recommends libnew",
	}
	if d := cmp.Diff(want, calls); d != "" || said != "no package here: lib.new\nno package here: libbad\n" {
		t.Errorf("%q (-want +got):\n%s", said, d)
	}
}
