// Package layers keeps what jobs may begin with instead of building it anew: by key, for the time of one process, up to so many bytes.
//
// What a layer is, only the sandbox knows that makes and drops it. One job makes a layer while others that want it wait; who uses one
// keeps it from being dropped. The package never looks into a layer, and never lets a key have another key's.
package layers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"sluice/replay"
)

// Key names the layer of a job: everything that its leading steps can see, and the rest of the job too, which costs nothing since
// repeats agree in it. False: the job has nothing in common with another.
func Key(j replay.Job) (string, bool) {
	if j.Share.Steps == 0 && len(j.Share.Warm) == 0 {
		return "", false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", j.Env.ID, j.Tree.ID())
	for _, o := range j.Overlays {
		fmt.Fprintf(h, "overlay %q %d\n", o.Remove, len(o.Files))
		for _, f := range o.Files {
			fmt.Fprintf(h, "%q %d %x\n", f.Path, f.Mode, sha256.Sum256(f.Data))
		}
	}
	j.Name, j.Tree, j.Overlays, j.Env = "", nil, nil, replay.Env{}
	fmt.Fprintf(h, "%#v", j) // quotes strings, sorts maps; no pointer is left
	return hex.EncodeToString(h.Sum(nil)), true
}

// Cache holds layers. It is safe for concurrent use.
type Cache[L any] struct {
	most int64
	drop func(L)

	mu      sync.Mutex
	entries map[string]*entry[L]
	total   int64
	clock   int // of uses
}

type entry[L any] struct {
	key    string
	making chan struct{} // a token while somebody makes the layer
	users  int
	used   int // when last
	known  bool
	kept   bool
	gone   bool // no longer in the cache
	layer  L
	bytes  int64
}

// New is a cache that holds layers of most bytes, besides those that are in use. drop is called for each layer that leaves it, once, when
// nobody uses it any more.
func New[L any](most int64, drop func(L)) *Cache[L] {
	return &Cache[L]{most: most, drop: drop, entries: map[string]*entry[L]{}}
}

// Use is one job's hold on a key. It is used by one goroutine and ends with Done.
type Use[L any] struct {
	c     *Cache[L]
	e     *entry[L]
	maker bool
}

// Get takes hold of a key. While another one makes its layer, it waits for that. The error is the context's.
func (c *Cache[L]) Get(ctx context.Context, key string) (*Use[L], error) {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		e = &entry[L]{key: key, making: make(chan struct{}, 1)}
		c.entries[key] = e
	}
	e.users++
	u := &Use[L]{c: c, e: e}
	known := e.known
	c.mu.Unlock()
	if known {
		return u, nil
	}
	select {
	case e.making <- struct{}{}:
	case <-ctx.Done():
		u.Done()
		return nil, fmt.Errorf("waiting for a layer: %w", ctx.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.known {
		<-e.making
		return u, nil
	}
	u.maker = true
	return u, nil
}

// Layer returns the key's layer, if there is one.
func (u *Use[L]) Layer() (layer L, ok bool) {
	u.c.mu.Lock()
	defer u.c.mu.Unlock()
	return u.e.layer, u.e.kept && !u.e.gone
}

// Maker reports whether the layer is this use's to make. One that is over without Made or None leaves that to the next.
func (u *Use[L]) Maker() bool { return u.maker }

// Made gives the key its layer, of so many bytes.
func (u *Use[L]) Made(layer L, bytes int64) {
	u.settle(func() {
		u.e.kept, u.e.layer, u.e.bytes = true, layer, bytes
		u.c.total += bytes
	})
	u.c.trim(u.c.most)
}

// None says that the key has no layer: jobs do without, and nobody waits.
func (u *Use[L]) None() { u.settle(func() {}) }

func (u *Use[L]) settle(f func()) {
	u.c.mu.Lock()
	f()
	u.e.known, u.maker = true, false
	u.c.mu.Unlock()
	<-u.e.making
}

// Lost says that the layer is not there any more, by somebody else's doing: the next one makes it anew.
func (u *Use[L]) Lost() {
	u.c.mu.Lock()
	defer u.c.mu.Unlock()
	u.c.remove(u.e)
}

// remove takes an entry out of the cache.
func (c *Cache[L]) remove(e *entry[L]) {
	if e.gone {
		return
	}
	e.gone = true
	c.total -= e.bytes
	delete(c.entries, e.key)
}

// Done ends the use.
func (u *Use[L]) Done() {
	c, e := u.c, u.e
	if u.maker {
		<-e.making
	}
	c.mu.Lock()
	e.users--
	c.clock++
	e.used = c.clock
	idle := e.users == 0
	if idle && !e.known {
		c.remove(e)
	}
	last := idle && e.gone && e.kept
	c.mu.Unlock()
	if last {
		c.drop(e.layer)
	}
	c.trim(c.most)
}

// Empty drops all layers that nobody uses, and returns how many bytes that were.
func (c *Cache[L]) Empty() int64 { return c.trim(0) }

// trim drops layers that nobody uses, those used longest ago first, until the cache holds no more than most bytes.
func (c *Cache[L]) trim(most int64) (freed int64) {
	for {
		c.mu.Lock()
		var oldest *entry[L]
		for _, e := range c.entries {
			if e.kept && e.users == 0 && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil || most > 0 && c.total <= most {
			c.mu.Unlock()
			return freed
		}
		c.remove(oldest)
		freed += oldest.bytes
		c.mu.Unlock()
		c.drop(oldest.layer)
	}
}
