package imports

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/miners/advisory"
	"sluice/miners/pairlist"
	"sluice/pipeline/mining"
	"sluice/store"
)

// Why an advisory gave no lead.
const (
	NotAdvisory = "not-an-advisory"
	Withdrawn   = "withdrawn"
	NoCommits   = "no-commits" // it speaks of versions only
	NotJSON     = "not-json"
	TooLong     = "too-long"
	BadArchive  = "bad-archive"
)

// maxRecord is the longest advisory that is read, in bytes.
const maxRecord = 16 << 20

// Advisories mines files, folders and archives of OSV records.
func Advisories(ctx context.Context, s *store.Store, names []string) (Report, error) {
	rep := newReport()
	a := advisories{batch{store: s, rep: &rep}}
	err := a.each(ctx, "advisories v1", names, isAdvisoryFile, a.file)
	return rep, err
}

func isAdvisoryFile(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonl", ".ndjson", ".zip":
		return true
	}
	return false
}

type advisories struct{ batch }

func (a *advisories) file(ctx context.Context, name string) error {
	if strings.EqualFold(filepath.Ext(name), ".zip") {
		return a.archive(ctx, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return a.read(ctx, name, f)
}

// archive reads the files of a zip; one that cannot be read does not stop the others.
func (a *advisories) archive(ctx context.Context, name string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		a.rep.bad(Problem{Where: name, Reason: BadArchive, Value: err.Error()})
		return nil
	}
	defer z.Close()
	for _, entry := range z.File {
		where := name + "/" + entry.Name
		if !isAdvisoryFile(entry.Name) || strings.EqualFold(filepath.Ext(entry.Name), ".zip") {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			a.rep.bad(Problem{Where: where, Reason: BadArchive, Value: err.Error()})
			continue
		}
		err = errors.Join(a.read(ctx, where, r), r.Close())
		if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
			a.rep.bad(Problem{Where: where, Reason: BadArchive, Value: err.Error()})
		} else if err != nil {
			return err
		}
	}
	return nil
}

// read reads one record, a list of them, records one after the other, or one on each line.
func (a *advisories) read(ctx context.Context, where string, in io.Reader) error {
	switch strings.ToLower(filepath.Ext(where)) {
	case ".jsonl", ".ndjson":
		return pairlist.Lines(in, maxRecord, func(n int, line []byte, cut bool) error {
			if cut {
				a.rep.bad(Problem{Where: where, Line: n, Reason: TooLong})
				return nil
			}
			return a.record(ctx, where, n, line)
		})
	}
	n, err := pairlist.Elements(in, maxRecord, func(n int, raw json.RawMessage) error { return a.record(ctx, where, n, raw) })
	switch {
	case errors.Is(err, pairlist.ErrNotJSON):
		a.rep.bad(Problem{where, n, NotJSON, strings.ReplaceAll(err.Error(), "\n", ": ")})
		return nil
	case errors.Is(err, pairlist.ErrTooLong):
		a.rep.bad(Problem{Where: where, Line: n, Reason: TooLong})
		return nil
	}
	return err
}

// record takes one advisory.
func (a *advisories) record(ctx context.Context, where string, line int, raw []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.rep.Records++
	r, err := advisory.Parse(raw)
	if err != nil {
		reason := NotAdvisory
		if !json.Valid(raw) {
			reason = NotJSON
		}
		a.rep.bad(Problem{where, line, reason, err.Error()})
		return nil
	}
	found := r.Findings()
	switch {
	case !r.Withdrawn.IsZero():
		a.rep.bad(Problem{where, line, Withdrawn, r.ID})
		return nil
	case len(found) == 0:
		a.rep.bad(Problem{where, line, NoCommits, r.ID})
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	for _, f := range found {
		for _, side := range f.Unknown() {
			a.rep.Unknown[side]++
		}
		if err := a.add(ctx, advisoryLead(r, f), r.ID+"\x00"+where+fmt.Sprint(line), compact.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// advisoryLead is the lead of a finding. Records of other databases about the same commits give no second one.
func advisoryLead(r advisory.Record, f advisory.Finding) mining.Found {
	p := mining.Pair{
		Intro: mining.Ref{SHA: f.Intro}, Fix: mining.Ref{SHA: f.Fix, Number: f.PR}, ID: r.ID, Aliases: r.Aliases, Cue: f.Cue,
		Host: f.Repo.Host, LastAffected: f.LastAffected, Limit: f.Limit, Unknown: f.Unknown(), At: r.Published,
		Confidence: mining.Confidence(!f.Guessed && f.Cue != "database"),
	}
	if f.Guessed {
		p.Unknown = append(p.Unknown, "order")
	}
	name := f.Repo.Name
	if f.Repo.Owner != "" {
		name = f.Repo.Owner + "/" + name
	}
	return mining.Found{
		Kind: store.PairLead, Repo: name, Source: mining.AdvisorySource, Method: mining.AdvisoryMethod, Data: p,
		Key: fmt.Sprintf("%s %s..%s#%d %s", f.Repo.Host, f.Intro, f.Fix, f.PR, f.LastAffected),
	}
}
