package gharchive

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Absence says why there is no file of an hour.
type Absence string

// Reasons for an absent file.
const (
	Gap         Absence = "gap"          // the archive is known to lack it
	Missing     Absence = "missing"      // it should be there
	NotExpected Absence = "not_expected" // the clock skipped that hour
	NotYet      Absence = "not_yet"      // it is still being written
)

// skipped are the hours that daylight saving time left out (igrigorik/gharchive.org#33, #52, #141). That of 2011 is not among them:
// whether its files followed the same clock is not known.
var skipped = map[string]bool{"2012-03-11-2": true, "2013-03-10-2": true, "2014-03-09-2": true}

// knownGaps are hours that answer 404 for good: igrigorik/gharchive.org#52, #136, #141, #225. The report of October 2021 goes on
// after the 25th, but nobody has listed it.
const knownGaps = `
2011-10-27-7 2012-03-01-8 2012-03-05-4..7 2012-03-10-9..21
2013-03-05-20 2013-05-31-22 2013-08-15-7 2013-09-06-0 2013-09-11-23 2013-09-28-9 2013-10-24-14 2013-11-25-15
2014-01-24-10 2014-04-29-11 2014-04-29-12 2014-04-29-21
2016-01-28-1 2016-10-21-18
2018-10-21-23 2018-10-22-0 2018-10-22-1
2019-05-08-12 2019-05-08-13 2019-09-12-8..23 2019-09-13-0..5
2020-03-05-22 2020-06-10-12..21 2020-08-21-9..23 2020-08-22-0..23 2020-08-23-0..15
2021-08-25-17..23 2021-08-26-0..23 2021-08-27-0..22
2021-10-22-5..22 2021-10-23-2..22 2021-10-24-3..22 2021-10-25-1..22
`

var gaps = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, field := range strings.Fields(knownGaps) {
		first, last, many := strings.Cut(field, "..")
		day, from, to := first[:10], first[11:], first[11:]
		if many {
			to = last
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a > b {
			panic("gharchive: bad line in the table of gaps: " + field)
		}
		for h := a; h <= b; h++ {
			out[fmt.Sprintf("%s-%d", day, h)] = true
		}
	}
	return out
})

// Expected tells whether there can be a file of the hour at all.
func (h Hour) Expected() bool { return !skipped[h.String()] }

// uploads is when the file of an hour that is over has certainly been uploaded: it is at five past.
const uploads = 10 * time.Minute

// Ended tells whether the hour's file can be there by now.
func (h Hour) Ended(now time.Time) bool { return !now.Before(h.Start().Add(time.Hour)) }

// WhyAbsent says what it means that there is no file.
func (h Hour) WhyAbsent(now time.Time) Absence {
	switch {
	case !h.Expected():
		return NotExpected
	case gaps()[h.String()]:
		return Gap
	case now.Before(h.Start().Add(time.Hour + uploads)):
		return NotYet
	}
	return Missing
}
