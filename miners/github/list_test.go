package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/github/githubtest"
)

// after lets a real answer through and then does something, as if the world changed between two requests.
func after(s *githubtest.Server, match string, do func()) {
	s.Fault(match, 1, func(w http.ResponseWriter, r *http.Request) {
		s.Answer(w, r)
		do()
	})
}

// TestListThatMoves: an element goes away, or comes, while the pages are read. What stays is there once.
func TestListThatMoves(t *testing.T) {
	t.Parallel()
	const path = "repos/o/r/x"
	remove := func(id int) func([]githubtest.Object) []githubtest.Object {
		return func(l []githubtest.Object) []githubtest.Object {
			return slices.DeleteFunc(l, func(o githubtest.Object) bool { return o["id"] == id })
		}
	}
	for _, tt := range []struct {
		name   string
		match  string
		change func([]githubtest.Object) []githubtest.Object
		want   func([]int) []int
	}{
		{"an early element goes", "page=2", remove(3), func(all []int) []int { return slices.Delete(all, 2, 3) }},
		{"a late element goes", "page=2", remove(33), func(all []int) []int { return slices.Delete(all, 32, 33) }},
		{"one comes first", "page=3", func(l []githubtest.Object) []githubtest.Object {
			return append([]githubtest.Object{{"id": 99}}, l...)
		}, func(all []int) []int { return append([]int{99}, all...) }},
		{"one comes last", "page=5", func(l []githubtest.Object) []githubtest.Object {
			return append(l, githubtest.Object{"id": 44})
		}, func(all []int) []int { return append(all, 44) }},
		{"the last page goes", "page=4", func(l []githubtest.Object) []githubtest.Object { return l[:40] }, func(all []int) []int { return all[:40] }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
			numbered(s, path, 43)
			after(s, tt.match, func() { s.Change(path, tt.change) })
			got, err := ids(t, c, path)
			if diff := cmp.Diff(tt.want(upTo(43)), got); diff != "" || err != nil {
				t.Errorf("%v -want +got\n%s", err, diff)
			}
		})
	}
}

func TestListThatNeverRests(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
	numbered(s, "repos/o/r/x", 25)
	for i := range 20 {
		after(s, "&page=1", func() { s.Add("repos/o/r/x", githubtest.Object{"id": 100 + i}) })
	}
	if _, err := ids(t, c, "repos/o/r/x"); !errors.Is(err, ErrMoving) {
		t.Error(err)
	}
}

// issue is an element of the list of issues, updated some minutes after the first day.
func issue(n int, minutes float64) githubtest.Object {
	return githubtest.Object{"id": n, "number": n, "updated_at": githubtest.At(minutes / 60), "created_at": githubtest.At(0)}
}

func visit(t *testing.T, c *Client, since time.Time) []int {
	t.Helper()
	var got []int
	err := c.Items(t.Context(), repo, since, func(it Item) error { got = append(got, it.Number); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestItems(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
	for n := 1; n <= 43; n++ {
		s.Add("repos/o/r/issues", issue(n, float64(n)))
	}
	if diff := cmp.Diff(upTo(43), visit(t, c, time.Time{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(upTo(43)[39:], visit(t, c, githubtest.Day.Add(40*time.Minute))); diff != "" {
		t.Error(diff)
	}
}

// TestItemsOfOneMoment: a robot touched 35 issues in one second.
func TestItemsOfOneMoment(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
	for n := 1; n <= 50; n++ {
		s.Add("repos/o/r/issues", issue(n, float64(min(max(n, 8), 43))))
	}
	got := visit(t, c, time.Time{})
	slices.Sort(got)
	if diff := cmp.Diff(upTo(50), got); diff != "" {
		t.Error(diff)
	}
}

// TestItemsThatMove: one issue is deleted, one is updated and one is new while the list is read. All others are visited once, the updated
// one twice.
func TestItemsThatMove(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
	for n := 1; n <= 43; n++ {
		s.Add("repos/o/r/issues", issue(n, float64(n)))
	}
	after(s, "/issues", func() {
		s.Change("repos/o/r/issues", func(l []githubtest.Object) []githubtest.Object {
			l = slices.DeleteFunc(l, func(o githubtest.Object) bool { return o["number"] == 2 })
			for i := range l {
				if l[i]["number"] == 5 {
					l[i] = issue(5, 100)
				}
			}
			return append(l, issue(44, 99))
		})
	})
	want := append(upTo(43), 44, 5)
	if diff := cmp.Diff(want, visit(t, c, time.Time{})); diff != "" {
		t.Error(diff)
	}
}

func TestItemsStop(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, nil)
	s.Add("repos/o/r/issues", issue(1, 1), issue(2, 2))
	stop, n := errors.New("stop"), 0
	if err := c.Items(t.Context(), repo, time.Time{}, func(Item) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Error(n, err)
	}
	for _, bad := range []githubtest.Object{{"number": 0, "updated_at": githubtest.At(1)}, {"number": 1, "updated_at": nil}, {"number": "x", "updated_at": githubtest.At(1)}} {
		s, c, _ := setup(t, nil)
		s.Put("repos/o/r/issues", []any{bad})
		if err := c.Items(t.Context(), repo, time.Time{}, func(Item) error { return nil }); !errors.Is(err, ErrBadAnswer) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestRepository(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, nil)
	s.Repo("new/name", 7)
	s.Put("repositories/7", githubtest.Object{"id": 7, "full_name": "new/name", "default_branch": "main"})
	s.Fault("/repos/old/name", 9, githubtest.Redirect(301, s.URL+"/repositories/7"))
	got, err := c.Repository(t.Context(), "old/name")
	if err != nil || got.ID != 7 || got.Name != "new/name" || got.Renamed != "old/name" || got.DefaultBranch != "main" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := c.Repository(t.Context(), "New/Name"); err == nil || got.ID != 0 {
		t.Errorf("the fake minds case: %+v, %v", got, err)
	}
	if _, err := c.Repository(t.Context(), "no/such"); !errors.Is(err, ErrUnknownRepo) {
		t.Error(err)
	}
	s.Put("repos/a/b", githubtest.Object{"full_name": "a/b"})
	s.Put("repos/t/t", githubtest.Object{"id": "5", "full_name": "t/t"})
	if _, err := c.Repository(t.Context(), "t/t"); !errors.Is(err, ErrBadAnswer) {
		t.Error(err)
	}
	s.Put("repos/o/r/pulls/7", githubtest.Object{"number": 9})
	if _, err := c.Fetch(t.Context(), repo, Item{Number: 7, Pull: true, Raw: []byte("{}")}); !errors.Is(err, ErrBadAnswer) {
		t.Error(err)
	}
	if _, err := c.Repository(t.Context(), "a/b"); !errors.Is(err, ErrBadAnswer) {
		t.Error(err)
	}
	s.Fault("/repos/loop/x", 9, githubtest.Redirect(301, "/repos/loop/x"))
	if _, err := c.Repository(t.Context(), "loop/x"); !errors.Is(err, ErrRedirect) || s.Hits("loop") != 2 {
		t.Error(err, s.Hits("loop"))
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"o/r": true, "a-b/c.d_e": true, "name_corp/x": true, "o": false, "o/r/x": false, "../x": false, "o/..": false, "o/.": false,
		"o/r?x": false, "": false, "/": false, "o /r": false, "-o/r": false, "o/r%2f": false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestRenamedWhilePaging: the list answers 301 in the middle; the page is read at its new place, with its number.
func TestRenamedWhilePaging(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.PerPage = 10 })
	numbered(s, "repos/o/r/x", 25)
	numbered(s, "repositories/7/x", 25)
	s.Fault("/repos/o/r/x?per_page=10&page=2", 2, githubtest.Redirect(301, "/repositories/7/x"))
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || !slices.Equal(got, upTo(25)) {
		t.Error(got, err)
	}
}

func TestUnderABasePath(t *testing.T) {
	t.Parallel()
	s := githubtest.New()
	defer s.Close()
	numbered(s, "repos/o/r/x", 25)
	s.Fault("/api/v3/repos/o/r/y", 1, githubtest.Redirect(301, s.URL+"/api/v3/repos/o/r/x"))
	s.Fault("/api/v3/repos/o/r/z", 1, githubtest.Redirect(301, s.URL+"/elsewhere"))
	c, _ := client(t, s, func(o *Options) { o.BaseURL = s.URL + "/api/v3"; o.PerPage = 10 })
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 25 {
		t.Error(got, err)
	}
	if pg, err := c.get(t.Context(), "repos/o/r/y?page=2&per_page=10"); err != nil || pg.path != "repos/o/r/x?page=2&per_page=10" {
		t.Error(pg.path, err)
	}
	if _, err := c.get(t.Context(), "repos/o/r/z"); !errors.Is(err, ErrRedirect) {
		t.Error(err)
	}
	if got := c.graphqlPath(); got != "../graphql" {
		t.Error(got)
	}
}

func FuzzItems(f *testing.F) {
	f.Add([]byte(`[{"number":1,"updated_at":"2024-01-01T00:00:00Z"}]`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		items, err := itemsOf(page{body: body})
		for _, it := range items {
			if it.Number <= 0 || it.Updated.IsZero() || err != nil {
				t.Errorf("%+v", it)
			}
		}
		elements, err := elementsOf(page{body: body})
		if err == nil && len(distinct([][]json.RawMessage{elements})) > len(elements) {
			t.Error("more elements than there are")
		}
	})
}

func ExampleCheckName() {
	fmt.Println(CheckName("owner"))
	// Output: "owner" is not OWNER/NAME
}
