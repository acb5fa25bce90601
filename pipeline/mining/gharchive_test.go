package mining

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/go-cmp/cmp"

	"sluice/miners/gharchive"
	"sluice/miners/gharchive/synth"
	"sluice/store"
)

var archiveDay = time.Date(2021, 3, 10, 0, 0, 0, 0, time.UTC)

func openLedger(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// synthHour is the packed file of an hour; events of two hours never share an id.
func synthHour(t *testing.T, h time.Time, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Write(&b, synth.Config{Seed: uint64(h.Unix()) / 3600, Bytes: size, Era: synth.Events2015, Start: h, Leads: 50}); err != nil {
		t.Fatal(err)
	}
	return pack(t, b.Bytes())
}

func hourName(h time.Time) string { return fmt.Sprintf("%s-%d", h.Format("2006-01-02"), h.Hour()) }

func writeHour(t *testing.T, dir string, h time.Time, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, hourName(h)+".json.gz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// synthFolder has n hours.
func synthFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		h := archiveDay.Add(time.Duration(i) * time.Hour)
		writeHour(t, dir, h, synthHour(t, h, 300_000))
	}
	return dir
}

func archiveOptions(t *testing.T, s *store.Store, sources ...string) GHArchiveOptions {
	t.Helper()
	return GHArchiveOptions{
		Store: s, Dir: filepath.Join(t.TempDir(), "g"), Sources: sources, Client: http.DefaultClient, Clock: time.Now,
		fetcher: func(f *gharchive.Fetcher) {
			f.BackOff = func() backoff.BackOff { return &backoff.ZeroBackOff{} }
			f.Stall = 5 * time.Second
		},
	}
}

func mine(t *testing.T, o GHArchiveOptions) GHArchiveReport {
	t.Helper()
	rep, err := MineGHArchive(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// dump is everything that a run left in the store, but the time.
func dump(t *testing.T, s *store.Store) []string {
	t.Helper()
	leads, err := s.Leads(t.Context(), store.LeadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range leads {
		out = append(out, fmt.Sprintf("%s %s %s %s %s %s %d", l.ID, l.Kind, l.Repo, l.Method, l.Data, l.Evidence, l.Line))
	}
	hours, err := s.Hours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hours {
		out = append(out, fmt.Sprintf("%s %s %s %d %s", h.Name, h.State, h.Digest, h.Size, h.Counts))
	}
	return out
}

func TestHoursAreReadOnce(t *testing.T) {
	t.Parallel()
	dir := synthFolder(t, 3)
	s := openLedger(t)
	o := archiveOptions(t, s, dir)
	first := mine(t, o)
	if first.Read != 3 || first.Added < 20 || first.Hours["done"] != 3 || first.Coverage == "" {
		t.Fatalf("%+v", first)
	}
	before := dump(t, s)
	second := mine(t, o)
	if second.Read != 0 || second.Added != 0 || second.Events != first.Events {
		t.Errorf("%+v", second)
	}
	second.Read, second.Added = first.Read, first.Added
	if diff := cmp.Diff(first, second) + cmp.Diff(before, dump(t, s)); diff != "" {
		t.Error(diff)
	}
	// Touched, but the same: its digest is looked at, and it is not read. Changed: it is read.
	path := filepath.Join(dir, hourName(archiveDay)+".json.gz")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if rep := mine(t, o); rep.Read != 0 {
		t.Errorf("%+v", rep)
	}
	writeHour(t, dir, archiveDay, synthHour(t, archiveDay.Add(1000*time.Hour), 200_000))
	if rep := mine(t, o); rep.Read != 1 || rep.Added == 0 {
		t.Errorf("%+v", rep)
	}
	// Written by another version of the reader.
	h, ok, err := s.Hour(t.Context(), hourName(archiveDay))
	if err != nil || !ok {
		t.Fatal(err)
	}
	h.Version = gharchive.Version - 1
	if _, err := s.FinishHour(t.Context(), h, nil); err != nil {
		t.Fatal(err)
	}
	if rep := mine(t, o); rep.Read != 1 || rep.Added != 0 {
		t.Errorf("%+v", rep)
	}
}

// TestInterruptedRunsEndAlike stops runs after every hour: in the end the store is the same as after one run.
func TestInterruptedRunsEndAlike(t *testing.T) {
	t.Parallel()
	dir := synthFolder(t, 6)
	s := openLedger(t)
	mine(t, archiveOptions(t, s, dir))
	want := dump(t, s)
	for _, workers := range []int{1, 3} {
		s := openLedger(t)
		o := archiveOptions(t, s, dir)
		o.Workers = workers
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			o.Report = func(h HourReport) {
				if h.Read {
					cancel()
				}
			}
			_, err := MineGHArchive(ctx, o)
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		o.Report = nil
		mine(t, o)
		if diff := cmp.Diff(want, dump(t, s)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
	}
}

func eventJSON(id int, at time.Time, body string) string {
	return fmt.Sprintf(`{"id":"%d","type":"IssuesEvent","actor":{"login":"a"},"repo":{"id":1,"name":"o/r"},"payload":{"action":"opened","issue":{"number":%d,"body":%q}},"created_at":%q}`+"\n",
		id, id, body, at.Format(time.RFC3339))
}

func TestCopiesInTheNextHour(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := eventJSON(1, archiveDay, "x") + eventJSON(2, archiveDay.Add(59*time.Minute), "bisected to 0123abcd")
	two := eventJSON(2, archiveDay.Add(59*time.Minute), "bisected to 0123abcd") + eventJSON(3, archiveDay.Add(61*time.Minute), "y")
	writeHour(t, dir, archiveDay, pack(t, []byte(one)))
	writeHour(t, dir, archiveDay.Add(time.Hour), pack(t, []byte(two)))
	s := openLedger(t)
	o := archiveOptions(t, s, dir)
	if rep := mine(t, o); rep.Events != 3 || rep.Leads["report testimony"] != 1 || rep.Counts["duplicates_of_last_hour"] != 1 {
		t.Errorf("%+v", rep)
	}
	// In two runs, the second of which knows the first by what it left on disk.
	s = openLedger(t)
	o = archiveOptions(t, s, filepath.Join(dir, hourName(archiveDay)+".json.gz"))
	mine(t, o)
	o.Sources = []string{dir}
	if rep := mine(t, o); rep.Read != 1 || rep.Events != 3 || rep.Leads["report testimony"] != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestStatesOfHours(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(h int) time.Time { return time.Date(2013, 3, 10, h, 0, 0, 0, time.UTC) }
	whole := pack(t, []byte(eventJSON(1, at(8), "x")+eventJSON(2, at(8), "bisected to 0123abcd")+strings.Repeat("\n", 100_000)))
	writeHour(t, dir, at(0), whole)
	writeHour(t, dir, at(1), whole[:len(whole)-4])
	writeHour(t, dir, at(3), []byte("<?xml version='1.0'?><Error/>"))
	writeHour(t, dir, at(4), pack(t, nil))
	if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openLedger(t)
	o := archiveOptions(t, s, dir)
	o.Since, o.Until = at(9), at(13) // midnight to 6 with the neighbours
	rep := mine(t, o)
	want := map[string]int{"done": 1, "partial": 1, "not_expected": 1, "not_gzip": 1, "suspect": 1, "missing": 2}
	if diff := cmp.Diff(want, rep.Hours); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "README")}, rep.Ignored); diff != "" || rep.Events != 0 || rep.Counts["other_repository"] != 0 {
		t.Errorf("%s %+v", diff, rep)
	}
	// The events are outside of that window; a wider one reads the files again, and keeps what it took.
	o.Since = at(7)
	if rep = mine(t, o); rep.Leads["report testimony"] != 1 || rep.Read != 4 {
		t.Errorf("%+v", rep)
	}
	o.Since = at(9)
	if rep = mine(t, o); rep.Read != 0 || rep.Leads["report testimony"] != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestTooFewEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events := func(week, n int) []byte {
		var b strings.Builder
		for i := range n {
			b.WriteString(eventJSON(week*1000+i, archiveDay.Add(time.Duration(week)*7*24*time.Hour), "x"))
		}
		return pack(t, []byte(b.String()))
	}
	for week, n := range []int{100, 110, 90, 100, 19, 100, 21} {
		writeHour(t, dir, archiveDay.Add(time.Duration(week)*7*24*time.Hour), events(week, n))
	}
	var suspects []string
	o := archiveOptions(t, openLedger(t), dir)
	o.Report = func(h HourReport) {
		if h.State == "suspect" {
			suspects = append(suspects, h.Hour+" "+h.Reason)
		}
	}
	mine(t, o)
	want := []string{"2021-04-07-0 19 events, where 100 are usual at that time of the week"}
	if diff := cmp.Diff(want, suspects); diff != "" {
		t.Error(diff)
	}
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	var requests, cut atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		name := strings.TrimSuffix(filepath.Base(r.URL.Path), ".json.gz")
		h, err := gharchive.ParseHour(name)
		if err != nil || h.Hour == 2 {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>"))
			return
		}
		if h.Hour == 3 {
			_, _ = w.Write([]byte("<html>maintenance</html>"))
			return
		}
		data := synthHour(t, h.Start(), 200_000)
		w.Header().Set("ETag", `"`+name+`"`)
		if h.Hour == 1 && cut.Add(1) == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:1000])
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(srv.Close)
	s := openLedger(t)
	o := archiveOptions(t, s, srv.URL+"/{hour}.json.gz")
	o.Since, o.Until = archiveDay, archiveDay.Add(8*time.Hour)
	o.Clock = func() time.Time { return archiveDay.Add(6*time.Hour + 2*time.Minute) } // hour 5 may come until ten past, 6 and 7 are to come
	rep := mine(t, o)
	want := map[string]int{"done": 4, "missing": 1, "not_gzip": 1, "not_yet": 2}
	if diff := cmp.Diff(want, rep.Hours); diff != "" || rep.Added == 0 || rep.Fetched != rep.Packed {
		t.Errorf("%s %+v", diff, rep)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "files", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	before := requests.Load()
	if rep := mine(t, o); rep.Read != 1 || requests.Load()-before != 2 { // what is missing and what was no file
		t.Errorf("%+v, %d requests", rep, requests.Load()-before)
	}
	before = requests.Load()
	o.Recheck, o.Keep = true, t.TempDir()
	if rep := mine(t, o); rep.Read != 1 || requests.Load()-before != 6 {
		t.Errorf("%+v, %d requests", rep, requests.Load()-before)
	}

	// A server that cannot be asked changes nothing about what is known.
	srv.Close()
	states := map[string]int{}
	o.Report = func(h HourReport) { states[fmt.Sprint(h.State, h.Reason != "")]++ }
	if _, err := MineGHArchive(t.Context(), o); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int{"donetrue": 2, "missingtrue": 1}, states); diff != "" {
		t.Error(diff)
	}
}

func TestServerOutOfReach(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	s := openLedger(t)
	o := archiveOptions(t, s, srv.URL+"/{hour}.json.gz")
	o.Since, o.Until = archiveDay, archiveDay.Add(24*time.Hour)
	n := 0
	o.Report = func(HourReport) { n++ }
	if _, err := MineGHArchive(t.Context(), o); !errors.Is(err, ErrUnreachable) || n != giveUp {
		t.Errorf("%d hours, %v", n, err)
	}
}

func TestBadSources(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	text := filepath.Join(empty, "notes.txt")
	if err := os.WriteFile(text, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source string
		want   error
	}{
		{"nowhere", ErrHourSource}, {text, ErrHourSource}, {empty, ErrHourSource}, {"ftp://x/{hour}", ErrHourSource}, {"https://archive.example/{hour}.json.gz", ErrHourWindow},
	} {
		if _, err := MineGHArchive(t.Context(), archiveOptions(t, openLedger(t), tt.source)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.source, err)
		}
	}
}
