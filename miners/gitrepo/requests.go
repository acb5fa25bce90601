package gitrepo

import (
	"context"
	"regexp"
	"strings"
)

// requests are the pull or merge requests that the mirror has references for. Forges keep those for ever: a number up to the
// highest that has none is an issue's.
type requests struct {
	heads  map[string][]int // the numbers of those that end at a commit, by its id
	known  map[int]bool
	most   int
	gitlab bool // requests are written !12 there, and #12 is an issue
}

// requests reads the references. GitLab's come first: what a copy on another forge was asked to pull has numbers that mean
// nothing here.
func (m *Mirror) requests(ctx context.Context) (requests, error) {
	q := requests{heads: map[string][]int{}, known: map[int]bool{}}
	for _, prefix := range []string{"refs/merge-requests/", "refs/pull/"} {
		found, err := m.refs(ctx, prefix)
		if err != nil {
			return q, err
		}
		for name, id := range found {
			digits, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/")
			if n := atoi(digits); n > 0 {
				q.heads[id] = append(q.heads[id], n)
				q.known[n] = true
				q.most = max(q.most, n)
			}
		}
		if len(found) > 0 {
			q.gitlab = prefix == "refs/merge-requests/"
			break
		}
	}
	return q, nil
}

// only is the only request that ends at the commits; 0 for none. Several end at one when a branch was reset to the default
// branch, which says nothing.
func (q requests) only(ids ...string) int {
	var numbers []int
	for _, id := range ids {
		numbers = append(numbers, q.heads[id]...)
	}
	if len(numbers) != 1 {
		return 0
	}
	return numbers[0]
}

// manyRequests is from how many references on a mirror counts as one that has them all.
const manyRequests = 100

// issue tells that a number after # cannot be a request's.
func (q requests) issue(n int) bool {
	return len(q.known) >= manyRequests && n <= q.most && !q.known[n]
}

// identify is identify with the references at hand: "(#12)" may name the issue that a commit is about, and "Closes #12" the request
// that it landed.
func (q requests) identify(rec record) identity {
	id := identify(rec)
	if id.by == bySquash && q.issue(id.number) {
		id.number, id.by = 0, ""
		id.title, _ = rec.subject()
	}
	if id.number == 0 {
		id.by = ""
		if id.number = q.closed(rec.message); id.number > 0 {
			id.by = byCloses
		}
	}
	return id
}

// closesLine is a line of its own that may name a request or an issue.
var closesLine = regexp.MustCompile(`(?mi)^[ \t]*closes:?[ \t]+(#|!|https?://\S+/(?:pull|merge_requests)/)(\d{1,9})[ \t]*\.?\r?$`)

// closed is the only request that a message says it closes; 0 when it names none or several.
func (q requests) closed(message string) int {
	found := 0
	for _, m := range closesLine.FindAllStringSubmatch(message, -1) {
		n := atoi(m[2])
		switch {
		case !q.known[n] || n == found || q.gitlab && m[1] == "#":
		case found > 0:
			return 0
		default:
			found = n
		}
	}
	return found
}
