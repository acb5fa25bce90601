package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	maxPages  = 1000      // of one list; the API itself gives no more than some hundred
	maxList   = 256 << 20 // bytes of one list
	maxRounds = 4         // of reading a list that moves
)

// list reads all pages of a list and returns its elements once each, in order. A list of several pages may move while it is read: what was
// at the top of page 3 is at the bottom of page 2 when something before it is removed. So the pages are read again until they have not
// changed; behind a cache that costs no quota.
func (c *Client) list(ctx context.Context, path string) ([]json.RawMessage, error) {
	first, err := c.pages(ctx, path)
	if err != nil || len(first) < 2 {
		return distinct(first), err
	}
	for range maxRounds {
		second, err := c.pages(ctx, path)
		if err != nil {
			return nil, err
		}
		if same(first, second) {
			return distinct(second), nil
		}
		first = second
	}
	return nil, fmt.Errorf("GET /%s: %w", path, ErrMoving)
}

// pages reads a list once, page by page, as the server links them.
func (c *Client) pages(ctx context.Context, path string) (out [][]json.RawMessage, err error) {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	size := 0
	for number, read := 1, 0; number > 0; read++ {
		if read == maxPages || size > maxList {
			return nil, fmt.Errorf("GET /%s: %w: more than %d pages or %d bytes", path, ErrBadAnswer, maxPages, maxList)
		}
		pg, err := c.get(ctx, fmt.Sprintf("%s%sper_page=%d&page=%d", path, sep, c.o.PerPage, number))
		if err != nil {
			return nil, err
		}
		elements, err := elementsOf(pg)
		if err != nil {
			return nil, err
		}
		out, size = append(out, elements), size+len(pg.body)
		if pg.next > 0 && pg.next <= number {
			return nil, fmt.Errorf("GET /%s: %w: page %d leads to page %d", path, ErrBadAnswer, number, pg.next)
		}
		number = pg.next
	}
	return out, nil
}

func elementsOf(pg page) ([]json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(pg.body, &elements); err != nil {
		return nil, fmt.Errorf("GET /%s: %w: not a list", pg.path, ErrBadAnswer)
	}
	return elements, nil
}

// identity is what makes two elements the same one.
type identity struct {
	ID     int64  `json:"id"`
	SHA    string `json:"sha"`
	NodeID string `json:"node_id"`
	Event  string `json:"event"`
	Name   string `json:"name"`
	URL    string `json:"url"`
}

// key identifies an element: by its id, its commit, its node, or all its bytes when it has none of them.
func key(raw json.RawMessage) string {
	var i identity
	if json.Unmarshal(raw, &i) != nil {
		return string(raw)
	}
	switch {
	case i.ID != 0:
		return fmt.Sprintf("%s %d", i.Event, i.ID)
	case i.SHA != "":
		return "commit " + i.SHA
	case i.NodeID != "":
		return "node " + i.NodeID
	}
	return string(raw)
}

func same(a, b [][]json.RawMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if !bytes.Equal(a[i][j], b[i][j]) && key(a[i][j]) != key(b[i][j]) {
				return false
			}
		}
	}
	return true
}

func distinct(pages [][]json.RawMessage) []json.RawMessage {
	seen := map[string]bool{}
	out := []json.RawMessage{}
	for _, elements := range pages {
		for _, e := range elements {
			if k := key(e); !seen[k] {
				seen[k] = true
				out = append(out, e)
			}
		}
	}
	return out
}

// Item is an element of the list of issues: an issue, or a pull request seen as one.
type Item struct {
	Number   int
	Pull     bool
	Comments int
	Updated  time.Time
	Home     string // the address of its repository; "" when the API does not tell
	Raw      json.RawMessage
}

// in tells whether the item is of that repository: one that was moved to another answers in its place.
func (it Item) in(r Repository) bool {
	return it.Home == "" || strings.HasSuffix(strings.ToLower(it.Home), "/repos/"+strings.ToLower(r.Name))
}

// Items visits every issue and pull request that was updated since a moment, the oldest update first. It pages by the moment and not by
// number: each request asks for what was updated since a little before the last element. Whatever is new, changes or goes away meanwhile,
// nothing that stays is passed over, and what changes is visited once more. An item whose Updated is the same is visited once.
func (c *Client) Items(ctx context.Context, r Repository, since time.Time, visit func(Item) error) error {
	w := window{since: since.UTC(), number: 1, seen: map[int]time.Time{}}
	for {
		pg, err := c.get(ctx, r.path("issues?state=all&sort=updated&direction=asc&per_page=%d%s", c.o.PerPage, w.query()))
		if err != nil {
			return fmt.Errorf("listing the issues of %s: %w", r.Name, err)
		}
		items, err := itemsOf(pg)
		if err != nil {
			return fmt.Errorf("listing the issues of %s: %w", r.Name, err)
		}
		for _, it := range items {
			if !w.fresh(it) {
				continue
			}
			if err := visit(it); err != nil {
				return err
			}
		}
		if pg.next == 0 {
			return nil
		}
		if err := w.advance(items); err != nil {
			return fmt.Errorf("listing the issues of %s: %w", r.Name, err)
		}
	}
}

// window is the place in a list that is ordered by the moment of the last update.
type window struct {
	since  time.Time
	number int // of the page since then
	seen   map[int]time.Time
}

func (w *window) query() string {
	q := ""
	if !w.since.IsZero() {
		q = "&since=" + w.since.Format(time.RFC3339)
	}
	if w.number > 1 {
		q += fmt.Sprintf("&page=%d", w.number)
	}
	return q
}

func (w *window) fresh(it Item) bool {
	if at, ok := w.seen[it.Number]; ok && at.Equal(it.Updated) {
		return false
	}
	w.seen[it.Number] = it.Updated
	return true
}

// advance moves on to just before the last element: moments have seconds, and several elements may share one. When a whole page is of one
// moment, it goes on by page.
func (w *window) advance(items []Item) error {
	if len(items) == 0 {
		return fmt.Errorf("%w: an empty page that has a next one", ErrBadAnswer)
	}
	last := items[len(items)-1].Updated.Add(-time.Second)
	if last.After(w.since) {
		w.since, w.number = last, 1
		return nil
	}
	if w.number++; w.number > maxPages {
		return fmt.Errorf("%w: more than %d pages of one moment", ErrBadAnswer, maxPages)
	}
	return nil
}

func itemsOf(pg page) ([]Item, error) {
	elements, err := elementsOf(pg)
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(elements))
	for _, raw := range elements {
		it, err := itemOf(raw)
		if err != nil {
			return nil, fmt.Errorf("GET /%s: %w", pg.path, err)
		}
		items = append(items, it)
	}
	return items, nil
}

func itemOf(raw json.RawMessage) (Item, error) {
	var i struct {
		Number   int             `json:"number"`
		Comments int             `json:"comments"`
		Updated  time.Time       `json:"updated_at"`
		Home     string          `json:"repository_url"`
		Pull     json.RawMessage `json:"pull_request"`
	}
	if err := json.Unmarshal(raw, &i); err != nil || i.Number <= 0 || i.Updated.IsZero() {
		return Item{}, fmt.Errorf("%w: an issue without number or time", ErrBadAnswer)
	}
	return Item{Number: i.Number, Comments: i.Comments, Updated: i.Updated, Home: i.Home, Pull: len(i.Pull) > 0 && string(i.Pull) != "null", Raw: raw}, nil
}
