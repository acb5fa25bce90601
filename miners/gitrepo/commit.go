package gitrepo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Commit is what a commit says of itself, but for its message.
type Commit struct {
	ID        string
	Parents   []string
	Authored  time.Time // UTC; of a broken date, the epoch
	Committed time.Time
}

// FirstParent is the state that the commit was made on; "" of a root commit.
func (c Commit) FirstParent() string {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// shortID is a commit id that may be abbreviated, as git takes it.
var shortID = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

// Commit finds a commit by its id, which may be abbreviated; it need not be in any branch. Errors: ErrMissingObject, also when
// several objects begin so, or when it is no commit.
func (m *Mirror) Commit(ctx context.Context, id string) (Commit, error) {
	name := strings.ToLower(id)
	if !shortID.MatchString(name) {
		return Commit{}, fmt.Errorf("looking up %.80q: it is no commit id", id)
	}
	o, err := m.objects.read(ctx, name+"^{commit}")
	if err != nil {
		return Commit{}, fmt.Errorf("looking up commit %s: %w", id, err)
	}
	return parseCommit(o), nil
}

// parseCommit reads the header of a commit object. What it lacks stays empty.
func parseCommit(o object) Commit {
	c := Commit{ID: o.id, Authored: time.Unix(0, 0).UTC(), Committed: time.Unix(0, 0).UTC()}
	for line := range strings.Lines(string(o.data)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "":
			return c
		case "parent":
			if objectID.MatchString(value) {
				c.Parents = append(c.Parents, value)
			}
		case "author":
			c.Authored = signed(value)
		case "committer":
			c.Committed = signed(value)
		}
	}
	return c
}

// signed reads the time of "Name <mail> 1700000000 +0100".
func signed(value string) time.Time {
	fields := strings.Fields(value[strings.LastIndexByte(value, '>')+1:])
	if len(fields) == 0 {
		return time.Unix(0, 0).UTC()
	}
	return parseSeconds(fields[0])
}
