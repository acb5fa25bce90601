package classic

import (
	"testing"

	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

// A cache never holds more than it may, and what it gives is what was put in.
func TestCache(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newCache[int, int](10)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			key, size := rapid.IntRange(0, 9).Draw(t, "key"), rapid.IntRange(1, 12).Draw(t, "size")
			c.put(key, key*7, size)
			if v, ok := c.get(key); ok && v != key*7 || !ok && size <= 10 {
				t.Fatalf("%d of size %d: %d, %v", key, size, v, ok)
			}
			total := 0
			for e := c.recent.Front(); e != nil; e = e.Next() {
				total += e.Value.(kept[int, int]).size
			}
			if total != c.size || total > 10 || len(c.byKey) != c.recent.Len() {
				t.Fatalf("holds %d, says %d", total, c.size)
			}
		}
	})
}

// What was traced once is not asked of git again, and options are told apart.
func TestTracerKeeps(t *testing.T) {
	t.Parallel()
	h := load(t, "commit one \"m\"\ncommit two \"m\"\n-- one/a --\nx\n-- two/a --\n x\n")
	tr := NewTracer(h.m)
	lines := []gitrepo.Range{{First: 1, Last: 1}}
	for range 2 {
		for o, want := range map[bool]string{false: "two", true: "one"} {
			got, err := tr.Trace(t.Context(), h.ID("two"), "a", lines, gitrepo.BlameOptions{IgnoreSpace: o})
			if err != nil || len(got) != 1 || h.Name(got[0].Commit) != want {
				t.Errorf("white space %v: %+v, %v", o, got, err)
			}
		}
	}
	if n := tr.(*blamer).kept.recent.Len(); n != 2 {
		t.Errorf("%d results are kept", n)
	}
}

// BenchmarkVariants attributes one fix with every variant, from nothing.
func BenchmarkVariants(b *testing.B) {
	repo := gittest.Build(b, twoFiles)
	m, err := gitrepo.Open(b.Context(), repo.Dir, b.TempDir(), gitrepo.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	h := history{repo, m}
	for b.Loop() {
		v := New(m, Options{})
		for _, name := range Names() {
			h.ask(b, v, name, "fix")
		}
	}
}
