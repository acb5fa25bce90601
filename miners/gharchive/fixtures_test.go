package gharchive

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// read takes bytes apart and gives the ids of the events, or their types.
func read(t *testing.T, in string, limit int) ([]string, Counts) {
	t.Helper()
	var got []string
	r := &reader{src: strings.NewReader(in), counts: Counts{}, limit: limit}
	r.event = func(b []byte, s *scanner) error {
		got = append(got, raw(bytes.TrimSpace(s.id.of(b))).digits())
		return nil
	}
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	return got, r.counts
}

// TestReaderFixtures: the forms of damage that users have met in the archive, each with the event that must survive.
func TestReaderFixtures(t *testing.T) {
	t.Parallel()
	nul := strings.Repeat("\x00", 20)
	for _, tt := range []struct {
		name, in string
		want     []string
		counts   Counts
	}{
		{"two on a line", `{"id":"1"}{"id":"2"}` + "\n", []string{"1", "2"}, Counts{cJoined: 1}},
		{"no final newline", `{"id":"1"}` + "\n" + `{"id":"2"}`, []string{"1", "2"}, Counts{}},
		{"NUL bytes", `{"id":"1"}` + nul + `{"id":"2"}` + "\n", []string{"1", "2"}, Counts{cNULRuns: 1, cJoined: 1}},
		{
			"spliced", `{"id":"6823685750","type":"PushEvent","payload":{"url":"https://api.{"id":"6823705857","type":"WatchEvent","payload":{"a":[1]}}` + "\n" + `{"id":"3"}` + "\n",
			[]string{"6823705857", "3"}, Counts{cSpliced: 1},
		},
		{"spliced in a number", `{"id":"1","repo":{"id":12{"id":"2"}` + "\n", []string{"2"}, Counts{cSpliced: 1}},
		{"spliced twice", `{"id":"1","a":"x{"id":"2","b":{"c"{"id":"3"}` + "\n", []string{"3"}, Counts{cSpliced: 2}},
		{"text that looks like an event", `{"id":"1","body":"{\"id\":\"9\"} {","x":{"id":"7"}}` + "\n", []string{"1"}, Counts{}},
		{"truncated tail", `{"id":"1"}` + "\n" + `{"id":"2","type":"PushEvent","repo":nul`, []string{"1"}, Counts{cTruncated: 1}},
		{"bad UTF-8", `{"id":"1","m":"eingef` + "\xfc" + `gt"}` + "\n", []string{"1"}, Counts{cBadUTF8: 1}},
		{"good UTF-8", `{"id":"1","m":"eingefügt"}` + "\n", []string{"1"}, Counts{}},
		{"byte order mark", "\xef\xbb\xbf" + `{"id":"1"}` + "\n", []string{"1"}, Counts{}},
		{"CRLF", `{"id":"1"}` + "\r\n" + `{"id":"2"}` + "\r\n", []string{"1", "2"}, Counts{}},
		{"U+2028", `{"id":"1","m":"a` + "\u2028" + `b"}` + "\n", []string{"1"}, Counts{}},
		{"a page of an error", `<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>`, nil, Counts{cTruncated: 1}},
		{"garbage in the middle", "garbage\n" + `{"id":"1"}` + "\n", []string{"1"}, Counts{cBroken: 1}},
		{"empty", "", nil, Counts{}},
		{"empty lines", "\n\n \r\n", nil, Counts{}},
		{"number as id", `{"id":14032425374123456789}` + "\n", []string{"14032425374123456789"}, Counts{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, counts := read(t, tt.in, maxLine)
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.counts, counts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := func(id string, n int) string {
		return `{"id":"` + id + `","m":"` + strings.Repeat("x", n) + `"}` + "\n"
	}
	const limit = 4 << 20
	in := long("1", 70_000) + long("2", limit) + long("3", limit/2) + long("4", 3*limit) + long("5", 10) + strings.TrimSpace(long("6", limit+1))
	got, counts := read(t, in, limit)
	if diff := cmp.Diff([]string{"1", "3", "5"}, got) + cmp.Diff(Counts{cLong: 3}, counts); diff != "" {
		t.Error(diff)
	}
}

// TestHostileLineEnds: a line that breaks off at every event must not take quadratic time.
func TestHostileLineEnds(t *testing.T) {
	t.Parallel()
	in := strings.Repeat(`{"id":"1","a":[`, 200_000) + "\n" + `{"id":"2"}` + "\n"
	began := time.Now()
	got, _ := read(t, in, maxLine)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	if diff := cmp.Diff([]string{"2"}, got); diff != "" {
		t.Error(diff)
	}
}

// scanText reads a whole file and collects what it gives.
func scanText(t *testing.T, in string, o Options) (Result, []Find, []byte) {
	t.Helper()
	var finds []Find
	var evidence []byte
	o.Sink = func(ev []byte, fs []Find) error {
		finds, evidence = append(finds, fs...), append(evidence, ev...)
		return nil
	}
	res, err := Scan(context.Background(), strings.NewReader(in), o)
	if err != nil {
		t.Fatal(err)
	}
	return res, finds, evidence
}

func eventOf(t *testing.T, in string) Event {
	t.Helper()
	var s scanner
	if n := s.object([]byte(in)); n != len(in) {
		t.Fatalf("no whole event: %d of %d bytes", n, len(in))
	}
	return decode([]byte(in))
}

func TestEventShapes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     Event
	}{
		{
			"timeline push",
			`{"actor":"octocat","actor_attributes":{"login":"octocat"},"repository":{"owner":"o","name":"r","organization":"o"},"type":"PushEvent","payload":{"shas":[["abc","x@y","m","n",true]],"size":1}}`,
			Event{Type: "PushEvent", Actor: "octocat", Repo: Repo{Name: "o/r"}, Org: "o", Push: &Push{
				Size: ptr(1), CommitsKnown: true, Commits: []Commit{{SHA: "abc", Message: "m", Author: "n", Email: HashEmail("x@y"), Distinct: ptr(true)}},
			}},
		},
		{
			"timeline comparison",
			`{"created_at":"2012/03/20 19:59:55 -0700","type":"PushEvent","url":"https://github.com/o/r/compare/aaaaaaaaaa...bbbbbbbbbb","actor":"a","repository":{"id":null,"owner":"o","name":"r"},"payload":{"shas":[]}}`,
			Event{Type: "PushEvent", Created: time.Date(2012, 3, 21, 2, 59, 55, 0, time.UTC), Actor: "a", Repo: Repo{Name: "o/r"}, Push: &Push{
				Before: "aaaaaaaaaa", Head: "bbbbbbbbbb", CommitsKnown: true,
			}},
		},
		{
			"short push",
			`{"type":"PushEvent","repo":{"id":1,"name":"o/r"},"payload":{"repository_id":1,"push_id":2,"ref":"refs/heads/main","head":"h","before":"b"}}`,
			Event{Type: "PushEvent", Repo: Repo{1, "o/r"}, Push: &Push{Ref: "refs/heads/main", Head: "h", Before: "b"}},
		},
		{"empty payload", `{"type":"PublicEvent","repo":{"id":1,"name":"o/r"},"payload":{}}`, Event{Type: "PublicEvent", Repo: Repo{1, "o/r"}}},
		{"no payload", `{"type":"PushEvent","repo":{"id":1,"name":"o/r"}}`, Event{Type: "PushEvent", Repo: Repo{1, "o/r"}, Push: &Push{}}},
		{
			"name in the payload",
			`{"type":"ForkEvent","repo":{"name":"/","url":"https://api.github.dev/repos//"},"payload":{"repo":"francoisregis/geowebcache"}}`,
			Event{Type: "ForkEvent", Repo: Repo{Name: "francoisregis/geowebcache"}},
		},
		{"nothing but braces", `{"id":7,"type":"WatchEvent","actor":{},"repo":{}}`, Event{ID: "7", Type: "WatchEvent"}},
		{
			"truncated push", `{"id":"1","type":"PushEvent","actor":{"login":"a"},"repo":{"id":1,"name":"o/r"},"payload":{"size":21,"commits":[{"sha":"s","message":"m","author":{"name":"n","email":""}}]}}`,
			Event{ID: "1", Type: "PushEvent", Actor: "a", Repo: Repo{1, "o/r"}, Push: &Push{
				Size: ptr(21), CommitsKnown: true, Truncated: true, Commits: []Commit{{SHA: "s", Message: "m", Author: "n"}},
			}},
		},
		{
			"merge unknown", `{"type":"PullRequestEvent","repo":{"id":1,"name":"o/r"},"payload":{"action":"closed","number":3,"pull_request":{"id":9}}}`,
			Event{Type: "PullRequestEvent", Action: "closed", Repo: Repo{1, "o/r"}, PR: &PullRequest{Number: 3}},
		},
		{
			"merged as an action", `{"type":"PullRequestEvent","repo":{"id":1,"name":"o/r"},"payload":{"action":"merged","number":3,"pull_request":{"body":null,"merged":false}}}`,
			Event{Type: "PullRequestEvent", Action: "merged", Repo: Repo{1, "o/r"}, PR: &PullRequest{Number: 3, BodyKnown: true, Merged: ptr(true)}},
		},
		{
			"closed without a merge", `{"type":"PullRequestEvent","repo":{"id":1,"name":"o/r"},"payload":{"action":"closed","pull_request":{"number":3,"merged_at":null,"base":{"ref":"main","repo":{"default_branch":"main"}}}}}`,
			Event{Type: "PullRequestEvent", Action: "closed", Repo: Repo{1, "o/r"}, PR: &PullRequest{Number: 3, Merged: ptr(false), Base: "main", Default: "main"}},
		},
		{
			"issue by its address", `{"type":"IssueCommentEvent","url":"https://github.com/o/r/issues/12#issuecomment-7","repository":{"owner":"o","name":"r"},"payload":{"issue_id":5,"comment_id":7}}`,
			Event{Type: "IssueCommentEvent", Repo: Repo{Name: "o/r"}, Issue: &Issue{Number: 12, IsPR: ptr(false)}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, eventOf(t, tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2012/03/20 19:59:55 -0700": "2012-03-21T02:59:55Z", "2012-01-01T09:58:57Z": "2012-01-01T09:58:57Z",
		"2012-05-01T00:00:00-07:00": "2012-05-01T07:00:00Z", "2016-02-29T23:59:59Z": "2016-02-29T23:59:59Z", "2015-02-29T00:00:00Z": "", "soon": "",
	} {
		got, ok := ParseTime(in)
		quick, qok := fastTime([]byte(`"` + in + `"`))
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want || qok != ok || !quick.Equal(got) {
			t.Errorf("%s: got %s, %v and %s, %v", in, got, ok, quick, qok)
		}
	}
}

func TestHashEmail(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1@gharchive.org": "356a192b7913b04c54574d18c28d46e6395428ab@gharchive.org",
		"356a192b7913b04c54574d18c28d46e6395428ab@gharchive.org": "356a192b7913b04c54574d18c28d46e6395428ab@gharchive.org",
		"1": "356a192b7913b04c54574d18c28d46e6395428ab", "": "",
	} {
		if got := HashEmail(in); got != want {
			t.Errorf("%q: got %s", in, got)
		}
	}
}

func TestCountsOfAFile(t *testing.T) {
	t.Parallel()
	const hour = `"created_at":"2017-04-09T05:10:00Z"`
	in := strings.Join([]string{
		`{"id":"5654131736","type":"WatchEvent","repo":{"id":1,"name":"o/r"},` + hour + `}`,
		`{"id":"5654131736","type":"WatchEvent","repo":{"id":1,"name":"o/r"},` + hour + `}`,
		`{"id":5654131736,"type":"WatchEvent","repo":{"id":1,"name":"o/r"},` + hour + `}`,
		`{"type":"WatchEvent","repo":{"id":1,"name":"o/r"},` + hour + `}`,
		`{"repo":{"name":"o/r", "id":1},` + hour + `,"type":"WatchEvent"}`,
		`{"id":"7","type":"ThingEvent","repo":{"id":1,"name":"o/r"},"created_at":"2017-04-09T05:09:00Z"}`,
		`{"id":"8","type":"WatchEvent","repo":{},"created_at":"2017-04-09T07:00:00Z"}`,
		`{"id":"9","type":"PushEvent","repo":{"id":1,"name":"o/r"},"payload":{"head":"h","before":"b"}}`,
		`{"id":"10","repo":{"id":1,"name":"o/r"},` + hour + `}`,
	}, "\n")
	res, finds, _ := scanText(t, in, Options{Hour: Hour{2017, 4, 9, 5}})
	want := Result{
		Events: 6, Lines: 9, Bytes: int64(len(in)), Types: map[string]int{"WatchEvent": 3, "ThingEvent": 1, "PushEvent": 1}, Counts: Counts{
			"duplicates": 3, "unknown_types": 1, "unattributed": 1, "no_time": 1, "untyped": 1, "clock_back": 2, "other_hour": 1,
			"commits_unknown": 1, "commits_unknown_range_known": 1,
		},
		Unresolved: []Named{{"o/r", 1}},
	}
	ids := res.IDs
	res.IDs = nil
	if diff := cmp.Diff(want, res); diff != "" || len(ids) != 6 || len(finds) != 0 {
		t.Errorf("%s %v %v", diff, ids, finds)
	}
}
