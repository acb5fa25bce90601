package images

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/replay/docker"
)

// scripted makes images with another script and returns what became of each, in words, and what it said.
func scripted(ctx context.Context, t *testing.T, script string, names ...string) (built []string, said string, err error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("base is made by root only")
	}
	e := newTest(t)
	list, err := Select(names)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	out, err := e.Build(ctx, list, BuildOptions{Force: true, Mirror: "http://mirror.example", Log: func(l string) { lines = append(lines, l) }, script: script})
	for _, b := range out {
		state := "up to date"
		switch {
		case b.Err != nil:
			state = b.Err.Error()
		case b.Done:
			state = "made"
		}
		built = append(built, b.Toolchain.Name+": "+state)
	}
	return built, strings.Join(lines, "\n"), err
}

// TestOneFailureStopsNoOther: one image's package tool fails, and the others are made all the same; see
// github.com/multi-swe-bench/multi-swe-bench/issues/50.
func TestOneFailureStopsNoOther(t *testing.T) {
	t.Parallel()
	built, _, err := scripted(t.Context(), t, `case $IMAGE in *node*) echo 'E: Unable to fetch' >&2; exit 100;; esac`, "node", "rust")
	want := "base: made; node: making sluice/node:trixie: exit status 100: E: Unable to fetch; rust: made"
	if got := strings.Join(built, "; "); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	built, _, err = scripted(t.Context(), t, `case $IMAGE in *base*) exit 1;; esac`, "c")
	if err != nil || len(built) != 2 || built[1] != "c: making sluice/c:trixie: there is no sluice/base:trixie for it to be on" {
		t.Errorf("got %q, %v", built, err)
	}
}

// TestScriptIsTold: what the script gets, and that nothing else of this process's variables is among it.
func TestScriptIsTold(t *testing.T) {
	t.Setenv("SLUICE_CANARY", "canary")
	t.Setenv("https_proxy", "http://proxy.example")
	_, said, err := scripted(t.Context(), t, `echo "$IMAGE|$FROM|$PACKAGES|$SUITE|$DEBIAN_MIRROR|$https_proxy|$LABELS|${OWNER:+owned}|$SLUICE_CANARY"`, "node")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(said, "\n")
	want := "sluice/node:trixie|sluice/base:trixie|nodejs,npm|trixie|http://mirror.example|http://proxy.example|sluice=1 sluice.toolchain=node sluice.made=" +
		toolchains[1].digest() + "|owned|"
	if len(lines) != 2 || lines[1] != want || !strings.HasPrefix(lines[0], "sluice/base:trixie||ca-certificates,git,") {
		t.Errorf("told %q", lines)
	}
}

// TestMirrorsPasswordIsMasked: neither the log nor the error has it, also where only apt's own settings know the mirror.
func TestMirrorsPasswordIsMasked(t *testing.T) {
	t.Parallel()
	var said []string
	o := BuildOptions{Log: func(l string) { said = append(said, l) }, script: `echo 'from http://ada:ses@me@mirror.example/debian' >&2; exit 1`}
	err := (&Engine{}).run(t.Context(), toolchains[1], o)
	want := "from http://xxxxx@mirror.example/debian"
	if len(said) != 1 || said[0] != want || err == nil || err.Error() != "exit status 1: "+want {
		t.Errorf("said %q, %v", said, err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	e := newTest(t)
	err := e.run(t.Context(), toolchains[1], BuildOptions{script: `echo 'write /x: no space left on device' >&2; exit 1`})
	if !errors.Is(err, docker.ErrNoSpace) {
		t.Errorf("got %v", err)
	}
}

// TestStopped: when the run is stopped the script tidies up, and what it started ends too.
func TestStopped(t *testing.T) {
	t.Parallel()
	e := newTest(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	// The child says that it is there: a shell that was just forked may lose a signal.
	script := `trap 'touch ` + dir + `/tidy' EXIT; trap 'exit 143' TERM; (echo ready; sleep 60; touch ` + dir + `/late) & wait`
	started := time.Now()
	err := e.run(ctx, toolchains[1], BuildOptions{script: script, Log: func(string) { cancel() }})
	cancel()
	if !errors.Is(err, context.Canceled) || time.Since(started) > 20*time.Second {
		t.Errorf("got %v after %s", err, time.Since(started))
	}
	if _, err := os.Stat(filepath.Join(dir, "tidy")); err != nil {
		t.Errorf("it did not tidy up: %v", err)
	}
}
