package images

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"sluice/internal/process"
)

// gone is a process of this machine that has ended.
func gone(t *testing.T) (me, dead process.ID) {
	t.Helper()
	me, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	dead = me
	dead.Start--
	return me, dead
}

// appears waits for a file.
func appears(t *testing.T, name string) {
	t.Helper()
	for range 300 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s did not appear", filepath.Base(name))
}

// TestKilledBuild: the script of a build that was killed does not go on by itself, tidies up, and its folder goes with the next build.
func TestKilledBuild(t *testing.T) {
	if dir := os.Getenv("SLUICE_TEST_BUILD"); dir != "" { // the process that is killed
		script := `trap 'touch ` + dir + `/tidy' EXIT; trap 'exit 143' TERM; mktemp -d "$TMPDIR/x.XXXXXX" >/dev/null
(sleep 3; touch ` + dir + `/late) & touch ` + dir + `/ready; wait`
		t.Fatal((&Engine{}).run(t.Context(), toolchains[1], BuildOptions{script: script}))
	}
	dir, tmp := t.TempDir(), t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBuild$")
	cmd.Env = append(os.Environ(), "SLUICE_TEST_BUILD="+dir, "TMPDIR="+tmp)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appears(t, filepath.Join(dir, "ready"))
	me, _ := gone(t)
	if err := sweep(tmp, me); err != nil || len(entries(t, tmp)) != 1 {
		t.Errorf("the folder of a living build: %v, %v", entries(t, tmp), err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	appears(t, filepath.Join(dir, "tidy"))
	if err := sweep(tmp, me); err != nil || len(entries(t, tmp)) != 0 {
		t.Errorf("the next build leaves %v, %v", entries(t, tmp), err)
	}
	time.Sleep(3500 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("what the script had started went on")
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestSweep: only folders of dead processes go, and nothing that a link leads to.
func TestSweep(t *testing.T) {
	t.Parallel()
	me, dead := gone(t)
	tmp, other := t.TempDir(), t.TempDir()
	keep := []string{workPrefix + me.NewName(), workPrefix + "x", dead.NewName(), "sluice-apply-1"}
	for _, d := range append(keep, workPrefix+dead.NewName()+"/a/b") {
		if err := os.MkdirAll(filepath.Join(tmp, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := workPrefix + dead.NewName()
	if err := os.Symlink(other, filepath.Join(tmp, link)); err != nil {
		t.Fatal(err)
	}
	if err := sweep(tmp, me); err != nil {
		t.Fatal(err)
	}
	keep = append(keep, link)
	slices.Sort(keep)
	if got := entries(t, tmp); !slices.Equal(got, keep) {
		t.Errorf("got  %v\nwant %v", got, keep)
	}
}

func TestMountsIn(t *testing.T) {
	t.Parallel()
	info := "22 1 0:21 / /w/new/proc rw - proc proc rw\n23 1 0:21 / /w/a\\040b rw - proc proc rw\n24 1 0:21 / /wide rw - proc proc rw\nshort\n25 1 0:21 / /w rw - x x x\n"
	if got := strings.Join(mountsIn(info, "/w"), "|"); got != "/w/new/proc|/w/a b" {
		t.Errorf("got %q", got)
	}
}

// TestTidy: the container that a killed build worked in goes, that of a living one stays.
func TestTidy(t *testing.T) {
	t.Parallel()
	e := newTest(t)
	me, dead := gone(t)
	from := Toolchain{Name: Base}.Image()
	make := func(owner process.ID) string {
		name := "sluice-sluiceimage" + process.Token()[:6]
		cfg := &container.Config{Image: from, Cmd: []string{"sleep", "60"}, Labels: map[string]string{"sluice": "1", "sluice.owner": owner.String()}}
		made, err := e.api.ContainerCreate(t.Context(), cfg, nil, nil, nil, name)
		if cerrdefs.IsNotFound(err) {
			t.Skipf("needs the image %s", from)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = e.api.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true})
		})
		return made.ID
	}
	living, left := make(me), make(dead)
	e.tidy(t.Context(), func(l string) { t.Log(l) })
	if _, err := e.api.ContainerInspect(t.Context(), left); !cerrdefs.IsNotFound(err) {
		t.Errorf("the dead build's container: %v", err)
	}
	if _, err := e.api.ContainerInspect(t.Context(), living); err != nil {
		t.Errorf("the living build's container: %v", err)
	}
}
