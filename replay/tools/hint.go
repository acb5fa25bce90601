package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sluice/replay"
	"sluice/replay/tools/ci"
	"sluice/replay/tools/debian"
	"sluice/replay/tools/project"
)

// Hinted are recipes with what the tree's continuous integration says about the environment of its tests, read as data, in the order in
// which they are to be tried: with Debian packages and variables only, then with what the recipe's tool can use besides, which is more and may
// fail for more reasons. packages says whether the sandbox can install Debian packages; if not, a note names them. None: the hint
// adds nothing to the recipe. The recipe that was given is not changed.
func Hinted(ctx context.Context, t replay.Tree, r replay.Recipe, packages bool) ([]replay.Recipe, project.Hint, error) {
	scanned, err := project.Scan(ctx, t)
	if err != nil {
		return nil, project.Hint{}, err
	}
	h, err := ci.Read(scanned, r.Root)
	if err != nil {
		return nil, h, fmt.Errorf("reading what continuous integration says: %w", err)
	}
	first, some := surrounded(r, h, packages)
	var out []replay.Recipe
	if some {
		out = append(out, first)
	}
	if a, has := ability[Hinter](r.Runner); has && !h.Empty() {
		more, ok, err := a.Hinted(scanned, first, h)
		if err != nil {
			return nil, h, fmt.Errorf("using what continuous integration says: %w", err)
		}
		if ok {
			out = append(out, more)
		}
	}
	for i := range out {
		for _, s := range h.Unused {
			out[i].Notes = append(slices.Clone(out[i].Notes), "the workflow also wants, and does not get: "+s)
		}
		if out[i], err = Seal(ctx, t, out[i]); err != nil {
			return nil, h, err
		}
	}
	return out, h, nil
}

// surrounded is a recipe with a hint's variables and Debian packages. some is false if they change nothing.
func surrounded(r replay.Recipe, h project.Hint, packages bool) (out replay.Recipe, some bool) {
	r.Env, r.Install, r.Notes = maps.Clone(r.Env), slices.Clone(r.Install), slices.Clone(r.Notes)
	if r.Env == nil {
		r.Env = map[string]string{}
	}
	for k, v := range h.Env {
		if _, has := r.Env[k]; !has {
			r.Env[k], some = v, true
		}
	}
	switch {
	case len(h.Packages) == 0:
	case packages:
		r, some = WithPackages(r, h.Packages), true
	default:
		r.Notes = append(r.Notes, fmt.Sprintf("Debian packages that the workflow installs are left out, as this sandbox installs none: %v", h.Packages))
	}
	return r, some
}

// StepPackages is the name of the step that installs Debian packages.
const StepPackages = debian.Step

// WithPackages is a recipe whose environment has Debian packages, which come before all else: for sandboxes whose environments are
// Debian systems of their own. The names must be such of Debian's policy. It has no fingerprint.
func WithPackages(r replay.Recipe, names []string) replay.Recipe {
	r.Install = append([]replay.Step{debian.Install(names)}, r.Install...)
	r.Fingerprint = ""
	return r
}
