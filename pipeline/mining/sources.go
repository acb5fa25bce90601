package mining

import "sluice/miners/links"

// Sources of leads: what was read.
const (
	GHArchiveSource = "gharchive"
	GitHubSource    = "github"
	HistorySource   = "history"   // messages of a repository's commits
	ChangelogSource = "changelog" // its change logs
	AdvisorySource  = "advisory"
	ListSource      = "list"     // pairs that somebody had
	InstanceSource  = "swebench" // rows of the SWE-bench family; their method is the format
)

// Methods of leads: how it is known. Packages gharchive and github have more for issues and their changes.
const (
	TrailerMethod   = links.Trailer
	TestimonyMethod = links.Testimony
	KeywordMethod   = "keyword"   // closing words
	TicketMethod    = "ticket"    // a ticket, a Change-Id or a revision names the change
	ChangelogMethod = "changelog" // an entry of a change log
	AdvisoryMethod  = "advisory"
	ListMethod      = "list"
)

// trusted are the methods of pairs, those first by which somebody looked closely.
var trusted = []string{ListMethod, AdvisoryMethod, TrailerMethod, TestimonyMethod, TicketMethod, ChangelogMethod}
