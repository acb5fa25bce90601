package mining

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// githubState is how far a repository is read. It is kept under the numeric id: names change, and may come to mean another repository.
type githubState struct {
	Version int                   `json:"version"`
	Names   []string              `json:"names"` // all that the repository was met under, the current one last
	Read    map[string]githubSpan `json:"read"`  // by part
	Failed  map[int]string        `json:"failed,omitempty"`
}

// githubSpan is the part of a list, ordered by the moment of the last update, that is read.
type githubSpan struct {
	From time.Time `json:"from"` // zero: the beginning
	To   time.Time `json:"to"`
}

// start is where to read the list from; any is false when nothing of it is wanted.
func (st *githubState) start(o GitHubOptions) (start time.Time, any bool) {
	for _, part := range []string{GitHubPulls, GitHubIssues} {
		if !o.wants(part) {
			continue
		}
		from := o.Since
		if span, ok := st.covering(part, o.Since); ok && span.To.After(from) {
			from = span.To.Add(-time.Second)
		}
		if !any || from.Before(start) {
			start = from
		}
		any = true
	}
	return start, any
}

// covering returns what is read of a part, if that begins early enough and leaves no gap.
func (st *githubState) covering(part string, since time.Time) (githubSpan, bool) {
	span, ok := st.Read[part]
	return span, ok && !span.From.After(since) && !since.After(span.To)
}

// has tells whether an item was read in an earlier run. Those of the last second are read again: others of that second may have come.
func (st *githubState) has(part string, updated time.Time) bool {
	span, ok := st.Read[part]
	return ok && !updated.Before(span.From) && updated.Before(span.To.Add(-time.Second))
}

// read notes that the list is read up to a moment.
func (st *githubState) read(o GitHubOptions, upTo time.Time) {
	if upTo.IsZero() {
		return
	}
	for _, part := range []string{GitHubPulls, GitHubIssues} {
		if !o.wants(part) {
			continue
		}
		span, ok := st.covering(part, o.Since)
		if !ok {
			span = githubSpan{From: o.Since}
		}
		if upTo.After(span.To) {
			span.To = upTo
		}
		st.Read[part] = span
	}
}

func (st *githubState) failed() []int { return slices.Sorted(maps.Keys(st.Failed)) }

// met adds a name.
func (st *githubState) met(name string) {
	name = strings.ToLower(name)
	if name != "" && (len(st.Names) == 0 || st.Names[len(st.Names)-1] != name) {
		st.Names = append(slices.DeleteFunc(st.Names, func(n string) bool { return n == name }), name)
	}
}

func (r *githubRun) mark(what string) string {
	return fmt.Sprintf("github %s %d %s", r.o.Client.Host(), r.repo.ID, what)
}

// open reads the state, or begins one.
func (r *githubRun) open(ctx context.Context) error {
	r.tried = map[int]time.Time{}
	value, ok, err := r.s.Mark(ctx, r.mark("state"))
	if err != nil {
		return err
	}
	if ok {
		if err := json.Unmarshal([]byte(value), &r.state); err != nil {
			return fmt.Errorf("reading how far %s is mined: %w", r.repo.Name, err)
		}
	}
	if r.state.Version != githubVersion {
		r.state.Version, r.state.Read = githubVersion, nil
	}
	if r.state.Read == nil {
		r.state.Read = map[string]githubSpan{}
	}
	if r.state.Failed == nil {
		r.state.Failed = map[int]string{}
	}
	r.state.met(r.repo.Renamed)
	r.state.met(r.repo.Name)
	return r.save(ctx)
}

func (r *githubRun) save(ctx context.Context) error {
	value, err := json.Marshal(r.state)
	if err != nil {
		return fmt.Errorf("noting how far %s is mined: %w", r.repo.Name, err)
	}
	return r.s.PutMark(ctx, r.mark("state"), string(value))
}
