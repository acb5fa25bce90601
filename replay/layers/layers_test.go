package layers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// TestKey: whatever a leading step could see makes another key, and nothing else does.
func TestKey(t *testing.T) {
	t.Parallel()
	job := func() replay.Job {
		return replay.Job{
			Name: "a #1", Tree: sandboxtest.NewTree("a"), Env: replay.Env{ID: "env", Log: "x"},
			Steps:    []replay.Step{{Name: "build", Args: []string{"make", "all"}}, {Name: "test", Args: []string{"run"}}},
			Overlays: []replay.Overlay{{Remove: []string{"x"}}, {Files: []replay.File{{Path: "f\xfe", Mode: 0o644, Data: []byte("d")}}}},
			Share:    replay.Share{Steps: 1},
		}
	}
	base, ok := Key(job())
	if !ok || len(base) != 64 {
		t.Fatalf("key %q, %v", base, ok)
	}
	same := job()
	same.Name, same.Env.Log, same.Env.Recipe.Base = "a #2", "", &replay.Recipe{}
	if k, _ := Key(same); k != base {
		t.Error("a repeat has another key")
	}
	seen := map[string]string{base: "the job"}
	for name, change := range map[string]func(*replay.Job){
		"environment":    func(j *replay.Job) { j.Env.ID = "other" },
		"tree":           func(j *replay.Job) { j.Tree = sandboxtest.NewTree("b") },
		"path":           func(j *replay.Job) { j.Overlays[1].Files[0].Path = "f\xff" },
		"bytes":          func(j *replay.Job) { j.Overlays[1].Files[0].Data = []byte("e") },
		"mode":           func(j *replay.Job) { j.Overlays[1].Files[0].Mode = 0o755 },
		"removal":        func(j *replay.Job) { j.Overlays[0].Remove = []string{"y"} },
		"order":          func(j *replay.Job) { j.Overlays[0], j.Overlays[1] = j.Overlays[1], j.Overlays[0] },
		"overlays":       func(j *replay.Job) { j.Overlays = append(j.Overlays, replay.Overlay{}) },
		"argument":       func(j *replay.Job) { j.Steps[0].Args = []string{"make all"} },
		"variable":       func(j *replay.Job) { j.Steps[0].Env = map[string]string{"A": "1"} },
		"other variable": func(j *replay.Job) { j.Steps[0].Env = map[string]string{"A": "2"} },
		"later step":     func(j *replay.Job) { j.Steps[1].Args = []string{"run", "x"} },
		"limit":          func(j *replay.Job) { j.Limits.Memory = 1 << 40 },
		"other limit":    func(j *replay.Job) { j.Limits.Memory = 1 << 41 },
		"shared steps":   func(j *replay.Job) { j.Share.Steps = 2 },
		"warming":        func(j *replay.Job) { j.Share.Warm = []replay.Step{{Name: "warm"}} },
	} {
		j := job()
		change(&j)
		k, ok := Key(j)
		if other, dup := seen[k]; dup || !ok {
			t.Errorf("another %s has the key of %s", name, other)
		}
		seen[k] = name
	}
	j := job()
	j.Share = replay.Share{}
	if k, ok := Key(j); ok {
		t.Errorf("a job that shares nothing has the key %s", k)
	}
}

// TestLaws: whatever is done in whatever order, what is in use is never dropped, each layer that leaves is dropped once, a key has one layer
// at a time, and idle layers take no more than they may.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 10
		dropped := map[int]bool{}
		inUse := map[int]int{}
		size := map[int]int64{}
		c := New(most, func(l int) {
			if dropped[l] || inUse[l] > 0 {
				t.Fatalf("layer %d is dropped: before %v, users %d", l, dropped[l], inUse[l])
			}
			dropped[l] = true
		})
		type held struct {
			use   *Use[int]
			key   string
			layer int // 0: none
		}
		var holds []*held
		made := 0
		making := map[string]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch do := rapid.SampledFrom([]string{"get", "get", "settle", "done", "done", "lost", "empty"}).Draw(t, "do"); {
			case do == "get":
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
				if making[key] {
					continue // it would wait
				}
				u, err := c.Get(context.Background(), key)
				if err != nil {
					t.Fatal(err)
				}
				h := &held{use: u, key: key}
				if l, ok := u.Layer(); ok {
					if dropped[l] {
						t.Fatalf("got the dropped layer %d", l)
					}
					h.layer = l
					inUse[l]++
				}
				making[key] = u.Maker()
				holds = append(holds, h)
			case do == "empty":
				c.Empty()
			case len(holds) == 0:
			default:
				i := rapid.IntRange(0, len(holds)-1).Draw(t, "which")
				h := holds[i]
				switch {
				case do == "settle" && h.use.Maker() && rapid.Bool().Draw(t, "kept"):
					made++
					h.layer, size[made] = made, rapid.Int64Range(0, 6).Draw(t, "bytes")
					inUse[made]++
					making[h.key] = false
					h.use.Made(made, size[made])
				case do == "settle" && h.use.Maker():
					making[h.key] = false
					h.use.None()
				case do == "lost" && h.layer != 0:
					h.use.Lost()
				case do == "done":
					if h.use.Maker() {
						making[h.key] = false
					}
					inUse[h.layer]--
					holds = append(holds[:i], holds[i+1:]...)
					h.use.Done()
				}
			}
			var idle int64
			for l := 1; l <= made; l++ {
				if !dropped[l] && inUse[l] == 0 {
					idle += size[l]
				}
			}
			if idle > most {
				t.Fatalf("idle layers take %d", idle)
			}
		}
		for _, h := range holds {
			inUse[h.layer]--
			h.use.Done()
		}
		c.Empty()
		for l := 1; l <= made; l++ {
			if !dropped[l] {
				t.Fatalf("layer %d stays for ever", l)
			}
		}
	})
}

// TestOneMakes: of many at once one makes the layer; one that gives up leaves it to the next; one that cannot keep it makes nobody wait.
func TestOneMakes(t *testing.T) {
	t.Parallel()
	c := New(100, func(string) {})
	var tries, makers atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			u, err := c.Get(t.Context(), "k")
			if err != nil {
				t.Error(err)
				return
			}
			defer u.Done()
			if u.Maker() {
				if tries.Add(1) < 3 {
					return // an error of the machinery
				}
				makers.Add(1)
				u.Made("layer", 1)
			}
			if l, ok := u.Layer(); !ok || l != "layer" {
				t.Errorf("layer %q, %v", l, ok)
			}
		})
	}
	wg.Wait()
	if makers.Load() != 1 {
		t.Errorf("made %d times", makers.Load())
	}
	first, _ := c.Get(t.Context(), "none")
	first.None()
	second, err := c.Get(t.Context(), "none")
	if _, ok := second.Layer(); err != nil || ok || second.Maker() {
		t.Errorf("after None: %v, layer %v, maker %v", err, ok, second.Maker())
	}
}

// TestWaitingEnds: who waits for a layer goes with his context, and leaves nothing behind.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	c := New(100, func(int) {})
	maker, err := c.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("enough"))
	if _, err := c.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	maker.Done()
	if len(c.entries) != 0 {
		t.Errorf("%d entries stay", len(c.entries))
	}
}
