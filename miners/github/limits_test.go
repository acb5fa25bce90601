package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/github/githubtest"
)

// ids reads a list and returns the ids of its elements.
func ids(t *testing.T, c *Client, path string) ([]int, error) {
	t.Helper()
	raws, err := c.list(t.Context(), path)
	if err != nil {
		return nil, err
	}
	elements, err := decodeAll[struct{ ID int }](raws)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, e := range elements {
		out = append(out, e.ID)
	}
	return out, nil
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// TestScenarios reads a list of five pages, the last one short, while page 3 meets something. Whatever it is that passes, all elements are
// there once, in order; what does not pass is an error that names the request (madneal/gshark#322 lost the page that was limited).
func TestScenarios(t *testing.T) {
	t.Parallel()
	const page3 = "page=3"
	for _, tt := range []struct {
		name  string
		times int
		fault http.HandlerFunc
		err   string        // part of the error; "" when it passes
		slept time.Duration // at least
		most  time.Duration
	}{
		{name: "nothing"},
		{"primary 403", 1, githubtest.Primary(403, time.Now().Add(10*time.Minute)), "", time.Second, 2 * time.Minute}, // the quota is asked for
		{"primary 429", 1, githubtest.Primary(429, time.Now().Add(10*time.Minute)), "", time.Second, 2 * time.Minute},
		{"primary in the past", 2, githubtest.Primary(403, time.Now().Add(-time.Hour)), "", 3 * time.Minute, 5 * time.Minute},
		{"secondary 403 without Retry-After", 1, githubtest.Secondary(403, ""), "", time.Minute, 75 * time.Second},
		{"secondary 429 without Retry-After", 1, githubtest.Secondary(429, ""), "", time.Minute, 75 * time.Second},
		{"secondary 403 with Retry-After", 1, githubtest.Secondary(403, "7"), "", 7 * time.Second, 7 * time.Second},
		{"secondary 429 with Retry-After", 1, githubtest.Secondary(429, "7"), "", 7 * time.Second, 7 * time.Second},
		{"Retry-After is no number", 1, githubtest.Secondary(403, "abc"), "", time.Minute, 75 * time.Second},
		{"Retry-After is 0", 1, githubtest.Secondary(403, "0"), "", time.Minute, 75 * time.Second},
		{"Retry-After is negative", 1, githubtest.Secondary(429, "-5"), "", time.Minute, 75 * time.Second},
		{"the penalty doubles", 3, githubtest.Secondary(403, ""), "", 7 * time.Minute, 9 * time.Minute},
		{"a limit in other words", 1, githubtest.Status(403, "You have triggered an abuse detection mechanism."), "", time.Minute, 75 * time.Second},
		{"limits without end", 1000, githubtest.Secondary(403, ""), "keeps limiting", time.Hour, 3 * time.Hour},
		{"202", 3, githubtest.Status(202, "try later"), "", 7 * time.Second, 7 * time.Second},
		{"202 without end", 1000, githubtest.Status(202, "try later"), "202", 31 * time.Second, 31 * time.Second},
		{"500", 2, githubtest.Status(500, "oops"), "", time.Second, time.Minute},
		{"502 without end", 1000, githubtest.Status(502, "oops"), "502 Bad Gateway: oops", time.Second, time.Minute},
		{"cut", 2, githubtest.Cut, "", time.Second, time.Minute},
		{"cut without end", 1000, githubtest.Cut, "the answer was cut", time.Second, time.Minute},
		{"silence", 1, githubtest.Silent, "", 500 * time.Millisecond, 2 * time.Second},
		{"a drip without end", 1, githubtest.Drip, "", 500 * time.Millisecond, 2 * time.Second},
		{"invalid JSON", 1, githubtest.Page("application/json", `[{"id": 1}`), "", 500 * time.Millisecond, 2 * time.Second},
		{"invalid JSON without end", 1000, githubtest.Page("application/json", `[{"id": 1}`), "invalid JSON", time.Second, time.Minute},
		{"another type without end", 1000, githubtest.Page("text/html", "<html>log in</html>"), `its type is "text/html"`, time.Second, time.Minute},
		{"not a list", 1, githubtest.Page("application/json", `{"id": 1}`), "not a list", 0, 0},
		{"404", 1, githubtest.Status(404, "Not Found"), "404 Not Found", 0, 0},
		{"406", 1, githubtest.Status(406, "diff exceeded the maximum number of files (300)"), "406 Not Acceptable: diff exceeded", 0, 0},
		{"410", 1, githubtest.Status(410, "Issues are disabled"), "410 Gone", 0, 0},
		{"451", 1, githubtest.Status(451, "DMCA"), "451 Unavailable For Legal Reasons", 0, 0},
		{"403 that is no limit", 1, githubtest.Status(403, "Resource not accessible"), "403 Forbidden: Resource not accessible", 0, 0},
		{"a redirection to another host", 1, githubtest.Redirect(301, "http://127.0.0.2:1/x"), "leads out of the API", 0, 0},
		{"a redirection in a circle", 1000, githubtest.Redirect(301, "/repos/o/r/x?page=3"), "leads to a second one", 0, 0},
		{"a redirection to nowhere", 1, githubtest.Redirect(301, ""), "301 Moved Permanently", 0, 0},
		{"an empty page with more to come", 1, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", `<http://x/?page=3>; rel="next"`)
			githubtest.Page("application/json", "[]")(w, r)
		}, "page 3 leads to page 3", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c, ft := setup(t, func(o *Options) {
				o.PerPage = 10
				if tt.name == "silence" || tt.name == "a drip without end" { // only here: a busy machine is silent for long, too
					o.Silence = 500 * time.Millisecond
				}
			})
			numbered(s, "repos/o/r/x", 43)
			s.Token("", githubtest.Quota{Limit: 60, Remaining: 1000, Reset: time.Now().Add(time.Hour)})
			s.Fault(page3, tt.times, tt.fault)
			got, err := ids(t, c, "repos/o/r/x")
			if tt.err != "" {
				if err == nil || !contains(err.Error(), tt.err) || !contains(err.Error(), "repos/o/r/x") && !errors.Is(err, ErrLimited) && !errors.Is(err, ErrAccepted) {
					t.Errorf("error %v, want %q and the request", err, tt.err)
				}
			} else if diff := cmp.Diff(upTo(43), got); diff != "" || err != nil {
				t.Errorf("error %v, elements -want +got\n%s", err, diff)
			}
			if d := ft.total(); d < tt.slept || d > max(tt.most, tt.slept) {
				t.Errorf("waited %v, want %v to %v", d, tt.slept, tt.most)
			}
			if n := s.Hits(page3); n > 70 {
				t.Errorf("page 3 was asked for %d times", n)
			}
		})
	}
}

// TestPrimaryInSlices: GitHub gives the quota back before it said; that is noticed within a slice (kubernetes/test-infra#1261).
func TestPrimaryInSlices(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, func(o *Options) { o.Tokens = []string{"token-aaaa"} })
	reset := time.Now().Add(50 * time.Minute)
	s.Token("token-aaaa", githubtest.Quota{Limit: 5000, Reset: reset})
	numbered(s, "repos/o/r/x", 1)
	ft.onSleep = func(total time.Duration) {
		if total > 5*time.Minute {
			s.Token("token-aaaa", githubtest.Quota{Limit: 5000, Remaining: 100, Reset: reset})
		}
	}
	got, err := ids(t, c, "repos/o/r/x")
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if d := ft.total(); d < 5*time.Minute || d > 8*time.Minute {
		t.Errorf("waited %v", d)
	}
	if d := slices.Max(ft.slept); d > slice {
		t.Errorf("slept %v at once", d)
	}
}

// TestSyntheticRefusal: go-github refuses by itself, from what it saw last. Here an answer counts another resource's quota; the client
// must ask for the quota instead of sleeping (google/go-github#2633).
func TestSyntheticRefusal(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, nil)
	numbered(s, "repos/o/r/x", 1)
	s.Fault("/x", 1, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		w.Header().Set("X-RateLimit-Resource", "something_else")
		githubtest.Page("application/json", "[]")(w, r)
	})
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if ft.total() != 0 || s.Hits("/rate_limit") != 1 {
		t.Errorf("waited %v, asked %d times for the quota", ft.total(), s.Hits("/rate_limit"))
	}
}

// TestTokensByQuota: the token with the most quota is taken, an exhausted one rests, one that is not accepted is dropped.
func TestTokensByQuota(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, func(o *Options) { o.Tokens = []string{"token-few0", "token-many", "token-dead"}; o.PerPage = 10 })
	reset := time.Now().Add(time.Hour)
	s.Token("token-few0", githubtest.Quota{Limit: 5000, Remaining: 3, Reset: reset})
	s.Token("token-many", githubtest.Quota{Limit: 5000, Remaining: 12, Reset: reset})
	numbered(s, "repos/o/r/x", 70)
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 70 {
		t.Fatal(len(got), err)
	}
	used := map[string]int{}
	for _, token := range s.Tokens() {
		used[token]++
	}
	if used["token-dead"] != 1 || used["token-few0"] != 3 || used["token-many"] != 11 || ft.total() != 0 {
		t.Errorf("used %v, waited %v", used, ft.total())
	}
}

func TestNoTokenIsAccepted(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t, func(o *Options) { o.Tokens = []string{"token-aaaa", "token-bbbb"} })
	s.Token("another", githubtest.Quota{Remaining: 1})
	if _, err := ids(t, c, "repos/o/r/x"); !errors.Is(err, ErrUnauthorized) {
		t.Error(err)
	}
	c, _ = client(t, s, nil)
	if _, err := ids(t, c, "repos/o/r/x"); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("anonymous: %v", err)
	}
}

// TestSecondaryRotates: while one token rests, another goes on.
func TestSecondaryRotates(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, func(o *Options) { o.Tokens = []string{"token-aaaa", "token-bbbb"} })
	numbered(s, "repos/o/r/x", 1)
	s.Fault("/x", 1, githubtest.Secondary(403, ""))
	if got, err := ids(t, c, "repos/o/r/x"); err != nil || len(got) != 1 || ft.total() != 0 {
		t.Errorf("%v, %v, waited %v", got, err, ft.total())
	}
	if diff := cmp.Diff([]string{"token-aaaa", "token-bbbb"}, s.Tokens()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	s, c, ft := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ft.onSleep = func(time.Duration) { cancel() }
	s.Fault("/x", 1000, githubtest.Secondary(403, ""))
	if _, err := c.list(ctx, "repos/o/r/x"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
