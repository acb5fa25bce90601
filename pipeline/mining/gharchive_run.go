package mining

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"sluice/miners/gharchive"
	"sluice/store"
)

// hourRun is one run. Files are fetched and read at once, but recorded in their order: so the same files give the same ledger.
type hourRun struct {
	o       GHArchiveOptions
	plan    hourPlan
	rep     *GHArchiveReport
	window  gharchive.Window
	fetch   *gharchive.Fetcher
	volume  volumes
	last    neighbour
	history *histories // nil: nothing is asked of git
	failed  int        // fetches in a row that failed
}

// hourJob is one hour on its way.
type hourJob struct {
	hour   gharchive.Hour
	known  store.Hour // what the ledger says
	before hourCounts // of it
	file   string     // to read; "" for none
	temp   bool       // it was downloaded for this run only
	etag   string
	fresh  int64 // bytes downloaded
	absent gharchive.Absence
	broken error // of the network
	skip   bool  // nothing to do
	stale  bool  // a copy that was kept is not the file that is wanted
	res    gharchive.FileResult
	leads  []hourLead
	window gharchive.Window
}

// giveUp is after how many failed downloads in a row a run stops: then it is the network, and not the files.
const giveUp = 3

func (r *hourRun) run(ctx context.Context) error {
	hours, err := r.o.Store.Hours(ctx)
	if err != nil {
		return err
	}
	ledger := map[string]store.Hour{}
	for _, h := range hours {
		ledger[h.Name] = h
		r.volume.learn(h)
	}
	r.fetch = &gharchive.Fetcher{Template: r.plan.template, Dir: r.downloads(), Client: r.o.Client, Clock: r.o.Clock}
	if r.o.fetcher != nil {
		r.o.fetcher(r.fetch)
	}
	r.last.dir = r.o.Dir
	return r.pipeline(ctx, ledger)
}

// downloads is where files come.
func (r *hourRun) downloads() string {
	if r.o.Keep != "" {
		return r.o.Keep
	}
	return filepath.Join(r.o.Dir, "files")
}

// pipeline runs the jobs. At most Workers files are read and as many fetched at a time, and no more than twice as many are ahead of the
// one that is recorded next: that bounds the disk and the leads that wait in memory.
func (r *hourRun) pipeline(ctx context.Context, ledger map[string]store.Hour) error {
	g, ctx := errgroup.WithContext(ctx)
	fetching, reading := make(chan struct{}, r.o.Workers), make(chan struct{}, r.o.Workers)
	ahead := make(chan chan *hourJob, 2*r.o.Workers)
	g.Go(func() error {
		defer close(ahead)
		for _, h := range r.plan.hours {
			j := &hourJob{hour: h, known: ledger[h.String()], window: r.window}
			done := make(chan *hourJob, 1)
			select {
			case ahead <- done:
			case <-ctx.Done():
				return ctx.Err()
			}
			g.Go(func() error {
				if err := r.work(ctx, j, fetching, reading); err != nil {
					return err
				}
				done <- j
				return nil
			})
		}
		return nil
	})
	g.Go(func() error {
		for done := range ahead {
			select {
			case j := <-done:
				if err := r.record(ctx, j); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

// work brings an hour to where it can be recorded.
func (r *hourRun) work(ctx context.Context, j *hourJob, fetching, reading chan struct{}) error {
	if err := r.look(ctx, j); err != nil || j.skip {
		return err
	}
	if j.file == "" && j.absent == "" {
		if err := within(ctx, fetching, func() error { return r.download(ctx, j) }); err != nil {
			return err
		}
	}
	if j.file == "" {
		return nil
	}
	return within(ctx, reading, func() error {
		k := &sink{store: r.o.Store}
		take := func(evidence []byte, finds []gharchive.Find) error { return k.take(ctx, evidence, finds) }
		o := gharchive.Options{Hour: j.hour, Window: j.window, Sink: take}
		if r.history != nil {
			o.History = r.history
		}
		res, err := gharchive.ScanFile(ctx, j.file, o)
		j.res, j.leads = res, k.leads
		return err
	})
}

// within holds a place while f runs.
func within(ctx context.Context, places chan struct{}, f func() error) error {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-places }()
	return f()
}

// look decides from the ledger and the sources what is to be done.
func (r *hourRun) look(ctx context.Context, j *hourJob) error {
	if len(j.known.Counts) > 0 {
		if err := json.Unmarshal(j.known.Counts, &j.before); err != nil {
			return fmt.Errorf("reading what is known of hour %s: %w", j.hour, err)
		}
	}
	path := r.plan.files[j.hour]
	current := j.known.Name != "" && j.known.Version == gharchive.Version
	wasRead := current && j.known.Digest != ""
	if wasRead {
		if j.before.window().Covers(r.window) && (r.o.Folders == "" || r.o.Folders == j.before.Folders) {
			same, err := r.same(ctx, j, path)
			if err != nil || same {
				j.skip = same
				return err
			}
		}
		j.window = j.before.window().Union(r.window) // what was taken before stays taken
	}
	switch {
	case path != "":
		j.file = path
	case !j.hour.Expected():
		j.absent = gharchive.NotExpected
	case current && j.known.State == string(gharchive.Gap):
		j.skip = true
	case r.plan.template == "" || !j.hour.Ended(r.o.Clock()):
		j.absent = j.hour.WhyAbsent(r.o.Clock())
		j.skip = wasRead // its file was there once
	}
	return nil
}

// same tells whether the file that was read is still the one that is there. A file on disk that is not younger than its record and has
// its size is; one from the network is, unless somebody asks, or it was damaged.
func (r *hourRun) same(ctx context.Context, j *hourJob, path string) (bool, error) {
	if path == "" {
		sound := j.known.State == string(gharchive.Done) || j.known.State == string(gharchive.Suspect)
		if r.plan.template == "" {
			return true, nil
		}
		if j.stale = !sound; !sound || !r.o.Recheck {
			return sound, nil
		}
		changed, err := r.fetch.Changed(ctx, j.hour, j.before.ETag, j.known.Size)
		if errors.Is(err, gharchive.ErrServer) { // what is known of the hour stays
			j.broken, err = err, nil
		}
		j.stale = changed
		return !changed, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return false, fmt.Errorf("looking at an hour file: %w", err)
	}
	if st.Size() != j.known.Size {
		return false, nil
	}
	if !st.ModTime().After(j.known.At) {
		return true, nil
	}
	digest, err := gharchive.FileDigest(path)
	return digest == j.known.Digest, err
}

// download gets the file of an hour. That there is none is no error, and a server that fails is the hour's, not the run's.
func (r *hourRun) download(ctx context.Context, j *hourJob) error {
	if j.stale {
		if err := r.fetch.Discard(j.hour); err != nil {
			return err
		}
	}
	got, err := r.fetch.Fetch(ctx, j.hour)
	switch {
	case err == nil:
		j.file, j.etag, j.fresh, j.temp = got.Path, got.ETag, got.New, r.o.Keep == ""
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, gharchive.ErrAbsent):
		j.absent = j.hour.WhyAbsent(r.o.Clock())
		return nil
	case errors.Is(err, gharchive.ErrServer), errors.Is(err, gharchive.ErrRefused):
		j.absent, j.broken = gharchive.Missing, err
		return nil
	}
	return err
}

// record writes an hour into the ledger, in order, and removes its file if it was downloaded for this run.
func (r *hourRun) record(ctx context.Context, j *hourJob) error {
	if r.failed++; j.broken == nil {
		r.failed = 0
	}
	h := HourReport{Hour: j.hour.String(), counts: hourCounts{}}
	switch {
	case j.skip:
		h.State, h.Reason, h.Events, h.Leads, h.counts = j.known.State, j.before.Reason, j.before.Events, j.before.Leads, j.before
		if j.broken != nil {
			h.Reason = j.broken.Error()
		}
		r.rep.add(h, j.known.Size)
	case j.file == "":
		if err := r.recordAbsence(ctx, j, &h); err != nil {
			return err
		}
		r.rep.add(h, 0)
	default:
		if err := r.recordFile(ctx, j, &h); err != nil {
			return err
		}
		r.rep.Fetched += j.fresh
		r.rep.add(h, j.res.Size)
	}
	if r.o.Report != nil {
		r.o.Report(h)
	}
	if r.failed >= giveUp {
		return fmt.Errorf("%w: %d hours in a row: %w", ErrUnreachable, r.failed, j.broken)
	}
	return nil
}

// recordAbsence: of an hour that is still being written nothing is known, and nothing is recorded.
func (r *hourRun) recordAbsence(ctx context.Context, j *hourJob, h *HourReport) error {
	if h.State = string(j.absent); j.broken != nil {
		h.Reason = j.broken.Error()
	}
	if j.absent == gharchive.NotYet {
		return nil
	}
	counts, err := json.Marshal(hourCounts{Reason: h.Reason})
	if err != nil {
		return err
	}
	_, err = r.o.Store.FinishHour(ctx, store.Hour{
		Name: h.Hour, State: h.State, Counts: counts, Version: gharchive.Version, At: r.o.Clock(),
	}, nil)
	return err
}

func (r *hourRun) recordFile(ctx context.Context, j *hourJob, h *HourReport) error {
	c := hourCounts{
		Events: j.res.Events, Outside: j.res.Outside, Types: j.res.Types, Counts: j.res.Counts, Lines: j.res.Lines, Bytes: j.res.Bytes,
		Reason: j.res.Reason, ETag: j.etag, Since: j.window.Since, Until: j.window.Until, Leads: map[string]int{},
		Folders: r.o.Folders, Unresolved: j.res.Unresolved,
	}
	if c.Counts == nil {
		c.Counts = gharchive.Counts{}
	}
	leads := r.withoutCopies(j, &c)
	for _, l := range leads {
		c.Leads[l.Kind+" "+l.Method]++
	}
	h.State, h.Read = string(j.res.State), true
	if why := r.volume.suspicion(j.hour, c.Events+c.Outside); why != "" && j.res.State == gharchive.Done {
		h.State, c.Reason = string(gharchive.Suspect), why
	}
	h.Reason, h.Events, h.Leads, h.counts = c.Reason, c.Events, c.Leads, c
	counts, err := json.Marshal(c)
	if err != nil {
		return err
	}
	record := store.Hour{
		Name: h.Hour, State: h.State, Digest: j.res.Digest, Size: j.res.Size, Counts: counts, Version: gharchive.Version, At: r.o.Clock(),
	}
	if err := r.last.keep(j.hour, j.res.IDs); err != nil {
		return err
	}
	if h.Added, err = r.o.Store.FinishHour(ctx, record, leads); err != nil {
		return err
	}
	r.volume.learn(record)
	if j.temp {
		if err := os.Remove(j.file); err != nil {
			return fmt.Errorf("removing a file that was read: %w", err)
		}
	}
	return r.last.forget()
}

// withoutCopies drops the leads of events that the hour before had already, and counts such events out.
func (r *hourRun) withoutCopies(j *hourJob, c *hourCounts) []store.Lead {
	before := r.last.before(j.hour)
	if n := gharchive.Shared(before, j.res.IDs); n > 0 {
		c.Events -= n
		c.Counts["duplicates_of_last_hour"] = n
	}
	leads := make([]store.Lead, 0, len(j.leads))
	for _, l := range j.leads {
		if _, copied := slices.BinarySearch(before, l.event); !copied {
			leads = append(leads, l.Lead)
		}
	}
	return leads
}
