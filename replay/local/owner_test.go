//go:build linux

package local

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/process"
)

func TestOwnerNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := process.ID{
			Host:      "here",
			Boot:      "now",
			PID:       rapid.IntRange(1, 1<<22).Draw(t, "pid"),
			Start:     rapid.Uint64().Draw(t, "start"),
			Namespace: rapid.Uint64().Draw(t, "namespace"),
		}
		name := newName(want)
		if got, ok := ownerOf(name, process.ID{Host: "here", Boot: "now"}); !ok || got != want {
			t.Fatalf("%s: got %v %v, want %v", name, got, ok, want)
		}
		if name == newName(want) {
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
		if o, ok := ownerOf(name, process.ID{}); ok {
			t.Errorf("%q was taken for a name of %v", name, o)
		}
	}
}

func FuzzOwnerOf(f *testing.F) {
	f.Add("1-2-3." + strings.Repeat("a", 32))
	f.Fuzz(func(t *testing.T, name string) {
		o, ok := ownerOf(name, process.ID{})
		if ok && !strings.HasPrefix(name, nameOf(o)+".") {
			t.Errorf("%q is not a name of %v", name, o)
		}
	})
}

func TestOrphan(t *testing.T) {
	t.Parallel()
	me, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{owner: me}
	reused := me
	reused.Start++
	elsewhere := reused
	elsewhere.Namespace++
	for name, want := range map[string]bool{newName(me): false, newName(reused): true, newName(elsewhere): false, "a-folder": false} {
		if got := s.orphan(name); got != want {
			t.Errorf("%s: orphan is %t", name, got)
		}
	}
}
