package gharchive

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the names of old hours are Pacific time, also on a machine that has no table of zones
)

// Hour is the name of an hour file. Before 2015 it is the time of day in California, later the time in UTC.
type Hour struct {
	Year      int
	Month     time.Month
	Day, Hour int
}

// Where the archive changed how it files events.
var (
	utcSince     = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	crawlerSince = time.Date(2025, 5, 24, 0, 0, 0, 0, time.UTC) // igrigorik/gharchive.org@f1f4200
	pacific      = mustLoad("America/Los_Angeles")
)

func mustLoad(zone string) *time.Location {
	l, err := time.LoadLocation(zone)
	if err != nil {
		panic(err) // the table is part of the program
	}
	return l
}

// hourOf reads the name of an hour off a clock, whatever its zone.
func hourOf(t time.Time) Hour {
	return Hour{t.Year(), t.Month(), t.Day(), t.Hour()}
}

// String is the name that the archive uses. The hour has no leading zero (igrigorik/gharchive.org#105).
func (h Hour) String() string {
	return fmt.Sprintf("%04d-%02d-%02d-%d", h.Year, h.Month, h.Day, h.Hour)
}

// face is the hour as if its name were UTC; for counting and sorting only.
func (h Hour) face() time.Time {
	return time.Date(h.Year, h.Month, h.Day, h.Hour, 0, 0, 0, time.UTC)
}

// Compare orders hours by name and time.
func (h Hour) Compare(o Hour) int {
	return cmp.Or(h.face().Compare(o.face()), 0)
}

// Start is the instant at which the hour began on the archive's clock.
func (h Hour) Start() time.Time {
	if f := h.face(); !f.Before(utcSince) {
		return f
	}
	return time.Date(h.Year, h.Month, h.Day, h.Hour, 0, 0, 0, pacific).UTC()
}

// Slot is the hour's place in a week, 0 to 167: activity follows the week.
func (h Hour) Slot() int { return int(h.face().Weekday())*24 + h.Hour }

var hourName = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})-(\d{1,2})$`)

// ParseHour reads a name. A leading zero of the hour is taken too: people rename files.
func ParseHour(name string) (Hour, error) {
	m := hourName.FindStringSubmatch(name)
	if m == nil {
		return Hour{}, fmt.Errorf("%q is no hour: it is written like 2015-01-01-8", name)
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // digits only
	}
	h := Hour{n[0], time.Month(n[1]), n[2], n[3]}
	if hourOf(h.face()) != h {
		return Hour{}, fmt.Errorf("%q is no hour: there is no such time", name)
	}
	return h, nil
}

// HourOfFile reads the hour off a file's name: 2015-01-01-8.json.gz, or .json for one that was unpacked.
func HourOfFile(base string) (Hour, error) {
	name, ok := strings.CutSuffix(strings.TrimSuffix(base, ".gz"), ".json")
	if !ok {
		return Hour{}, fmt.Errorf("%q is no hour file: its name is like 2015-01-01-8.json.gz", base)
	}
	return ParseHour(name)
}

// Window is a span of time: from Since on, before Until. Zero times are open.
type Window struct{ Since, Until time.Time }

// Contains tells whether an instant lies in the window.
func (w Window) Contains(t time.Time) bool {
	return !t.Before(w.Since) && (w.Until.IsZero() || t.Before(w.Until))
}

// Covers tells whether every instant of o lies in w.
func (w Window) Covers(o Window) bool {
	return !o.Since.Before(w.Since) && (w.Until.IsZero() || !o.Until.IsZero() && !o.Until.After(w.Until))
}

// Union is the smallest window that covers both.
func (w Window) Union(o Window) Window {
	if o.Since.Before(w.Since) {
		w.Since = o.Since
	}
	if o.Until.IsZero() || !w.Until.IsZero() && o.Until.After(w.Until) {
		w.Until = o.Until
	}
	return w
}

// Hours lists the files in which events of a window may be, in order. Events of old hours are filed by a Pacific clock that ran a
// little late (igrigorik/gharchive.org#8), those since May 2025 by the crawler's: there the neighbours belong to it. The window must
// be closed on both ends.
func (w Window) Hours() []Hour {
	var out []Hour
	if w.Since.Before(utcSince) {
		last := earlier(w.Until, utcSince)
		out = append(out, faces(w.Since.Add(-time.Hour).In(pacific), last.Add(time.Hour-1).In(pacific))...)
		// The names of the last days must not reach into the time when they mean UTC.
		out = slices.DeleteFunc(out, func(h Hour) bool { return !h.face().Before(utcSince) })
	}
	if since, until := later(w.Since, utcSince), earlier(w.Until, crawlerSince); since.Before(until) {
		out = append(out, faces(since.UTC(), until.Add(-1).UTC())...)
	}
	if since := later(w.Since, crawlerSince); since.Before(w.Until) {
		out = append(out, faces(since.Add(-time.Hour).UTC(), w.Until.Add(2*time.Hour-1).UTC())...)
	}
	slices.SortFunc(out, Hour.Compare)
	return slices.Compact(out)
}

// faces lists the names from one clock reading to another. Those that the clock skipped in spring are among them.
func faces(from, to time.Time) []Hour {
	var out []Hour
	for t, end := hourOf(from).face(), hourOf(to).face(); !t.After(end); t = t.Add(time.Hour) {
		out = append(out, hourOf(t))
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Span is when the events of this file should have happened by the rule of its day, give or take the minutes by which the API and the
// crawler are late.
func (h Hour) Span() Window {
	const late = 10 * time.Minute
	start := h.Start()
	end := start.Add(time.Hour)
	if h.face().Before(utcSince) {
		end = end.Add(time.Hour) // the hour that autumn repeats has one name
	}
	return Window{start.Add(-late), end.Add(late)}
}

// Before is the hour in front of this one, by the names.
func (h Hour) Before() Hour { return hourOf(h.face().Add(-time.Hour)) }

// Touches tells whether the file of an hour may hold events of the window. It says yes rather than no.
func (w Window) Touches(h Hour) bool {
	const reach = 3 * time.Hour
	return !h.Start().Add(reach).Before(w.Since) && (w.Until.IsZero() || h.Start().Add(-reach).Before(w.Until))
}
