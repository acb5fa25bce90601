package process

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOwnerNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := ID{
			Host:      "here",
			Boot:      "now",
			PID:       rapid.IntRange(1, 1<<22).Draw(t, "pid"),
			Start:     rapid.Uint64().Draw(t, "start"),
			Namespace: rapid.Uint64().Draw(t, "namespace"),
		}
		name := want.NewName()
		if got, ok := OwnerOf(name, ID{Host: "here", Boot: "now"}); !ok || got != want {
			t.Fatalf("%s: got %v %v, want %v", name, got, ok, want)
		}
		if name == want.NewName() {
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
		if o, ok := OwnerOf(name, ID{}); ok {
			t.Errorf("%q was taken for a name of %v", name, o)
		}
	}
}

func FuzzOwnerOf(f *testing.F) {
	f.Add("1-2-3." + strings.Repeat("a", 32))
	f.Fuzz(func(t *testing.T, name string) {
		o, ok := OwnerOf(name, ID{})
		if ok && !strings.HasPrefix(name, o.prefix()+".") {
			t.Errorf("%q is not a name of %v", name, o)
		}
	})
}
