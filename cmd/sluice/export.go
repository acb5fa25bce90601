package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/build"
	"sluice/pipeline/release"
	"sluice/store"
)

// exportOptions are the flags of export.
type exportOptions struct {
	name, dir, family string
	achievable        string
	labels            map[string]string
	strings           bool
}

func newExport(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export --name NAME",
		Short: "Freeze the admitted instances as a release",
		Long: `Freeze the admitted instances of a family as a release: a folder with instances.jsonl (everything, sealed),
tasks.jsonl (what an agent may see), swebench.jsonl, a manifest with the digest of each file, and a data-set card.

The same store gives the same bytes. A release of that name with other bytes is never overwritten.`,
		Example: `  sluice export --name ledger-2026-01
  sluice export --name ledger-proven --achievable proven --dir releases`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.export(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the release and of its folder")
	f.StringVar(&o.dir, "dir", "releases", "folder that holds releases")
	f.StringVar(&o.family, "family", "foresight", "kind of benchmark: "+build.FamilyNames())
	f.StringVar(&o.achievable, "achievable", "any", "proven keeps only instances whose anticipation tests a known patch passes; any keeps all")
	f.StringToStringVar(&o.labels, "label", nil, "keep only instances with this label, name=value; may be repeated")
	f.BoolVar(&o.strings, "string-lists", false, "write test lists of swebench.jsonl as JSON-encoded strings, as older readers expect")
	_ = cmd.MarkFlagRequired("name")
	return cmd
}

func (a *app) export(ctx context.Context, o exportOptions) error {
	labels := maps.Clone(o.labels)
	if labels == nil {
		labels = map[string]string{}
	}
	switch o.achievable {
	case "any":
	case "proven":
		labels["achievable"] = "proven"
	default:
		return fail(exitUsage, fmt.Errorf("--achievable %q: give proven or any", o.achievable), "")
	}
	return a.withStore(ctx, func(s *store.Store) error {
		settings, err := build.StoredSettings(ctx, s, o.family)
		if err != nil {
			return err
		}
		m, err := release.Freeze(ctx, release.Options{
			Store: s, Name: o.name, Dir: o.dir, Family: o.family, Tool: readVersion().Version, Labels: labels, Settings: settings,
			SWEbench: release.SWEbench{Strings: o.strings}, Clock: a.clock,
		})
		if err != nil {
			return unwritable(err, "--dir")
		}
		return a.printExport(filepath.Join(o.dir, o.name), m)
	})
}

func (a *app) printExport(dir string, m release.Manifest) error {
	if a.opts.json {
		a.emit(struct {
			Type string `json:"type"`
			Dir  string `json:"dir"`
			release.Manifest
		}{"release", dir, m})
	} else {
		a.say("%s: %d of %d admitted instances (%d candidates) in %s", m.Name, m.Counts.Instances, m.Counts.Admitted, m.Counts.Candidates, dir)
		for _, f := range m.Files {
			a.say("  %s  %s, %d lines", f.SHA256[:12], f.Name, f.Lines)
		}
		if len(m.Excluded) > 0 {
			a.say("left out: %s", strings.Join(reasons(m.Excluded), "; "))
		}
	}
	if m.Counts.Instances == 0 {
		return fail(exitNothing, errors.New("no instance is in the release"), "see sluice status, and sluice list --held")
	}
	return nil
}

// reasons counts why instances were left out.
func reasons(ex []release.Excluded) []string {
	count := map[string]int{}
	for _, e := range ex {
		count[strings.TrimSpace(e.File+" "+e.Reason)]++
	}
	var out []string
	for _, r := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprintf("%d × %s", count[r], r))
	}
	return out
}
