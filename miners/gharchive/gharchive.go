// Package gharchive reads the hour files of GH Archive, a sample of what happened in public on GitHub since February 2011:
// which files a span of time lies in, how they are fetched, what is broken in them, and which events speak of a defect's origin.
//
// Finds are claims with the event that they come from. Nothing is looked up: an id may be of no commit, a number of no issue,
// and what an event does not say stays unknown. The archive is a sample (igrigorik/gharchive.org#310, #245, #294): an event that
// is missing never proves that something did not happen. The package stores nothing and never shows an address of a person.
package gharchive

// Version of what is read and found. A new one makes finished hours be read again.
const Version = 4

// Kinds of finds.
const (
	PairKind    = "pair"
	IssuePRKind = "issue-pr"
	ReportKind  = "report"
)

// Ways in which a find is known, besides those of package links.
const (
	Keyword   = "keyword"   // a closing keyword in a change's text; in a pair, a word of repair before the id
	Reference = "reference" // a text on an issue's page names the change that deals with it
)

// Find is one claim that an event makes. One of Pair, Issue and Report is set, as Kind says.
type Find struct {
	Kind   string
	Method string
	Repo   Repo
	Event  uint64 // see key; the same in every copy of the event
	Line   int    // of the evidence that is handed over with it, from 1

	Pair   *Pair
	Issue  *IssuePR
	Report *Report
}

// Counts are what was met, by name: see docs/mining.md for the names.
type Counts map[string]int

func (c Counts) add(name string, n int) {
	if n != 0 {
		c[name] += n
	}
}

// Add adds the counts of another.
func (c Counts) Add(other Counts) {
	for name, n := range other {
		c.add(name, n)
	}
}
