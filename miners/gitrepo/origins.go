package gitrepo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Origin is the pull or merge request, or the review, that a commit came with, and how that is known.
type Origin struct {
	Number int    `json:"number,omitempty"`
	Review string `json:"review,omitempty"` // an id of a review that is no number: Gerrit's Change-Id
	By     string `json:"by"`               // see OriginWays
}

// OriginWays are the values of Origin.By in the order of trust.
//
// By patch: a request has a commit of the same author, author date and subject, which survive a rebase; and it is the only
// one, or the only one that has the commit at its end.
var OriginWays = []string{byMerge, bySquash, byTrailer, byPullRef, byCloses, byPatch, byReview}

const (
	byCloses = "closes-trailer"
	byPatch  = "patch"
	byReview = "change-id"
)

// Limits of what is taken for the commits of one request. GitHub itself shows 250 commits of a request; one that brings in more
// is the merge of a branch, whose commits came with requests of their own.
const (
	maxMerged  = 2000
	maxRequest = 250
)

var changeID = regexp.MustCompile(`(?m)^Change-Id: (I[0-9a-f]{40})[ \t]*$`)

// Origins says where the commits of a history came from.
type Origins struct {
	ByCommit map[string][]Origin // all ways that say something, the most trusted first; merges have none
	Requests map[int]bool        // the numbers that the mirror has references for; empty: nothing is known about numbers
}

// Origins tells for the commits of a history (parents before children) where each came from.
func (m *Mirror) Origins(ctx context.Context, commits []Logged, tip string, d *DAG) (Origins, error) {
	asked, err := m.requests(ctx)
	if err != nil {
		return Origins{}, err
	}
	merged := asked.merged(commits, d)
	patches, err := m.patches(ctx, tip, d, asked)
	if err != nil {
		return Origins{}, err
	}
	found := make(map[string][]Origin, len(commits))
	for _, c := range commits {
		if len(c.Parents) > 1 {
			continue
		}
		if ways := asked.ways(c, merged[c.ID], patches.request(c)); len(ways) > 0 {
			found[c.ID] = ways
		}
	}
	return Origins{found, asked.known}, nil
}

// ways collects what there is about one commit.
func (q requests) ways(c Logged, merged, patch int) []Origin {
	var ways []Origin
	say := func(number int, by string) {
		if number > 0 {
			ways = append(ways, Origin{Number: number, By: by})
		}
	}
	id := q.identify(record{message: c.Message})
	if id.by == bySquash && q.known[id.number] { // a commit's own word goes before that of a merge around it
		say(id.number, bySquash)
	}
	say(merged, byMerge)
	if id.by != byCloses && len(ways) == 0 || id.by == byTrailer {
		say(id.number, id.by)
	}
	say(q.only(c.ID), byPullRef)
	say(q.closed(c.Message), byCloses)
	say(patch, byPatch)
	if m := changeID.FindAllStringSubmatch(c.Message, -1); m != nil {
		ways = append(ways, Origin{Review: m[len(m)-1][1], By: byReview})
	}
	return ways
}

// merged maps commits to the request whose merge brought them in. The oldest merge counts: a merge of merges has nothing new to
// tell.
func (q requests) merged(commits []Logged, d *DAG) map[string]int {
	merged := map[string]int{}
	for _, c := range commits {
		if len(c.Parents) < 2 {
			continue
		}
		number := q.identify(record{message: c.Message}).number
		if number == 0 {
			number = q.only(c.Parents[1:]...)
		}
		if number == 0 {
			continue
		}
		for _, id := range d.Brought(c.ID, maxMerged) {
			if merged[id] == 0 {
				merged[id] = number
			}
		}
	}
	return merged
}

// patchKey is what a rebase leaves as it is. The subject is folded: maintainers add prefixes and full stops.
type patchKey struct {
	author   string
	authored time.Time
}

type patchOrigin struct {
	subject string
	number  int
	last    bool // the commit is the head of the request
}

// patchIndex finds requests by what their commits look like.
type patchIndex map[patchKey][]patchOrigin

// patches indexes the commits of requests that did not land as they are.
func (m *Mirror) patches(ctx context.Context, tip string, d *DAG, asked requests) (patchIndex, error) {
	if len(asked.heads) == 0 {
		return nil, nil
	}
	outside, err := m.log(ctx, "--all", "--no-merges", "^"+tip)
	if err != nil {
		return nil, fmt.Errorf("reading the requests: %w", err)
	}
	byID := make(map[string]Logged, len(outside))
	for _, c := range outside {
		byID[c.ID] = c
	}
	landed, ok := d.at[tip]
	if !ok {
		return nil, fmt.Errorf("reading the requests: %w: %s", ErrMissingObject, tip)
	}
	idx := patchIndex{}
	below := d.below(landed)
	for head, numbers := range asked.heads {
		if len(numbers) != 1 || numbers[0] == 0 {
			continue
		}
		for _, id := range d.request(head, below) {
			if c, ok := byID[id]; ok {
				idx.add(c, patchOrigin{fold(c.Subject()), numbers[0], id == head})
			}
		}
	}
	return idx, nil
}

func (idx patchIndex) add(c Logged, o patchOrigin) {
	k := patchKey{c.Author, c.Authored}
	idx[k] = append(idx[k], o)
}

// request is the only request with such a commit; of several the only one that ends there: a branch on top of another has its
// commits too.
func (idx patchIndex) request(c Logged) int {
	subject := fold(c.Subject())
	var all, last []int
	for _, o := range idx[patchKey{c.Author, c.Authored}] {
		if o.subject != subject {
			continue
		}
		all = append(all, o.number)
		if o.last {
			last = append(last, o.number)
		}
	}
	if n := single(all); n > 0 {
		return n
	}
	return single(last)
}

// single is the number that all are; 0 when there are none or several.
func single(numbers []int) int {
	for _, n := range numbers {
		if n != numbers[0] {
			return 0
		}
	}
	if len(numbers) == 0 {
		return 0
	}
	return numbers[0]
}

// fold makes subjects comparable that maintainers touched up.
func fold(subject string) string {
	subject = squashNumber.ReplaceAllString(subject, "")
	return strings.TrimRight(strings.ToLower(subject), ". ")
}

// below marks the ancestors of a commit.
func (d *DAG) below(i int32) []bool {
	marks := make([]bool, len(d.ids))
	d.walk(i, func(i int32) bool {
		marks[i] = true
		return true
	})
	return marks
}

// request lists the commits that end at head and are not landed; none when they are more than a request has.
func (d *DAG) request(head string, landed []bool) []string {
	at, ok := d.at[head]
	if !ok {
		return nil
	}
	var out []string
	d.walk(at, func(i int32) bool {
		if landed[i] || len(out) > maxRequest {
			return false
		}
		out = append(out, d.ids[i])
		return true
	})
	if len(out) > maxRequest {
		return nil
	}
	return out
}
