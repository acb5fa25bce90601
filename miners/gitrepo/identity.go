package gitrepo

import (
	"regexp"
	"strconv"
	"strings"
)

// How the number of a change is known, in the order of trust.
const (
	byMerge   = "merge-subject"
	bySquash  = "squash-subject"
	byTrailer = "trailer"
	byPullRef = "pull-ref"
)

// identity is what a commit message says of the pull or merge request that it came from.
type identity struct {
	number int
	by     string
	title  string
	body   string
}

// mergeSubjects are the first lines that forges and merge bots write. The first group is the number, the second one, where
// there is one, the title. Their title else is the first line of the body.
var mergeSubjects = []*regexp.Regexp{
	regexp.MustCompile(`^Merge pull request #(\d+) (?:from|in) `),
	regexp.MustCompile(`^Merged in .+ \(pull request #(\d+)\)$`), // Bitbucket
	regexp.MustCompile(`^Pull request #(\d+): (.+)$`),            // Bitbucket Server
	regexp.MustCompile(`^Merged PR (\d+): (.+)$`),                // Azure
	regexp.MustCompile(`^Auto merge of #(\d+) - `),               // homu
	regexp.MustCompile(`^Merge (?:PR|MR|pull request|merge request) [#!]?(\d+):? ?(.*)$`),
	regexp.MustCompile(`^Merge #(\d+)(?:: (.+))?$`), // bors; a batch has several numbers and no identity
}

var (
	squashNumber = regexp.MustCompile(` *\([#!](\d+)\)$`)
	mergeBranch  = regexp.MustCompile(`^Merge (?:remote-tracking )?(?:branch|branches|tag|commit)\b`)
	gitlabSee    = regexp.MustCompile(`(?m)^See merge request (?:\S*!|https?://\S+/merge_requests/)(\d+)\s*$`)
	// apacheCloses is not "Closes #n", which names an issue: merge scripts of some projects add where the commits came from.
	apacheCloses = regexp.MustCompile(`(?m)^Closes #(\d+) from \S+`)
	// rietveld is the last line of a commit that the code review before Gerrit submitted.
	rietveld     = regexp.MustCompile(`(?m)^https?://(?:golang\.org/cl|codereview\.appspot\.com)/(\d+)/?\s*\z`)
	trailer      = regexp.MustCompile(`(?mi)^(?:PR-URL|Pull-Request(?:-URL)?|Part-of|Reviewed-on|Differential Revision|Merge-Request|GitHub-PR|PR): *(.*)$`)
	trailerValue = regexp.MustCompile(`^<?(?:\S*/(?:pull|pulls|pull-requests|merge_requests)/(\d+)|` + // forges
		`https?://\S*?/(?:\+/)?(\d+)(?:/\d+)?/?|` + // Gerrit: …/c/project/+/12345, …/12345
		`(?:https?://\S*/)?D(\d+)|` + // Phabricator
		`(?:[\w./-]+)?[#!](\d+))(?:[/#?]\S*)?>?\s*$`)
	bodyOfBors  = regexp.MustCompile(`^\d+: (.+?)(?: r=\S+)?(?: a=\S+)?$`)
	gitlabTail  = regexp.MustCompile(`(?m)^(?:See merge request \S+|Merge branch .*)\s*$`)
	mergedByBot = regexp.MustCompile(`^(?:Approved-by|Reviewed-by|Merge in |\* )`)
)

// identify reads the message of a commit on the default branch.
func identify(rec record) identity {
	subject, body := rec.subject()
	id := identity{title: subject, body: body}
	for _, form := range mergeSubjects {
		if m := form.FindStringSubmatch(subject); m != nil {
			id.number, id.by = atoi(m[1]), byMerge
			id.takeTitle(m[2:])
			return id
		}
	}
	if mergeBranch.MatchString(subject) {
		id.takeTitle(nil)
		if m := gitlabSee.FindStringSubmatch(body); m != nil {
			id.number, id.by = atoi(m[1]), byMerge
			return id
		}
	}
	if m := squashNumber.FindStringSubmatch(subject); m != nil {
		id.number, id.by = atoi(m[1]), bySquash
		id.title = strings.TrimSuffix(id.title, m[0])
		return id
	}
	if id.number = trailerNumber(body); id.number > 0 {
		id.by = byTrailer
	}
	return id
}

// takeTitle puts the request's own title in place of the line that a merge writes.
func (id *identity) takeTitle(groups []string) {
	if len(groups) > 0 && groups[0] != "" {
		id.title = groups[0]
		return
	}
	first, rest, _ := strings.Cut(id.body, "\n")
	first = strings.TrimSpace(first)
	if first == "" || mergedByBot.MatchString(first) || gitlabTail.MatchString(first) || noTitle.MatchString(first) {
		return
	}
	if m := bodyOfBors.FindStringSubmatch(first); m != nil {
		first = m[1]
	}
	id.title, id.body = first, strings.Trim(rest, "\n")
}

// noTitle is what else may begin the body of a merge.
var noTitle = regexp.MustCompile(`^(?:(?:Closes|Fixes|Resolves):? \S*[#!]\d+|#? ?Conflicts:)`)

// trailerNumber is the last request that a line of the body names; 0 when none does.
func trailerNumber(body string) int {
	number := 0
	for _, m := range gitlabSee.FindAllStringSubmatch(body, -1) {
		number = atoi(m[1])
	}
	for _, m := range apacheCloses.FindAllStringSubmatch(body, -1) {
		number = atoi(m[1])
	}
	if m := rietveld.FindStringSubmatch(body); m != nil {
		number = atoi(m[1])
	}
	for _, line := range trailer.FindAllStringSubmatch(body, -1) {
		m := trailerValue.FindStringSubmatch(strings.TrimSpace(line[1]))
		for i := 1; i < len(m); i++ {
			if m[i] != "" {
				number = atoi(m[i])
			}
		}
	}
	return number
}

// atoi reads digits; a number too large for a request is none.
func atoi(digits string) int {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}
