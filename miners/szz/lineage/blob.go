package lineage

import (
	"bytes"
	"container/list"
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/cespare/xxhash/v2"

	"sluice/miners/gitrepo"
)

// text is a file cut into lines. Two lines are equal when their ids are: white space does not count.
type text struct {
	data  []byte
	start []int32 // of each line, and the end of the last
	ids   []uint64
}

// Len is the number of lines.
func (t *text) Len() int { return len(t.ids) }

// Line returns line i, counted from 0, without its end.
func (t *text) Line(i int) []byte { return bytes.TrimRight(t.data[t.start[i]:t.start[i+1]], "\r\n") }

// maxText is the size in bytes beyond which a file is no source code that anybody wrote.
const maxText = 4 << 20

// newText cuts a file. Binary files and giants have no lines. Where much of it stands in a text that is at hand, that part is
// not cut again.
func newText(data []byte, like *text) *text {
	if len(data) > maxText || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return &text{start: []int32{0}}
	}
	head, tail := 0, 0
	if like != nil {
		head, tail = like.common(data)
	}
	room := len(data)/24 + 1
	if like != nil {
		room = like.Len() + 64
	}
	t := &text{data: data, start: make([]int32, 0, room+1), ids: make([]uint64, 0, room)}
	pos, end := 0, len(data)
	if head > 0 {
		t.start, t.ids, pos = append(t.start, like.start[:head]...), append(t.ids, like.ids[:head]...), int(like.start[head])
	}
	if tail > 0 {
		end -= len(like.data) - int(like.start[like.Len()-tail])
	}
	t.cut(pos, end)
	if tail > 0 {
		shift := int32(len(data) - len(like.data))
		for _, s := range like.start[like.Len()-tail : like.Len()] {
			t.start = append(t.start, s+shift)
		}
		t.ids = append(t.ids, like.ids[like.Len()-tail:]...)
	}
	t.start = append(t.start, int32(len(data)))
	return t
}

// cut appends the lines from pos to end.
func (t *text) cut(pos, end int) {
	var buf [256]byte
	squeezed := buf[:0]
	for pos < end {
		next := end
		if i := bytes.IndexByte(t.data[pos:end], '\n'); i >= 0 {
			next = pos + i + 1
		}
		squeezed = squeeze(squeezed[:0], t.data[pos:next])
		t.start = append(t.start, int32(pos))
		t.ids = append(t.ids, xxhash.Sum64(squeezed))
		pos = next
	}
}

// common counts the whole lines at the start and at the end that t shares with data.
func (t *text) common(data []byte) (head, tail int) {
	a, b := t.data, data
	n := commonPrefix(a, b)
	head = sort.Search(t.Len(), func(i int) bool { return int(t.start[i+1]) > n })
	if head == t.Len() && head > 0 && a[len(a)-1] != '\n' && n < len(b) {
		head-- // the last line goes on
	}
	from := 0
	if head > 0 {
		from = int(t.start[head])
	}
	m := commonSuffix(a[from:], b[from:])
	first := sort.Search(t.Len(), func(i int) bool { return int(t.start[i]) >= len(a)-m })
	// The first common line must begin a line in data too.
	for first < t.Len() {
		at := len(b) - (len(a) - int(t.start[first]))
		if at == from || at > 0 && b[at-1] == '\n' {
			break
		}
		first++
	}
	return head, t.Len() - max(first, head)
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[len(a)-i-step:len(a)-i], b[len(b)-i-step:len(b)-i]) {
		i += step
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// squeeze appends what is not white space. It is the inner loop of everything: it writes each byte and steps on only where the
// byte stays, which spares the processor a guess at every one.
func squeeze(dst, line []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(line))[:n+len(line)]
	for _, b := range line {
		dst[n] = b
		n += int(stays[b])
	}
	return dst[:n]
}

// stays is 0 for white space and 1 for all else.
var stays = func() (t [256]uint8) {
	for i := range t {
		t[i] = 1
	}
	for _, b := range " \t\n\r\f\v" {
		t[b] = 0
	}
	return t
}()

// size is about how many bytes of memory a text takes.
func (t *text) size() int64 { return int64(len(t.data) + 12*len(t.start) + 100) }

const (
	maxTexts = 512 << 20 // bytes of files kept
	maxDiffs = 2 << 20   // hunks kept
)

// blobs reads files and compares them, and keeps the results.
type blobs struct {
	m       *gitrepo.Mirror
	texts   *cache[string, *text]
	diffs   *cache[[2]string, []Hunk]
	renames *cache[int64, version]
}

func newBlobs(m *gitrepo.Mirror) *blobs {
	return &blobs{
		m: m, texts: newCache[string, *text](maxTexts), diffs: newCache[[2]string, []Hunk](maxDiffs),
		renames: newCache[int64, version](1 << 20),
	}
}

func (b *blobs) read(ctx context.Context, id string) (*text, error) { return b.readLike(ctx, id, nil) }

// readLike reads a blob of which most is expected to be in another text; nil for none.
func (b *blobs) readLike(ctx context.Context, id string, like *text) (*text, error) {
	if t, ok := b.texts.get(id); ok {
		return t, nil
	}
	data, err := b.m.Blob(ctx, id)
	if err != nil {
		return nil, err
	}
	t := newText(data, like)
	b.texts.put(id, t, t.size())
	return t, nil
}

// diff compares two blobs line by line.
func (b *blobs) diff(ctx context.Context, from, to string) ([]Hunk, error) {
	key := [2]string{from, to}
	if h, ok := b.diffs.get(key); ok {
		return h, nil
	}
	after, err := b.read(ctx, to)
	if err != nil {
		return nil, err
	}
	before, err := b.readLike(ctx, from, after)
	if err != nil {
		return nil, err
	}
	h := compare(before.ids, after.ids)
	b.diffs.put(key, h, int64(len(h))+1)
	return h, nil
}

// cache keeps what was used last, up to a total cost. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	mu    sync.Mutex
	max   int64
	cost  int64
	order *list.List
	items map[K]*list.Element
}

type cached[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

func newCache[K comparable, V any](most int64) *cache[K, V] {
	return &cache[K, V]{max: most, order: list.New(), items: map[K]*list.Element{}}
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cached[K, V]).value, true
}

func (c *cache[K, V]) put(k K, v V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok {
		return
	}
	c.items[k] = c.order.PushFront(cached[K, V]{k, v, cost})
	for c.cost += cost; c.cost > c.max && c.order.Len() > 1; {
		last := c.order.Remove(c.order.Back()).(cached[K, V])
		delete(c.items, last.key)
		c.cost -= last.cost
	}
}

// exact are ids that are equal only for lines that are the same byte for byte.
func (t *text) exact() []uint64 {
	out := make([]uint64, t.Len())
	for i := range out {
		out[i] = xxhash.Sum64(t.data[t.start[i]:t.start[i+1]])
	}
	return out
}

// ID is equal for lines that differ in white space alone.
func (t *text) ID(i int) uint64 { return t.ids[i] }
