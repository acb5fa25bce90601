package build

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/pipeline"
	"sluice/store"
)

// settingsMark names the mark that holds the settings under which a repository was last built.
func settingsMark(family, repo string) string { return "settings:" + family + ":" + repo }

// keepSettings leaves in the store what the candidates of a repository were built with, for the manifest of a release.
func (c Config) keepSettings(ctx context.Context, repo string) error {
	b, err := json.Marshal(struct {
		Since, Until      string
		Repeats, MaxFiles int
		AllRuns           bool
		Judge             string
		IgnoreRevs        []string `json:",omitempty"`
		Sandbox, Image    string
		Walls             any `json:",omitempty"`
		Limits            any
		Models            any `json:",omitempty"`
	}{
		day(c.Settings.Since), day(c.Settings.Until), c.Settings.Repeats, c.Settings.MaxFiles, c.Settings.AllRuns,
		string(c.Settings.Judge), c.Settings.IgnoreRevs, c.Sandbox.Kind, c.Sandbox.Image, c.Sandbox.walls(), c.Settings.Limits,
		c.Models.settings(),
	})
	if err != nil {
		return fmt.Errorf("encoding the settings: %w", err)
	}
	return c.Store.PutMark(ctx, settingsMark(c.Family, repo), string(b))
}

// StoredSettings returns, by repository, the settings under which a family was last built.
func StoredSettings(ctx context.Context, s *store.Store, family string) (map[string]string, error) {
	if !slices.ContainsFunc(Families(), func(f *pipeline.Family) bool { return f.Name == family }) {
		return nil, fmt.Errorf("%w %q: this version knows %s", ErrUnknownFamily, family, FamilyNames())
	}
	all, err := s.Candidates(ctx, store.Filter{Family: family})
	if err != nil {
		return nil, fmt.Errorf("listing candidates: %w", err)
	}
	out := map[string]string{}
	for _, c := range all {
		if _, ok := out[c.Repo]; ok {
			continue
		}
		v, _, err := s.Mark(ctx, settingsMark(family, c.Repo))
		if err != nil {
			return nil, fmt.Errorf("reading the settings of %s: %w", c.Repo, err)
		}
		out[c.Repo] = v
	}
	return out, nil
}
