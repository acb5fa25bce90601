package gharchive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// Options say what to read of a file.
type Options struct {
	Hour   Hour
	Window Window // events outside of it are counted and not searched; zero takes all
	// Sink takes over evidence (lines of JSON, each one event as the archive has it) with the finds that come from it. It is called
	// with at most a few dozen megabytes, in the order of the file; what it is given is its own.
	Sink func(evidence []byte, finds []Find) error
	// History resolves what events leave unknown; nil leaves it so.
	History History
	// searchAll decodes every event, for the test that shows that the screen loses nothing.
	searchAll bool
}

// Result is what a file held. Events and Types count those inside the window, each once.
type Result struct {
	Events  int
	Outside int // events that are not inside the window
	Types   map[string]int
	Counts  Counts
	IDs     []uint64 // of the events inside the window, sorted; see Shared
	// Unresolved are the repositories with the most pushes of which commits stay unknown, counted by a Tally.
	Unresolved []Named
	Lines      int
	Bytes      int64 // uncompressed
}

// Bounds of evidence and events, in bytes.
const (
	evidenceChunk = 4 << 20
	maxUnresolved = 8192    // repositories that are counted
	topUnresolved = 20      // of them that are named
	maxEvent      = 4 << 20 // a larger one is counted and not searched: texts on GitHub end at 64 KiB
)

// knownTypes are those that the archive is known to hold; another one is counted as such and is no error.
var knownTypes = func() map[string]bool {
	out := map[string]bool{}
	for _, t := range []string{
		"CommitCommentEvent", "CreateEvent", "DeleteEvent", "DiscussionEvent", "DiscussionCommentEvent", "DownloadEvent", "FollowEvent",
		"ForkApplyEvent", "ForkEvent", "GistEvent", "GollumEvent", "IssueCommentEvent", "IssuesEvent", "MemberEvent", "PublicEvent",
		"PullRequestEvent", "PullRequestReviewCommentEvent", "PullRequestReviewEvent", "PushEvent", "ReleaseEvent", "SponsorshipEvent",
		"TeamAddEvent", "WatchEvent",
	} {
		out[t] = true
	}
	return out
}()

// Scan reads the events of one file, unpacked, and hands over what it finds. It holds a megabyte of the stream at a time, or the one
// long line that is being read. After an error of the source (SourceError) the result holds what came before it.
func Scan(ctx context.Context, src io.Reader, o Options) (Result, error) {
	in := &counter{ctx: ctx, src: src}
	x := &extractor{
		o: o, ctx: ctx, span: o.Hour.Span(), counts: Counts{}, types: map[string]int{}, ids: idSet{seen: map[uint64]struct{}{}}, unresolved: Tally{Limit: maxUnresolved},
	}
	r := &reader{src: in, counts: x.counts, limit: maxLine, event: x.event}
	err := r.run()
	if err == nil || isSource(err) {
		if ferr := x.flush(); ferr != nil {
			err = ferr
		}
	}
	x.counts.add("ids_forgotten", x.ids.full)
	if x.first > 0 && x.held == 0 {
		x.counts.add("wrong_clock", 1)
	}
	return Result{
		Events: x.events, Outside: x.outside, Types: x.types, Counts: x.counts, IDs: x.ids.sorted(), Lines: r.lines, Bytes: in.n,
		Unresolved: x.unresolved.Top(topUnresolved),
	}, err
}

func isSource(err error) bool {
	var e *SourceError
	return errors.As(err, &e) // the reader joins it with what else went wrong
}

// counter counts bytes and stops when the run is interrupted.
type counter struct {
	ctx context.Context
	src io.Reader
	n   int64
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.src.Read(p)
	c.n += int64(n)
	return n, err
}

// extractor is the state of one file's search.
type extractor struct {
	o       Options
	ctx     context.Context //nolint:containedctx // of one Scan, for what git is asked
	span    Window          // of the hour
	counts  Counts
	types   map[string]int
	ids     idSet
	events  int
	outside int
	first   int       // events with a time
	held    int       // of them, those that belong into this hour
	last    time.Time // of the event before

	unresolved Tally
	ranges     map[string]string // that git was asked for, with why it could not tell; see maxRanges
	fromGit    bool              // the commits at hand are git's

	evidence []byte
	lines    int
	finds    []Find
	// of the event at hand
	doc   []byte
	repo  Repo
	id    uint64
	noted bool // it is evidence already
}

// event takes one event: it is screened by its bytes, and decoded only if it may hold something.
func (x *extractor) event(b []byte, s *scanner) error {
	at, timed := x.when(s.created.of(b))
	if timed && !x.o.Window.Contains(at) {
		x.outside++
		return nil
	}
	id := key(s.id.of(b), b)
	if !x.ids.add(id) {
		x.counts.add("duplicates", 1)
		return nil
	}
	x.events++
	kind := bytes.TrimSpace(s.kind.of(b))
	x.count(kind)
	switch {
	case len(b) > maxEvent:
		if searched(kind) {
			x.counts.add(cUnsearched, 1)
		}
		return nil
	case x.o.searchAll || s.wanted(kind, b):
		x.doc, x.id, x.noted = b, id, false
		x.search(decode(b))
	case !incomplete(kind, b, s):
	case isShortPush(kind, b, s) && !x.atHand(s.repo.of(b)):
		x.unknownCommits(true)
		x.unresolved.add(member(s.repo.of(b), `"name":"`), 1)
	default:
		x.doc, x.id, x.noted = b, id, false
		x.search(decode(b))
	}
	if len(x.evidence) < evidenceChunk {
		return nil
	}
	return x.flush()
}

// count counts an event's type.
func (x *extractor) count(kind []byte) {
	if len(kind) < 2 || kind[0] != '"' {
		x.counts.add("untyped", 1)
		return
	}
	name := kind[1 : len(kind)-1]
	if !knownTypes[string(name)] {
		x.counts.add("unknown_types", 1)
		if len(x.types) > 1000 || len(name) > 100 {
			return // hostile
		}
	}
	x.types[string(name)]++
}

// incomplete tells whether the event lacks what its kind has or had: that is counted, for which it must be decoded. Bytes that are
// laid out in another way look incomplete too, which costs time only.
func incomplete(kind, b []byte, s *scanner) bool {
	if !named(s.repo.of(b)) && !namedOf2012(s.old.of(b)) {
		return true
	}
	switch string(kind) {
	case `"PushEvent"`:
		return !completePush(b)
	case `"PullRequestEvent"`:
		tail := b[max(0, len(b)-1024):] // where it is in the long form
		return !bytes.Contains(b, []byte(`"body":`)) || !bytes.Contains(tail, []byte(`"merged":`)) && !bytes.Contains(b, []byte(`"merged_at":`))
	}
	return false
}

// completePush tells whether a push lists as many commits as it says it has.
func completePush(b []byte) bool {
	size := sizeOf(b)
	if at := bytes.Index(b, []byte(`"commits":[{`)); at >= 0 {
		return size == 1 || size == bytes.Count(b[at:], []byte(`"sha":"`))
	}
	at := bytes.Index(b, []byte(`"shas":[`))
	if at < 0 {
		return false
	}
	n := 0
	raw(b[at+len(`"shas":`):]).each(func([]byte, raw) bool { n++; return true })
	return size == n
}

// isShortPush knows the pushes since October 2025, which say where they begin and end and nothing else.
func isShortPush(kind, b []byte, s *scanner) bool {
	return string(kind) == `"PushEvent"` && !s.odd && named(s.repo.of(b)) && bytes.Contains(b, []byte(`"push_id":`)) && !bytes.Contains(b, []byte(`"commits":`)) &&
		!bytes.Contains(b, []byte(`"shas":`)) && value(b, `"head":"`) && value(b, `"before":"`)
}

// value tells whether a member is there and is no empty string.
func value(b []byte, member string) bool {
	at := bytes.Index(b, []byte(member)) + len(member)
	return at >= len(member) && at < len(b) && b[at] != '"'
}

// namedOf2012 tells whether the description of a repository of 2012 to 2014 has an owner and a name.
func namedOf2012(repository []byte) bool {
	owner, name := member(repository, `"owner":"`), member(repository, `"name":"`)
	return len(owner) > 0 && len(owner) <= 100 && len(name) > 0 && len(name) <= 100 && isShortName(owner) && isShortName(name)
}

// member gives the string behind a name, as it is written.
func member(b []byte, name string) []byte {
	at := bytes.Index(b, []byte(name))
	if at < 0 {
		return nil
	}
	b = b[at+len(name):]
	return b[:max(0, bytes.IndexByte(b, '"'))]
}

func isShortName(b []byte) bool {
	for _, c := range b {
		if !wordByte[c] && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// named tells whether the usual description of a repository has a full name.
func named(repo []byte) bool {
	name := member(repo, `"name":"`)
	return len(name) <= 100 && isFullName(name)
}

// isFullName is fullName for short names, in a hurry.
func isFullName(b []byte) bool {
	slash := bytes.IndexByte(b, '/')
	for i, c := range b {
		if !wordByte[c] && c != '.' && c != '-' && i != slash {
			return false
		}
	}
	return slash > 0 && slash+1 < len(b)
}

// sizeOf reads how many commits a push says that it has, -1 when it does not.
func sizeOf(b []byte) int {
	const member = `"size":`
	at := bytes.Index(b, []byte(member))
	if at < 0 {
		return -1
	}
	at += len(member)
	return int(raw(b[at:digits(b, at)]).number())
}

// search looks for everything in one event.
func (x *extractor) search(e Event) {
	if e.Repo.Name == "" {
		x.counts.add(cNameless, 1)
		return
	}
	x.repo = e.Repo
	switch {
	case e.Push != nil:
		x.pairs(e)
	case e.PR != nil:
		x.pullRequest(e)
	case e.Issue != nil:
		x.issue(e)
	}
}

// add notes a find and, with the first of an event, its evidence.
func (x *extractor) add(f Find) {
	if !x.noted {
		x.noted = true
		x.lines++
		x.evidence = append(append(x.evidence, x.doc...), '\n')
	}
	f.Repo, f.Event, f.Line = x.repo, x.id, x.lines
	x.finds = append(x.finds, f)
}

// flush hands over what there is.
func (x *extractor) flush() error {
	if len(x.finds) == 0 {
		return nil
	}
	err := x.o.Sink(x.evidence, x.finds)
	x.evidence, x.finds, x.lines = nil, nil, 0
	return err
}

// when reads an event's time and watches the clock.
func (x *extractor) when(value []byte) (time.Time, bool) {
	at, ok := fastTime(bytes.TrimSpace(value))
	if !ok {
		x.counts.add("no_time", 1)
		return at, false
	}
	x.first++
	if x.span.Contains(at) {
		x.held++
	} else {
		x.counts.add("other_hour", 1)
	}
	if at.Before(x.last) {
		x.counts.add("clock_back", 1)
	}
	x.last = at
	return at, true
}

// fastTime reads the form that nearly all events have, 2015-01-01T15:00:00Z in quotes, without looking for others first.
func fastTime(b []byte) (time.Time, bool) {
	const form = `"0000-00-00T00:00:00Z"`
	if len(b) != len(form) {
		return ParseTime(raw(b).text())
	}
	var n [6]int
	k := 0
	for i := range len(form) {
		switch c := b[i]; {
		case form[i] != '0' && c != form[i] || form[i] == '0' && (c < '0' || c > '9'):
			return ParseTime(raw(b).text())
		case form[i] == '0':
			n[k] = n[k]*10 + int(c-'0')
		case i > 1 && i < len(form)-2:
			k++
		}
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 28 || n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return ParseTime(raw(b).text())
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC), true
}
