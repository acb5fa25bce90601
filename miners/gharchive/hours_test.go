package gharchive

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHourNames(t *testing.T) {
	t.Parallel()
	for h := range 24 {
		name := Hour{2015, 1, 1, h}.String()
		if want := fmt.Sprintf("2015-01-01-%d", h); name != want {
			t.Errorf("got %s, want %s", name, want)
		}
		got, err := HourOfFile(name + ".json.gz")
		if err != nil || got != (Hour{2015, 1, 1, h}) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	for name, ok := range map[string]bool{
		"2015-01-01-08.json.gz": true, "2015-01-01-8.json": true, "2015-01-01-24.json.gz": false, "2015-02-30-1.json.gz": false, "2015-13-01-1.json.gz": false,
		"2015-1-1-1.json.gz": false, "2015-01-01-8.gz": false, "x.json.gz": false, "": false, "2015-01-01-008.json.gz": false,
	} {
		if _, err := HourOfFile(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func utc(s string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestWindowHours(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, since, until, want string }{
		{"UTC", "2016-03-01 05:00", "2016-03-01 07:00", "2016-03-01-5 2016-03-01-6"},
		{"inside of an hour", "2016-03-01 05:10", "2016-03-01 05:20", "2016-03-01-5"},
		{"crawler", "2025-06-01 05:00", "2025-06-01 06:00", "2025-06-01-4 2025-06-01-5 2025-06-01-6 2025-06-01-7"},
		{"the crawler's first day", "2025-05-23 23:00", "2025-05-24 01:00", "2025-05-23-23 2025-05-24-0 2025-05-24-1 2025-05-24-2"},
		{"Pacific", "2012-03-21 02:59", "2012-03-21 03:01", "2012-03-20-18 2012-03-20-19 2012-03-20-20 2012-03-20-21"},
		{"spring", "2013-03-10 09:30", "2013-03-10 10:00", "2013-03-10-0 2013-03-10-1 2013-03-10-2 2013-03-10-3"},
		{"autumn", "2012-11-04 08:30", "2012-11-04 09:30", "2012-11-04-0 2012-11-04-1 2012-11-04-2"},
		{"new clock", "2014-12-31 23:00", "2015-01-01 01:00", "2014-12-31-14 2014-12-31-15 2014-12-31-16 2015-01-01-0"},
		{"empty", "2016-03-01 05:00", "2016-03-01 05:00", ""},
	} {
		var got []string
		for _, h := range (Window{utc(tt.since), utc(tt.until)}).Hours() {
			got = append(got, h.String())
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestWindowHoursHoldTheirEvents: the file of an event's moment, by the rule of its day, is among the files of every window that holds
// it.
func TestWindowHoursHoldTheirEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(utc("2011-02-12 00:00").Unix(), utc("2026-01-01 00:00").Unix()).Draw(t, "at"), 0).UTC()
		w := Window{at.Add(-time.Duration(rapid.IntRange(0, 9000).Draw(t, "before")) * time.Second), at.Add(time.Duration(rapid.IntRange(1, 9000).Draw(t, "after")) * time.Second)}
		zone := time.UTC
		if at.Before(utcSince) {
			zone = pacific
		}
		home := hourOf(at.In(zone))
		if home.face().Before(utcSince) != at.Before(utcSince) {
			return // the evening of 2014 in California
		}
		var names []string
		for _, h := range w.Hours() {
			names = append(names, h.String())
		}
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+home.String()+" ") {
			t.Fatalf("%s of %s is not among %v", home, at, names)
		}
		if !home.Span().Contains(at) {
			t.Fatalf("%s does not hold %s", home, at)
		}
	})
}

func TestWindows(t *testing.T) {
	t.Parallel()
	a, b, c := utc("2016-01-01 00:00"), utc("2016-01-02 00:00"), utc("2016-01-03 00:00")
	all := Window{}
	for _, tt := range []struct {
		w, o   Window
		covers bool
		union  Window
	}{
		{all, Window{a, b}, true, all},
		{Window{a, b}, all, false, all},
		{Window{a, c}, Window{a, b}, true, Window{a, c}},
		{Window{a, b}, Window{b, c}, false, Window{a, c}},
		{Window{Since: a}, Window{b, c}, true, Window{Since: a}},
		{Window{Until: c}, Window{a, b}, true, Window{Until: c}},
	} {
		if tt.w.Covers(tt.o) != tt.covers || tt.w.Union(tt.o) != tt.union {
			t.Errorf("%v and %v: covers %v, union %v", tt.w, tt.o, tt.w.Covers(tt.o), tt.w.Union(tt.o))
		}
	}
	if w := (Window{a, b}); !w.Contains(a) || w.Contains(b) || w.Contains(a.Add(-1)) || !all.Contains(c) {
		t.Error("a window holds its beginning and not its end")
	}
}

func TestWhyAbsent(t *testing.T) {
	t.Parallel()
	long := utc("2026-01-01 00:00")
	for _, tt := range []struct {
		hour string
		now  time.Time
		want Absence
	}{
		{"2013-03-10-2", long, NotExpected}, {"2012-03-11-2", long, NotExpected}, {"2014-03-09-2", long, NotExpected}, {"2013-03-10-3", long, Missing},
		{"2012-03-10-9", long, Gap}, {"2012-03-10-21", long, Gap}, {"2012-03-10-22", long, Missing}, {"2020-08-22-0", long, Gap}, {"2016-01-28-1", long, Gap},
		{"2021-10-25-22", long, Gap}, {"2021-10-26-1", long, Missing}, {"2013-05-31-22", long, Gap}, {"2018-10-22-1", long, Gap},
		{"2026-01-01-5", utc("2026-01-01 05:30"), NotYet}, {"2026-01-01-4", utc("2026-01-01 05:09"), NotYet}, {"2026-01-01-4", utc("2026-01-01 05:10"), Missing},
		{"2026-01-01-9", utc("2026-01-01 05:10"), NotYet},
	} {
		h, err := ParseHour(tt.hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.WhyAbsent(tt.now); got != tt.want {
			t.Errorf("%s at %s: got %s, want %s", tt.hour, tt.now.Format(time.DateTime), got, tt.want)
		}
	}
	if n := len(gaps()); n != 261 {
		t.Errorf("the table names %d hours", n)
	}
}
