package mining

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sluice/miners/gharchive"
	"sluice/store"
)

// GHArchiveHome is the template of the archive's own addresses.
const GHArchiveHome = gharchive.Home

// Coverage is what everybody must know who counts what the archive holds.
const Coverage = "the archive is a sample: an event that is missing never proves that it did not happen"

// Errors of a run over hour files.
var (
	ErrHourSource  = errors.New("no hour file, folder or template of an address")
	ErrHourWindow  = errors.New("no window of time")
	ErrUnreachable = errors.New("the archive cannot be reached")
)

// GHArchiveOptions say which hours to read.
type GHArchiveOptions struct {
	Store        *store.Store
	Dir          string    // for downloads on their way, and what the next run needs
	Sources      []string  // hour files, folders of them, templates of addresses; of several that have an hour the first counts
	Since, Until time.Time // only events from Since on and before Until; zero is open
	// Folder finds the folder of a repository's history by its full name, "" for none: git resolves what events leave unknown. Folders
	// says where it looks; hours that were read with another value are read again. Nil and "" resolve nothing.
	Folder  func(repo string) string
	Folders string
	Mirrors string // where the histories are mirrored
	Keep    string // folder in which downloaded files stay; "" removes each after it was read
	Recheck bool   // ask the server whether files that were read have changed
	Workers int    // files that are read at once; default 2
	Client  *http.Client
	Clock   func() time.Time
	Report  func(HourReport) // is called for every hour, in order

	fetcher func(*gharchive.Fetcher) // tests shorten the waiting
}

// HourReport is what became of one hour.
type HourReport struct {
	Hour   string         `json:"hour"`
	State  string         `json:"state"` // as in the ledger, or not_yet
	Read   bool           `json:"read"`  // in this run
	Reason string         `json:"reason,omitempty"`
	Events int            `json:"events"`
	Leads  map[string]int `json:"leads,omitempty"` // found in the file, by kind and method
	Added  int            `json:"added"`           // leads that are new
	counts hourCounts
}

// GHArchiveReport sums up the hours that were asked for, whether they were read now or before.
type GHArchiveReport struct {
	Hours    map[string]int   `json:"hours"` // by state
	Read     int              `json:"read"`  // files read in this run
	Events   int              `json:"events"`
	Types    map[string]int   `json:"types"`
	Leads    map[string]int   `json:"leads"` // by kind and method, as found in the files; the same one may be in several
	Added    int              `json:"added"` // leads that are new
	Counts   gharchive.Counts `json:"counts"`
	Bytes    int64            `json:"bytes"`              // uncompressed
	Packed   int64            `json:"packed_bytes"`       // of the files
	Fetched  int64            `json:"downloaded_bytes"`   // in this run
	Unusable []string         `json:"unusable,omitempty"` // histories that could not be opened, and why; the first ten
	Ignored  []string         `json:"ignored,omitempty"`  // files of folders that are no hour files; the first ten
	Coverage string           `json:"coverage"`
}

// hourCounts is what the ledger keeps of an hour besides its state.
type hourCounts struct {
	Events  int              `json:"events"`
	Outside int              `json:"outside,omitempty"` // of the window
	Types   map[string]int   `json:"types,omitempty"`
	Counts  gharchive.Counts `json:"counts,omitempty"`
	Leads   map[string]int   `json:"leads,omitempty"`
	Lines   int              `json:"lines,omitempty"`
	Bytes   int64            `json:"bytes,omitempty"`
	Reason  string           `json:"reason,omitempty"`
	ETag    string           `json:"etag,omitempty"`
	Since   time.Time        `json:"since,omitzero"` // the window that was taken from the file
	Until   time.Time        `json:"until,omitzero"`
	Folders string           `json:"folders,omitempty"` // as in the options
	// Unresolved are the repositories with the most pushes of which commits stay unknown.
	Unresolved []gharchive.Named `json:"unresolved,omitempty"`
}

func (c hourCounts) window() gharchive.Window {
	return gharchive.Window{Since: c.Since, Until: c.Until}
}

// MineGHArchive reads hour files and keeps what they say as leads. An hour is recorded together with its leads, so that a run that
// was interrupted goes on where it was; what is damaged or absent is recorded as such. The error is for what stops the run.
func MineGHArchive(ctx context.Context, o GHArchiveOptions) (GHArchiveReport, error) {
	rep := GHArchiveReport{
		Hours: map[string]int{}, Types: map[string]int{}, Leads: map[string]int{}, Counts: gharchive.Counts{}, Coverage: Coverage,
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	p, err := o.plan()
	if err != nil {
		return rep, fmt.Errorf("mining hour files: %w", err)
	}
	rep.Ignored = p.ignored
	r := &hourRun{o: o, plan: p, rep: &rep, window: gharchive.Window{Since: o.Since, Until: o.Until}}
	if o.Folder != nil {
		r.history = newHistories(o.Folder, o.Mirrors)
		defer r.history.close()
	}
	err = r.run(ctx)
	if r.history != nil {
		rep.Unusable = r.history.unusable
	}
	if err != nil {
		return rep, fmt.Errorf("mining hour files: %w", err)
	}
	return rep, nil
}

// add takes an hour into the sums.
func (rep *GHArchiveReport) add(h HourReport, size int64) {
	rep.Hours[h.State]++
	rep.Events += h.Events
	rep.Added += h.Added
	if h.Read {
		rep.Read++
	}
	c := h.counts
	rep.Counts.Add(c.Counts)
	for name, n := range c.Leads {
		rep.Leads[name] += n
	}
	for name, n := range c.Types {
		rep.Types[name] += n
	}
	rep.Bytes += c.Bytes
	rep.Packed += size
}
