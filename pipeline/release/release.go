// Package release freezes admitted candidates into a folder that can be handed on: instances, public tasks, a SWE-bench
// export, a manifest with every digest, and a data-set card.
//
// A release is a pure function of the store and the options: it holds no time, no path of the machine and no map order,
// so that the same evidence gives the same bytes. The package never judges an instance, never runs a test, and never
// changes a release that exists.
package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"sluice/pipeline"
	"sluice/store"
)

// Schema names the layout of the manifest and of the files that it lists.
const Schema = "sluice.release/1"

// ErrEmpty says that no admitted instance is left to release.
var ErrEmpty = errors.New("no admitted instance to release")

// ErrName says that a release cannot have that name: it is a folder's too.
var ErrName = errors.New("not a name for a release")

// ErrExists says that a release of that name exists and holds other bytes.
var ErrExists = errors.New("a release of that name exists and differs")

// idPattern is what container names, image names and path components of all consumers accept.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// maxName leaves room for what is added while a release is written: file systems take names of 255 bytes.
const maxName = 200

// Ledger is what a release needs of the store.
type Ledger interface {
	Candidates(ctx context.Context, f store.Filter) ([]store.Candidate, error)
	LatestEvidence(ctx context.Context, candidate, name string) (store.Evidence, bool, error)
	Get(ctx context.Context, digest string) ([]byte, error)
	Put(ctx context.Context, b []byte) (digest string, err error)
	Releases(ctx context.Context) ([]store.Release, error)
	PutRelease(ctx context.Context, r store.Release) error
	Mark(ctx context.Context, name string) (value string, ok bool, err error)
}

// Options choose what is frozen, and how.
type Options struct {
	Store    Ledger
	Name     string            // of the release and of its folder
	Dir      string            // the folder under which the release's folder is made
	Family   string            // one family; a release never mixes them
	Tool     string            // the version of sluice, for the manifest
	Labels   map[string]string // only instances that have each of these labels with that value
	Settings map[string]string // what the run was configured with, for the manifest
	Seeds    map[string]int64  // of everything random, for the manifest
	SWEbench SWEbench
	Clock    func() time.Time // for the store's record of the release alone: no file holds a time
}

// SWEbench are the options of the SWE-bench export.
type SWEbench struct {
	Strings     bool   // test lists as JSON-encoded strings, as older readers expect them
	ImagePrefix string // before the lower-cased instance id in image names; default "sluice/eval."
}

// Freeze writes the release's folder and records the release in the store. A folder of that name with the same bytes is
// left as it is; one with other bytes gives ErrExists. Killed at any instant it leaves no half-written release.
func Freeze(ctx context.Context, o Options) (Manifest, error) {
	if len(o.Name) > maxName {
		return Manifest{}, fmt.Errorf("naming the release: %w: it has more than %d characters", ErrName, maxName)
	}
	if !idPattern.MatchString(o.Name) {
		return Manifest{}, fmt.Errorf("naming the release: %w: %q does not match %s", ErrName, o.Name, idPattern)
	}
	c, err := collect(ctx, o)
	if err != nil {
		return Manifest{}, err
	}
	m, files, err := render(o, c)
	if err != nil {
		return Manifest{}, err
	}
	if err := writeFolder(filepath.Join(o.Dir, o.Name), files); err != nil {
		return Manifest{}, err
	}
	return m, record(ctx, o, c, files[manifestFile])
}

// record leaves the release and its manifest in the store, once.
func record(ctx context.Context, o Options, c *collected, manifest []byte) error {
	digest, err := o.Store.Put(ctx, manifest)
	if err != nil {
		return fmt.Errorf("keeping the manifest: %w", err)
	}
	old, err := o.Store.Releases(ctx)
	if err != nil {
		return fmt.Errorf("reading releases: %w", err)
	}
	for _, r := range old {
		if r.Name != o.Name {
			continue
		}
		if r.Digest != digest {
			return fmt.Errorf("recording release %s: %w: the store knows it as %s", o.Name, ErrExists, r.Digest)
		}
		return nil
	}
	r := store.Release{Name: o.Name, Digest: digest, Created: o.Clock(), Candidates: c.candidates}
	if err := o.Store.PutRelease(ctx, r); err != nil {
		return fmt.Errorf("recording release %s: %w", o.Name, err)
	}
	return nil
}

// collected is what the store holds for a release.
type collected struct {
	all        []store.Candidate   // every candidate of the family, admitted or not
	instances  []pipeline.Instance // by id
	candidates []string            // ids of the candidates behind instances, sorted
	excluded   []Excluded
	calibrated []calibrated // one for each repository of the instances
}

// collect reads the instances of all admitted candidates.
func collect(ctx context.Context, o Options) (*collected, error) {
	all, err := o.Store.Candidates(ctx, store.Filter{Family: o.Family})
	if err != nil {
		return nil, fmt.Errorf("reading candidates: %w", err)
	}
	c := &collected{all: all}
	for _, cand := range all {
		if cand.State != store.Admitted {
			continue
		}
		inst, err := readInstance(ctx, o.Store, cand.ID)
		if err != nil {
			return nil, err
		}
		if why := unlabelled(inst, o.Labels); why != "" {
			c.excluded = append(c.excluded, Excluded{ID: inst.ID, Reason: why})
			continue
		}
		c.instances = append(c.instances, inst)
		c.candidates = append(c.candidates, cand.ID)
	}
	sort.Strings(c.candidates)
	sort.Slice(c.instances, func(i, j int) bool { return c.instances[i].ID < c.instances[j].ID })
	if len(c.instances) == 0 {
		return nil, fmt.Errorf("%w: %d candidates, %d left out by labels", ErrEmpty, len(all), len(c.excluded))
	}
	if c.calibrated, err = calibrations(ctx, o, c.instances); err != nil {
		return nil, err
	}
	return c, checkInstances(c.instances)
}

// readInstance returns the admitted record of one candidate.
func readInstance(ctx context.Context, l Ledger, candidate string) (pipeline.Instance, error) {
	var inst pipeline.Instance
	ev, ok, err := l.LatestEvidence(ctx, candidate, pipeline.InstanceEvidence)
	if err != nil {
		return inst, fmt.Errorf("reading the instance of %s: %w", candidate, err)
	}
	if !ok {
		return inst, fmt.Errorf("reading the instance of %s: it is admitted, but no stage left its record", candidate)
	}
	b, err := l.Get(ctx, ev.Digest)
	if err != nil {
		return inst, fmt.Errorf("reading the instance of %s: %w", candidate, err)
	}
	if err := json.Unmarshal(b, &inst); err != nil {
		return inst, fmt.Errorf("decoding the instance of %s: %w", candidate, err)
	}
	return inst, nil
}

// unlabelled says which wanted label an instance does not have; "" if it has all.
func unlabelled(inst pipeline.Instance, want map[string]string) string {
	for _, k := range sortedKeys(want) {
		if inst.Labels[k] != want[k] {
			return fmt.Sprintf("label %s is %q, not %q", k, inst.Labels[k], want[k])
		}
	}
	return ""
}

// checkInstances refuses records that no consumer could use: such a record is a defect of the stage that wrote it, and
// leaving it out in silence would hide that.
func checkInstances(insts []pipeline.Instance) error {
	seen := map[string]string{}
	for _, inst := range insts {
		low := strings.ToLower(inst.ID)
		switch {
		case !idPattern.MatchString(inst.ID):
			return fmt.Errorf("checking instance ids: %q does not match %s", inst.ID, idPattern)
		case seen[low] != "":
			return fmt.Errorf("checking instance ids: %s and %s are equal without case", seen[low], inst.ID)
		case len(inst.Checks) == 0:
			return fmt.Errorf("checking instance %s: it has no check", inst.ID)
		}
		seen[low] = inst.ID
		for _, c := range inst.Checks {
			if len(c.FailToPass) == 0 {
				return fmt.Errorf("checking instance %s: check %s has no test that must come to pass", inst.ID, c.Name)
			}
		}
	}
	return nil
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
