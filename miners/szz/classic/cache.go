package classic

import (
	"container/list"
	"sync"
)

// cache keeps values up to a total size; what was not asked for longest goes first. It may be used by many goroutines.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	most   int
	size   int
	byKey  map[K]*list.Element
	recent *list.List // of kept
}

type kept[K comparable, V any] struct {
	key   K
	value V
	size  int
}

func newCache[K comparable, V any](most int) *cache[K, V] {
	return &cache[K, V]{most: most, byKey: map[K]*list.Element{}, recent: list.New()}
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(kept[K, V]).value, true
}

// put keeps a value of the given size; one that is larger than all is not kept.
func (c *cache[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || size > c.most {
		return
	}
	c.byKey[key] = c.recent.PushFront(kept[K, V]{key, value, size})
	for c.size += size; c.size > c.most; {
		last := c.recent.Back()
		k := c.recent.Remove(last).(kept[K, V])
		delete(c.byKey, k.key)
		c.size -= k.size
	}
}
