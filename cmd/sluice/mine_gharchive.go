package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"sluice/pipeline/mining"
)

// mineGHArchiveFlags are the flags of sluice mine gharchive.
type mineGHArchiveFlags struct {
	span
	repoFolders
	keep    string
	workers int
	recheck bool
}

func newMineGHArchive(a *app) *cobra.Command {
	var f mineGHArchiveFlags
	cmd := &cobra.Command{
		Use:   "gharchive [FILE|FOLDER|URL-TEMPLATE...]",
		Short: "Read hour files of GH Archive",
		Long: `Read hour files of GH Archive and keep as leads what their events claim: commits that repair an earlier one, which issue a pull
request closes, which commit a report names as the first bad one. Each lead has its event as evidence.

Sources are hour files (2015-01-01-8.json.gz), folders of them, and templates of an address in which {hour} stands for 2015-01-01-8, or
{year}, {month}, {day} and {h} for its parts. Without a source the archive itself is read. A window chooses events by the time at which
they happened; the files in which they may be filed are found from it, also where the archive's clock was another. A download needs
both ends of the window.

An hour that was read is not read again, unless its file or sluice's way of reading it has changed. Downloads go on where they were cut
off; each file is removed after it was read, unless --keep names a folder.

Events leave things unknown: since October 2025 pushes do not list their commits, longer ones never listed them all, and some
do not say whether a change was merged. Where --repo or --repos names a repository's history, git resolves it, and hours that were read
without these folders are read again. sluice leads --unresolved lists the repositories of which most is unknown.

The archive is a sample: an event that is missing never proves that it did not happen.

With --json the lines are objects of the types "hour" and, last, "mined-gharchive".

Exit code 3: a source is no hour file, folder or template. 5: hours are missing, damaged or no archive files; the others are read, and the
next run tries those again that came over the network. 6: the server cannot be reached.`,
		Example: `  sluice mine gharchive ~/archive/2021
  sluice mine gharchive --since 2021-03-10 --until 2021-03-11T06:00
  sluice mine gharchive https://archive.example/{year}/{hour}.json.gz --since 2021-03-10 --until 2021-03-11 --keep files --json
  sluice mine gharchive hours --repo ada/ledger=../ledger --repos '/mirrors/{owner}+{name}'`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.mineGHArchive(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only events from this moment on: 2021-03-10, 2021-03-10T06:00 (UTC)")
	flags.StringVar(&f.until, "until", "", "only events before this moment")
	f.addFlags(cmd, "where a repository's history is: owner/name=DIR, again for each")
	flags.StringVar(&f.keep, "keep", "", "folder in which downloaded files stay")
	flags.IntVar(&f.workers, "workers", 2, "files that are read at once")
	flags.BoolVar(&f.recheck, "recheck", false, "ask the server whether files that were read have changed")
	return cmd
}

// longestWindow bounds the hours of a window: each of them gets a record, also when its file is missing.
const longestWindow = 40 * 366 * 24 * time.Hour

func (f mineGHArchiveFlags) options(sources []string) (o mining.GHArchiveOptions, err error) {
	o = mining.GHArchiveOptions{Sources: sources, Keep: f.keep, Recheck: f.recheck, Workers: f.workers}
	if o.Since, o.Until, err = f.moments(); err != nil {
		return o, err
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && o.Until.Sub(o.Since) > longestWindow {
		return o, fmt.Errorf("from --since %s to --until %s are more than 40 years: the archive begins in February 2011", f.since, f.until)
	}
	if f.workers < 1 || f.workers > 64 {
		return o, errors.New("--workers must be 1 to 64")
	}
	o.Folder, o.Folders, err = f.finder()
	return o, err
}

func (a *app) mineGHArchive(ctx context.Context, sources []string, f mineGHArchiveFlags) error {
	o, err := f.options(sources)
	if err != nil {
		return fail(exitUsage, err, "")
	}
	s, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	o.Store, o.Dir, o.Clock, o.Client = s, filepath.Join(a.opts.store, "gharchive"), a.clock, http.DefaultClient
	o.Mirrors = filepath.Join(a.opts.store, "mirrors")
	o.Report = a.hourLine()
	rep, err := mining.MineGHArchive(ctx, o)
	if len(rep.Hours) > 0 {
		a.printGHArchive(rep)
	}
	return errors.Join(explainHours(err, rep), s.Close())
}

// explainHours gives the end of a run its exit code.
func explainHours(err error, rep mining.GHArchiveReport) error {
	bad := rep.Hours["missing"] + rep.Hours["partial"] + rep.Hours["not_gzip"]
	switch {
	case err != nil:
		return unwritable(err, "--keep or --store")
	case bad > 0:
		return fail(exitIncomplete, fmt.Errorf("%d of %d hours are missing or damaged", bad, hoursOf(rep)), "they are named above; what could be read is kept")
	}
	return nil
}

func hoursOf(rep mining.GHArchiveReport) (n int) {
	for _, k := range rep.Hours {
		n += k
	}
	return n
}

// hourLine shows each hour: as a result with --json, else as progress when something is wrong with it, and otherwise now and then.
func (a *app) hourLine() func(mining.HourReport) {
	last, n := a.clock(), 0
	return func(h mining.HourReport) {
		n++
		if a.opts.json {
			a.emit(struct {
				Type string `json:"type"` // "hour"
				mining.HourReport
			}{"hour", h})
			return
		}
		fine := h.Reason == "" && (h.State == "done" || h.State == "gap" || h.State == "not_expected")
		if now := a.clock(); !fine || now.Sub(last) >= 5*time.Second {
			last = now
			a.hourProgress(a.stderr, h, n)
		}
	}
}

func (a *app) hourProgress(w io.Writer, h mining.HourReport, n int) {
	line := fmt.Sprintf("%s: %s, %d events, %d new leads; %d hours so far", h.Hour, h.State, h.Events, h.Added, n)
	if h.Reason != "" {
		line += ": " + h.Reason
	}
	fmt.Fprintln(w, oneLine(line))
}

func (a *app) printGHArchive(rep mining.GHArchiveReport) {
	if a.opts.json {
		a.emit(struct {
			Type string `json:"type"` // "mined-gharchive"
			mining.GHArchiveReport
		}{"mined-gharchive", rep})
		return
	}
	a.countTable("METHOD", "LEADS", rep.Leads)
	a.say("%d hours: %s; %d read now", hoursOf(rep), countNames(rep.Hours), rep.Read)
	a.say("%s events in %s, %s uncompressed", humanize.Comma(int64(rep.Events)), humanize.Bytes(uint64(rep.Packed)), humanize.Bytes(uint64(rep.Bytes)))
	if len(rep.Counts) > 0 {
		a.say("met on the way: %s", countNames(rep.Counts))
	}
	for _, what := range rep.Unusable {
		a.say("nothing could be asked of %s", oneLine(what))
	}
	for _, name := range rep.Ignored {
		a.say("ignored: %s is no hour file", oneLine(name))
	}
	a.say("%s", rep.Coverage)
	a.say("%d new leads", rep.Added)
}

// countNames writes counts in the order of their names.
func countNames[M ~map[string]int](counts M) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
