//go:build linux

package local

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOwnerNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := owner{
			pid:       rapid.IntRange(1, 1<<22).Draw(t, "pid"),
			start:     rapid.Uint64().Draw(t, "start"),
			namespace: rapid.Uint64().Draw(t, "namespace"),
		}
		name := want.newName()
		if got, ok := ownerOf(name); !ok || got != want {
			t.Fatalf("%s: got %v %v, want %v", name, got, ok, want)
		}
		if name == want.newName() {
			t.Fatal("two names are equal")
		}
	})
}

func TestForeignNames(t *testing.T) {
	t.Parallel()
	suffix := "." + strings.Repeat("a", 32)
	for _, name := range []string{
		"", ".", "docker", "1-2-3", "1-2-3.short", "1-2" + suffix, "01-2-3" + suffix, "1-2-3x" + suffix,
		"-1-2-3" + suffix, " 1-2-3" + suffix, "1-2-3-4" + suffix,
	} {
		if o, ok := ownerOf(name); ok {
			t.Errorf("%q was taken for a name of %v", name, o)
		}
	}
}

func FuzzOwnerOf(f *testing.F) {
	f.Add("1-2-3." + strings.Repeat("a", 32))
	f.Fuzz(func(t *testing.T, name string) {
		o, ok := ownerOf(name)
		if ok && !strings.HasPrefix(name, o.String()+".") {
			t.Errorf("%q is not a name of %v", name, o)
		}
	})
}

func TestDeath(t *testing.T) {
	t.Parallel()
	me, err := self()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := startTime(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	living := owner{pid: child.Process.Pid, start: start, namespace: me.namespace}
	reused := living
	reused.start++
	elsewhere := reused
	elsewhere.namespace++
	for _, c := range []struct {
		name string
		o    owner
		dead bool
	}{{"self", me, false}, {"a living process", living, false}, {"a later process of that id", reused, true},
		{"another namespace", elsewhere, false}} {
		if got := c.o.deadFor(me); got != c.dead {
			t.Errorf("%s: dead is %v", c.name, got)
		}
	}
	_ = child.Process.Signal(os.Kill)
	_ = child.Wait()
	if !living.deadFor(me) {
		t.Error("a dead process is taken for a living one")
	}
}
