package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
)

// Policy says what may go.
type Policy struct {
	// Older removes what was last used longer ago than this; 0: age alone removes nothing.
	Older time.Duration
	// High and Low are water marks in bytes: once our images take more than High, those used longest ago go until they take no more than
	// Low. High 0: there is no mark.
	High, Low int64
	// Keep is how recently used an image must be to stay whatever the marks say: a run may be about to take it.
	Keep time.Duration
	// Run removes what one run added, whatever its age and the marks, and nothing else; "" is every run's. Keep does not count then.
	Run string
}

// Plan lists what a policy removes, in the order in which it can go: what is built on an image goes before it. Toolchains that are
// up to date stay, and so does everything that is in use, that somebody else named, or that something is built on that stays.
func Plan(list []Image, p Policy, now time.Time) []Image {
	order := slices.DeleteFunc(slices.Clone(list), func(i Image) bool { return p.held(i, list, now) })
	slices.SortStableFunc(order, func(a, b Image) int {
		if a.Kind != b.Kind && (a.Kind == KindState || b.Kind == KindState) { // a state only saves time
			return cmp.Compare(b.kept(), a.kept())
		}
		if c := a.Used.Compare(b.Used); c != 0 {
			return c
		}
		return len(b.layers) - len(a.layers) // never used before what is built on it: see freshen
	})
	total := Total(list)
	low := p.Low
	if p.High == 0 || total <= p.High {
		low = total
	}
	var out []Image
	for _, i := range order {
		old := p.Older > 0 && i.Used.Before(now.Add(-p.Older))
		if old || total > low || p.Run != "" {
			out = append(out, i)
			total -= i.Own
		}
	}
	return out
}

func (i Image) kept() int {
	if i.Kind == KindState {
		return 1
	}
	return 0
}

// held reports whether an image stays whatever the marks say.
func (p Policy) held(i Image, list []Image, now time.Time) bool {
	stays := func(i Image) bool {
		kept := i.Kind != KindState && !i.Used.Before(now.Add(-p.Keep))
		if p.Run != "" {
			kept = i.Run != p.Run
		}
		return i.InUse || i.foreign || kept || i.Kind == KindToolchain && !i.Stale
	}
	return stays(i) || slices.ContainsFunc(list, func(a Image) bool { return on(a, i) && stays(a) })
}

// Remove removes the images of a plan. One that came into use since, or is gone already, is left alone and not in the result.
func (e *Engine) Remove(ctx context.Context, plan []Image) (removed []Image, err error) {
	for _, i := range plan {
		ref := i.Name
		if ref == "" {
			ref = i.ID
		}
		// The name may be another image's by now, which was made or used since.
		if now, lerr := e.look(ctx, ref); lerr != nil || now.ID != i.ID || now.Used.After(i.Used) {
			continue
		}
		_, rerr := e.api.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
		switch {
		case rerr == nil:
			removed = append(removed, i)
		case cerrdefs.IsNotFound(rerr), cerrdefs.IsConflict(rerr):
		default:
			err = errors.Join(err, fmt.Errorf("removing %s: %w", ref, rerr))
		}
		if ctx.Err() != nil {
			return removed, errors.Join(err, ctx.Err())
		}
	}
	return removed, err
}
