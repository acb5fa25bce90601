package tools

import (
	"context"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/debian"
	"sluice/replay/tools/project"
)

// Told is a recipe with what a try of it said is missing: Debian packages, by the words of compilers, linkers and shells, and what the
// recipe's tool knows of. packages says whether the sandbox can install Debian packages. It is a function of its arguments; names are taken
// from closed tables, never from the output. False: nothing that is known is missing, or the recipe has it already. The recipe that was given
// is not changed.
func Told(ctx context.Context, t replay.Tree, r replay.Recipe, f project.Failure, packages bool) (replay.Recipe, bool, error) {
	changed := false
	if packages {
		if names := lacking(r, debian.Missing(f.Output)); len(names) > 0 {
			r, changed = WithPackages(r, names), true
			r.Notes = append(slices.Clone(r.Notes), "a try without these Debian packages failed, and named what they have: "+strings.Join(names, ", "))
		}
	}
	if a, ok := ability[Teller](r.Runner); ok {
		scanned, err := project.Scan(ctx, t)
		if err != nil {
			return replay.Recipe{}, false, err
		}
		if changed { // a project that lacks a program may build with it: that comes first
			f.Build, f.Step = false, ""
		}
		told, more, err := a.Told(scanned, r, f)
		if err != nil {
			return replay.Recipe{}, false, err
		}
		if more {
			r, changed = told, true
		}
	}
	if !changed {
		return replay.Recipe{}, false, nil
	}
	r, err := Seal(ctx, t, r)
	return r, err == nil, err
}

// lacking are those of a list of packages that a recipe does not install.
func lacking(r replay.Recipe, names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(r.Install, func(s replay.Step) bool { return s.Name == StepPackages && slices.Contains(s.Args, name) })
	})
}
