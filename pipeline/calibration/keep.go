package calibration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
)

// schema names the form of what is kept.
const schema = "sluice.calibration/1"

// Kept is the last calibration of a repository, as the store holds it.
type Kept struct {
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

func makerOf(r judges.Ruling, d *judging.Desk) *Maker {
	panel := d.Panel(judges.Attribution)
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

// markOf names the mark that holds the digest of a repository's last calibration.
func markOf(repo string) string { return "calibration:" + foresight.Name + ":" + repo }

// keep leaves what was measured of each repository in the store. A run without models leaves an older panel's part alone.
func keep(ctx context.Context, c Config, all []Judged) error {
	byRepo := map[string]*Kept{}
	for _, j := range all {
		for _, chain := range j.Chains {
			k := byRepo[chain.Repo]
			if k == nil {
				k = &Kept{Schema: schema, Repo: chain.Repo}
				byRepo[chain.Repo] = k
			}
			if n := len(k.Judges); n == 0 || k.Judges[n-1].Judge != j.Judge {
				k.Judges = append(k.Judges, KeptJudge{Judge: j.Judge, Maker: j.Maker})
			}
			last := &k.Judges[len(k.Judges)-1]
			last.Chains = append(last.Chains, chain)
		}
	}
	for _, repo := range sortedKeys(byRepo) {
		if err := put(ctx, c, *byRepo[repo]); err != nil {
			return fmt.Errorf("keeping the calibration of %s: %w", repo, err)
		}
	}
	return nil
}

func put(ctx context.Context, c Config, k Kept) error {
	old, _, err := load(ctx, c.Store, k.Repo)
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
	digest, err := c.Store.Put(ctx, b)
	if err != nil {
		return err
	}
	return c.Store.PutMark(ctx, markOf(k.Repo), digest)
}

// Ledger is what Load needs of a store.
type Ledger interface {
	foresight.Ledger
	Mark(ctx context.Context, name string) (value string, ok bool, err error)
}

// Load returns the last calibration of a repository; ok is false when there is none.
func Load(ctx context.Context, l Ledger, repo string) (k Kept, ok bool, err error) {
	k, ok, err = load(ctx, l, repo)
	if err != nil {
		return k, false, fmt.Errorf("reading the calibration of %s: %w", repo, err)
	}
	seen := map[string]bool{}
	for _, j := range k.Judges {
		for _, c := range j.Chains {
			digest, err := foresight.LinkDigest(ctx, l, c.Candidate)
			if err != nil {
				return k, false, fmt.Errorf("reading the calibration of %s: %w", repo, err)
			}
			if digest != c.Link && !seen[c.Candidate] {
				seen[c.Candidate] = true
				k.Stale++
			}
		}
	}
	return k, ok, nil
}

func load(ctx context.Context, l Ledger, repo string) (k Kept, ok bool, err error) {
	digest, ok, err := l.Mark(ctx, markOf(repo))
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

// lineBytes bounds what is kept of an error.
const lineBytes = 300

func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) > lineBytes {
		s = strings.ToValidUTF8(s[:lineBytes], "") + "…"
	}
	return s
}
