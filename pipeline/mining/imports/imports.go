// Package imports takes what others have found already into the store as leads: security advisories, lists of pairs, rows of the
// SWE-bench family.
//
// It keeps every record as it was given. A bad one is counted and named, and never stops the run; what a record does not tell
// stays unknown.
package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"

	"sluice/pipeline/mining"
	"sluice/store"
)

// Report is what a run found and what it could not use.
type Report struct {
	Files     int            `json:"files"`
	Unchanged int            `json:"unchanged"` // inputs that an earlier run has read to their end; they are not read again
	Records   int            `json:"records"`
	Added     int            `json:"added"` // leads that are new
	Leads     map[string]int `json:"leads"` // found in this run, by kind and method
	Unknown   map[string]int `json:"unknown"`
	Problems  map[string]int `json:"problems"` // by reason
	Named     []Problem      `json:"-"`
}

// Problem is a record that was not used, or not in whole.
type Problem struct {
	Where  string `json:"where"` // the file
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
	Value  string `json:"value,omitempty"`
}

// Limits of one blob of evidence: a run of any size has bounded memory.
const (
	maxEvidence = 16 << 20
	maxFound    = 5000
	maxProblems = 10000
)

// batch collects finds with their evidence and stores them from time to time.
type batch struct {
	store    *store.Store
	evidence mining.Evidence
	found    []mining.Found
	rep      *Report
}

func newReport() Report {
	return Report{Leads: map[string]int{}, Unknown: map[string]int{}, Problems: map[string]int{}}
}

func (r *Report) bad(p Problem) {
	r.Problems[p.Reason]++
	if len(r.Named) < maxProblems {
		r.Named = append(r.Named, p)
	}
}

// add takes a find; the record that it comes from is stored once, under its key.
func (b *batch) add(ctx context.Context, f mining.Found, key string, record []byte) error {
	f.Line = b.evidence.AddLine(key, record)
	b.found = append(b.found, f)
	b.rep.Leads[f.Kind+" "+f.Method]++
	if b.evidence.Len() < maxEvidence && len(b.found) < maxFound {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch) flush(ctx context.Context) error {
	n, err := mining.Keep(ctx, b.store, b.evidence.Bytes(), b.found)
	b.rep.Added += n
	b.found = nil
	b.evidence.Reset()
	return err
}

// input is one argument: a file, or all files of a folder.
type input struct {
	name  string
	files []string // sorted
}

// gather lists the files of an argument; wanted chooses those of a folder. Links are not followed: a folder may be another
// person's.
func gather(name string, wanted func(string) bool) (input, error) {
	info, err := os.Stat(name)
	if err != nil {
		return input{}, fmt.Errorf("reading %s: %w", name, err)
	}
	if info.Mode().IsRegular() {
		return input{name, []string{name}}, nil
	}
	if !info.IsDir() {
		return input{}, fmt.Errorf("reading %s: it is neither a file nor a folder", name)
	}
	in := input{name: name}
	err = filepath.WalkDir(name, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && wanted(path) {
			in.files = append(in.files, path)
		}
		return err
	})
	if err != nil {
		return in, fmt.Errorf("reading %s: %w", name, err)
	}
	slices.Sort(in.files)
	return in, nil
}

// digest names the content of an input, whatever it is called.
func (in input) digest(ctx context.Context) (string, error) {
	sum := sha256.New()
	for _, name := range in.files {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		rel, err := filepath.Rel(in.name, name)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", name, err)
		}
		fmt.Fprintf(sum, "%q ", rel)
		if err := hashFile(sum, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashFile(sum hash.Hash, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// each reads the files of all arguments that no earlier run has read; kind is as in once.
func (b *batch) each(ctx context.Context, kind string, names []string, wanted func(string) bool, read func(context.Context, string) error) error {
	for _, name := range names {
		in, err := gather(name, wanted)
		if err != nil {
			return err
		}
		err = b.once(ctx, kind, in, func() error {
			for _, file := range in.files {
				if err := read(ctx, file); err != nil {
					return fmt.Errorf("mining %s: %w", file, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	b.rep.sort()
	return nil
}

// once runs read unless an earlier run has read the same content to its end. kind names what is read, with whatever else the
// result depends on.
func (b *batch) once(ctx context.Context, kind string, in input, read func() error) error {
	digest, err := in.digest(ctx)
	if err != nil {
		return err
	}
	mark := kind + ":" + digest
	_, done, err := b.store.Mark(ctx, mark)
	if err != nil {
		return err
	}
	if done {
		b.rep.Unchanged++
		return nil
	}
	b.rep.Files += len(in.files)
	if err := read(); err != nil {
		return err
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	return b.store.PutMark(ctx, mark, "done")
}

// sort puts the problems in an order that does not depend on how they were met.
func (r *Report) sort() {
	slices.SortStableFunc(r.Named, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Where, y.Where), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Reason, y.Reason))
	})
}
