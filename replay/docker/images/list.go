package images

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"sluice/replay/docker"
)

// Kind says what an image is.
type Kind string

// The kinds. A state is kept by a run for repeats of its jobs. An unnamed image lost its name to a newer one.
const (
	KindToolchain   Kind = "toolchain"
	KindEnvironment Kind = "environment"
	KindState       Kind = "state"
	KindUnnamed     Kind = "unnamed"
)

// Image is an image of ours in the engine.
type Image struct {
	Name    string    `json:"image"` // "" for an unnamed one
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Size    int64     `json:"size"` // bytes, with everything that it is built on
	Own     int64     `json:"own"`  // bytes that no other image of ours below it has
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`            // when it was last made, found or taken for a job, as far as the engine knows
	InUse   bool      `json:"in_use"`          // a container is made of it
	Stale   bool      `json:"stale,omitempty"` // a toolchain that sluice images build would make anew
	Run     string    `json:"run,omitempty"`   // the run that added it: one process's work in one sandbox
	layers  []string
	foreign bool // somebody gave it a name of his own
}

// ours reports whether a name is one that sluice gives.
func ours(name string) bool { return strings.HasPrefix(name, "sluice/") }

// List returns our images: toolchains in the order of the table, then environments and unnamed ones, the last used first.
func (e *Engine) List(ctx context.Context) ([]Image, error) {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", docker.LabelOurs+"=1"))})
	if err != nil {
		return nil, fmt.Errorf("listing images: %w", err)
	}
	used, err := e.used(ctx)
	if err != nil {
		return nil, err
	}
	var out []Image
	bases := map[string]bool{}
	for _, s := range all {
		i, err := e.look(ctx, s.ID)
		if cerrdefs.IsNotFound(err) { // removed since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at an image: %w", err)
		}
		i.InUse = used[i.ID]
		out = append(out, i)
		bases[s.Labels[docker.LabelBase]] = true
	}
	out = append(out, e.strangers(ctx, out)...)
	own(out, e.others(ctx, out, bases))
	freshen(out)
	slices.SortFunc(out, func(a, b Image) int {
		if c := rank(a) - rank(b); c != 0 {
			return c
		}
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, nil
}

func rank(i Image) int {
	for n, t := range toolchains {
		if i.Name == t.Image() {
			return n
		}
	}
	return len(toolchains)
}

// strangers are images that have a toolchain's name and not our label. They are shown, and never removed.
func (e *Engine) strangers(ctx context.Context, list []Image) (out []Image) {
	for _, t := range toolchains {
		if slices.ContainsFunc(list, func(i Image) bool { return i.Name == t.Image() }) {
			continue
		}
		if i, err := e.look(ctx, t.Image()); err == nil {
			i.foreign = true
			out = append(out, i)
		}
	}
	return out
}

// used are the ids of images that containers are made of.
func (e *Engine) used(ctx context.Context) (map[string]bool, error) {
	all, err := e.api.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		return nil, fmt.Errorf("listing containers: %w", err)
	}
	ids := map[string]bool{}
	for _, c := range all {
		ids[c.ImageID] = true
	}
	return ids, nil
}

// look asks for one image.
func (e *Engine) look(ctx context.Context, ref string) (Image, error) {
	in, err := e.api.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, err
	}
	i := Image{ID: in.ID, Size: in.Size, Kind: KindUnnamed, layers: in.RootFS.Layers}
	i.Created, _ = time.Parse(time.RFC3339Nano, in.Created) // zero where the engine does not say
	i.Used = i.Created
	if in.Metadata.LastTagTime.After(i.Used) {
		i.Used = in.Metadata.LastTagTime
	}
	var labels map[string]string
	if in.Config != nil {
		labels = in.Config.Labels
	}
	for _, name := range in.RepoTags {
		if !ours(name) {
			i.foreign = true
			continue
		}
		i.Name = name
	}
	switch {
	case i.Name == "" && labels[docker.LabelState] != "":
		i.Kind, i.Run = KindState, labels[docker.LabelRun]
	case i.Name == "":
		i.Run = labels[docker.LabelRun]
	case labels[docker.LabelEnv] != "":
		i.Kind, i.Run = KindEnvironment, labels[docker.LabelRun]
	default:
		i.Kind = KindToolchain
		i.Stale = !slices.ContainsFunc(toolchains, func(t Toolchain) bool {
			return t.Image() == i.Name && t.digest() == labels[docker.LabelMade]
		})
	}
	return i, nil
}

// others are images that ours are built on and that are not ours.
func (e *Engine) others(ctx context.Context, list []Image, bases map[string]bool) []Image {
	var out []Image
	for id := range bases {
		if id == "" || slices.ContainsFunc(list, func(i Image) bool { return i.ID == id }) {
			continue
		}
		if i, err := e.look(ctx, id); err == nil { // gone: its bytes count as those of what was built on it
			out = append(out, i)
		}
	}
	return out
}

// on reports whether image a is built on b.
func on(a, b Image) bool {
	return len(b.layers) > 0 && len(a.layers) > len(b.layers) && slices.Equal(a.layers[:len(b.layers)], b.layers)
}

// below returns the nearest image in the list that i is built on, or nil.
func below(i Image, list []Image) *Image {
	var best *Image
	for n := range list {
		if on(i, list[n]) && (best == nil || len(list[n].layers) > len(best.layers)) {
			best = &list[n]
		}
	}
	return best
}

// own fills in what each image has that those below it have not. Two images of the same layers count once.
func own(list, others []Image) {
	all := slices.Concat(list, others)
	for n := range list {
		list[n].Own = list[n].Size
		if b := below(list[n], all); b != nil {
			list[n].Own = max(0, list[n].Size-b.Size)
		}
		for _, earlier := range list[:n] {
			if slices.Equal(earlier.layers, list[n].layers) {
				list[n].Own = 0
			}
		}
	}
}

// freshen marks as stale the layers on a base that has been made anew since, and lets a use of an image count as one of everything
// that it is built on.
func freshen(list []Image) {
	for n := range list {
		i := &list[n]
		for _, t := range toolchains {
			if t.Image() != i.Name || t.From == "" {
				continue
			}
			k := slices.IndexFunc(list, func(b Image) bool { return b.Name == Toolchain{Name: t.From, Suite: t.Suite}.Image() })
			i.Stale = i.Stale || k < 0 || list[k].Stale || !on(*i, list[k])
		}
		for _, above := range list {
			if on(above, *i) && above.Used.After(i.Used) {
				i.Used = above.Used
			}
		}
	}
}

// Total is the bytes that images take of the engine's disk together.
func Total(list []Image) (n int64) {
	for _, i := range list {
		n += i.Own
	}
	return n
}

// Missing are the toolchains that are not there, or that would be made anew.
func Missing(list []Image) (out []Toolchain) {
	for _, t := range toolchains {
		if !slices.ContainsFunc(list, func(i Image) bool { return i.Name == t.Image() && !i.Stale }) {
			out = append(out, t)
		}
	}
	return out
}
