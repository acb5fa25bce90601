package calibration

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline/judging"
	"sluice/store"
)

// schema names the form of what is kept.
const schema = "sluice.calibration/1"

// Kept is the last calibration of a repository, as the store holds it.
type Kept struct {
	Family string      `json:"family"`
	Schema string      `json:"schema"`
	Repo   string      `json:"repo"`
	Judges []KeptJudge `json:"judges"`
	Stale  int         `json:"-"` // chains whose link was found anew since
}

// KeptJudge is one judge's part.
type KeptJudge struct {
	Judge  string  `json:"judge"`
	Maker  *Maker  `json:"maker,omitempty"`
	Chains []Chain `json:"chains"`
}

// Of returns the part of a judge.
func (k Kept) Of(judge string) (KeptJudge, bool) {
	i := slices.IndexFunc(k.Judges, func(j KeptJudge) bool { return j.Judge == judge })
	if i < 0 {
		return KeptJudge{}, false
	}
	return k.Judges[i], true
}

// Maker says whose rulings a table was made of: two rulings are comparable when their makers are equal.
type Maker struct {
	Prompt  string          `json:"prompt"`
	Version int             `json:"version"`
	Voters  []string        `json:"voters"` // model and sample of each vote, sorted
	Rule    judges.Rule     `json:"rule"`
	Models  json.RawMessage `json:"models,omitempty"` // the parameters of the panel's models, by name
}

// Voters are the members that gave the votes of a ruling, sorted.
func Voters(r judges.Ruling) []string {
	out := []string{}
	for _, v := range r.Votes {
		out = append(out, fmt.Sprintf("%s/%d", v.Model, v.Sample))
	}
	slices.Sort(out)
	return out
}

// Made reports whether a ruling is the same judge's, as far as a ruling tells.
func (m Maker) Made(r judges.Ruling) bool {
	return m.Prompt == r.Prompt && m.Version == r.Version && slices.Equal(m.Voters, Voters(r))
}

// Configured reports whether a configuration, as others may know it, asks the same models with the same parameters under the same rule.
func (m Maker) Configured(public []byte) bool {
	var c struct{ Panels map[string]judges.Panel }
	if json.Unmarshal(public, &c) != nil {
		return false
	}
	panel, ok := c.Panels[judges.Attribution]
	if !ok {
		panel = c.Panels[judging.DefaultPanel]
	}
	parameters, known := Parameters(public, panel.Models)
	return known && cmp.Or(panel.Rule, judges.All) == m.Rule && bytes.Equal(parameters, m.Models)
}

// String names the models for people.
func (m Maker) String() string {
	samples := map[string]int{}
	for _, v := range m.Voters {
		name, _, _ := strings.Cut(v, "/")
		samples[name]++
	}
	var parts []string
	for _, name := range sortedKeys(samples) {
		if n := samples[name]; n > 1 {
			name = fmt.Sprintf("%s × %d", name, n)
		}
		parts = append(parts, name)
	}
	return fmt.Sprintf("%s, rule %s, %s version %d", strings.Join(parts, ", "), m.Rule, m.Prompt, m.Version)
}

// NewMaker says who gave a ruling that a desk's panel made.
func NewMaker(r judges.Ruling, d *judging.Desk) *Maker {
	panel := d.Panel(r.Judge)
	m := &Maker{Prompt: r.Prompt, Version: r.Version, Voters: Voters(r), Rule: cmp.Or(panel.Rule, judges.All)}
	if b, err := json.Marshal(d.Public()); err == nil {
		m.Models, _ = Parameters(b, panel.Models)
	}
	return m
}

// Parameters picks those of some models out of what others may know of a configuration; ok is false when one is not there. Equal
// parameters give equal bytes.
func Parameters(public []byte, models []string) (json.RawMessage, bool) {
	var p struct{ Models map[string]any }
	if json.Unmarshal(public, &p) != nil {
		return nil, false
	}
	out := map[string]any{}
	for _, name := range models {
		parameters, ok := p.Models[name]
		if !ok {
			return nil, false
		}
		out[name] = parameters
	}
	b, err := json.Marshal(out)
	return b, err == nil
}

// EvidenceLink names the evidence that chains are read from.
const EvidenceLink = "link"

// markOf names the mark that holds the digest of a repository's last calibration.
func markOf(family, repo string) string { return "calibration:" + family + ":" + repo }

// Ledger is what Load needs of a store.
type Ledger interface {
	LatestEvidence(ctx context.Context, candidate, name string) (store.Evidence, bool, error)
	Get(ctx context.Context, digest string) ([]byte, error)
	Mark(ctx context.Context, name string) (value string, ok bool, err error)
}

// Keep leaves what was measured of a repository in the store. The part of a judge that is not measured again stays.
func Keep(ctx context.Context, s *store.Store, k Kept) error {
	if err := put(ctx, s, k); err != nil {
		return fmt.Errorf("keeping the calibration of %s: %w", k.Repo, err)
	}
	return nil
}

func put(ctx context.Context, s *store.Store, k Kept) error {
	k.Schema = schema
	old, _, err := load(ctx, s, k.Family, k.Repo)
	if err != nil {
		return err
	}
	for _, j := range old.Judges {
		if _, again := k.Of(j.Judge); !again {
			k.Judges = append(k.Judges, j)
		}
	}
	slices.SortFunc(k.Judges, func(a, b KeptJudge) int { return cmp.Compare(a.Judge, b.Judge) })
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	digest, err := s.Put(ctx, b)
	if err != nil {
		return err
	}
	return s.PutMark(ctx, markOf(k.Family, k.Repo), digest)
}

// Load returns the last calibration of a repository; ok is false when there is none.
func Load(ctx context.Context, l Ledger, family, repo string) (k Kept, ok bool, err error) {
	if k, ok, err = load(ctx, l, family, repo); err == nil {
		k.Stale, err = k.stale(ctx, l)
	}
	if err != nil {
		return k, false, fmt.Errorf("reading the calibration of %s: %w", repo, err)
	}
	return k, ok, nil
}

// stale counts the candidates whose link is another one now.
func (k Kept) stale(ctx context.Context, l Ledger) (int, error) {
	changed := map[string]bool{} // by candidate
	for _, j := range k.Judges {
		for _, c := range j.Chains {
			if _, seen := changed[c.Candidate]; seen {
				continue
			}
			e, _, err := l.LatestEvidence(ctx, c.Candidate, EvidenceLink)
			if err != nil {
				return 0, err
			}
			changed[c.Candidate] = e.Digest != c.Link
		}
	}
	n := 0
	for _, is := range changed {
		if is {
			n++
		}
	}
	return n, nil
}

func load(ctx context.Context, l Ledger, family, repo string) (k Kept, ok bool, err error) {
	digest, ok, err := l.Mark(ctx, markOf(family, repo))
	if err != nil || !ok {
		return k, false, err
	}
	b, err := l.Get(ctx, digest)
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err == nil && k.Schema != schema {
		return Kept{}, false, nil // another version wrote it: it is measured again
	}
	return k, err == nil, err
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
