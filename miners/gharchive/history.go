package gharchive

import (
	"context"
	"errors"
	"regexp"
	"strings"
)

// History tells from git what events leave unknown. Repositories are asked for by their full names. It must be safe for concurrent use.
type History interface {
	// AtHand tells whether a repository's history is there. It is asked for every push that lists no commits, so it must be quick.
	AtHand(repo string) bool
	// Pushed calls use for the commits that a push brought, at most some bounded number: cut says that there are more.
	// Errors: ErrNoHistory, ErrNoBefore, ErrNoHead.
	Pushed(ctx context.Context, repo, before, head string, use func(Commit)) (cut bool, err error)
	// Landed is the commit as which a pull request landed; "" where git does not show that it did.
	Landed(ctx context.Context, repo string, number int) (sha string, err error)
}

// Errors of a History.
var (
	ErrNoHistory = errors.New("the repository cannot be opened")
	ErrNoBefore  = errors.New("the commit before the push is not there")
	ErrNoHead    = errors.New("the head of the push is not there")
)

// Names of the counts of what git was asked.
const (
	cPushesUnknown      = "pushes_unknown"       // of repositories at hand: their commits are not in the event, or not all
	cPushesResolved     = "pushes_resolved"      // of these, those whose commits git told
	cPushesRepeated     = "pushes_repeated"      // of these, those of a range that another push of the file had
	cPushesCut          = "pushes_cut"           // of those resolved, those of which only the newest commits were read
	cPushesUnresolvable = "pushes_unresolvable_" // and why
	cMergedResolved     = "merged_resolved"      // pull requests of which git shows that they landed
	cMergedFailed       = "merged_git_failed"    // those of which it could not tell
)

// maxRanges bounds how many ranges a file's search remembers.
const maxRanges = 100_000

// atHand tells whether git can be asked about the repository of a usual description.
func (x *extractor) atHand(repo []byte) bool {
	return x.o.History != nil && x.o.History.AtHand(string(member(repo, `"name":"`)))
}

// resolvePush searches what git knows of a push whose commits are not all in the event. What stays unknown is counted for its
// repository.
func (x *extractor) resolvePush(e Event) {
	if x.o.History == nil || !x.o.History.AtHand(e.Repo.Name) {
		x.unresolved.Add(e.Repo.Name, 1)
		return
	}
	x.counts.add(cPushesUnknown, 1)
	why, repeated := "", false
	if why = e.Push.unranged(); why == "" {
		why, repeated = x.searchRange(e)
	}
	switch {
	case why != "":
		x.counts.add(cPushesUnresolvable+why, 1)
		x.unresolved.Add(e.Repo.Name, 1)
	case repeated:
		x.counts.add(cPushesRepeated, 1)
	default:
		x.counts.add(cPushesResolved, 1)
	}
}

// someID is an id, or what an address has of one.
var someID = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// unranged says why a push names no range of commits, "" when it does.
func (p *Push) unranged() string {
	switch {
	case !someID.MatchString(p.Before) || !someID.MatchString(p.Head):
		return "no_range"
	case strings.Trim(p.Head, "0") == "":
		return "deleted_branch"
	case strings.Trim(p.Before, "0") == "":
		return "new_branch" // where it began is not known
	}
	return ""
}

// searchRange searches the commits of a range, the first time that it is met. why says what stands against it.
func (x *extractor) searchRange(e Event) (why string, repeated bool) {
	p := e.Push
	key := strings.ToLower(e.Repo.Name + " " + p.Before + " " + p.Head)
	if why, repeated = x.ranges[key]; repeated {
		return why, true
	}
	listed := map[string]bool{}
	for _, c := range p.Commits {
		listed[strings.ToLower(c.SHA)] = true
	}
	x.fromGit = true
	cut, err := x.o.History.Pushed(x.ctx, e.Repo.Name, p.Before, p.Head, func(c Commit) {
		if !listed[c.SHA] {
			x.commit(e, c)
		}
	})
	x.fromGit = false
	if cut {
		x.counts.add(cPushesCut, 1)
	}
	why = reasonOf(err)
	if x.ranges == nil || len(x.ranges) >= maxRanges {
		x.ranges = map[string]string{}
	}
	x.ranges[key] = why
	return why, false
}

func reasonOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrNoHistory):
		return "no_history"
	case errors.Is(err, ErrNoBefore):
		return "before_gone" // after a force-push, or the mirror never had it
	case errors.Is(err, ErrNoHead):
		return "head_gone"
	}
	return "git_failed"
}

// landed asks git for the commit as which a pull request landed, once for an event.
func (x *extractor) landed(e Event, number int) string {
	if x.o.History == nil || number <= 0 || !x.o.History.AtHand(e.Repo.Name) {
		return ""
	}
	sha, err := x.o.History.Landed(x.ctx, e.Repo.Name, number)
	switch {
	case err != nil:
		x.counts.add(cMergedFailed, 1)
	case sha != "":
		x.counts.add(cMergedResolved, 1)
	}
	return sha
}
