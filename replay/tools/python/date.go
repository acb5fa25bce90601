package python

import (
	"slices"
	"time"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Dated makes uv, or where there is none pip, take no version that was published after a time; see tools.Dater. An index is never asked for a
// day before packages came to be built for the recipe's Python. False: the recipe asks no index.
func (Project) Dated(r replay.Recipe, before time.Time) (replay.Recipe, bool) {
	i, ok := interpreterOf(r)
	if !ok {
		return replay.Recipe{}, false
	}
	if before.Before(i.since) {
		before = i.since.Add(-time.Second) // rounded up, it is that day
	}
	on := project.RoundUp(before).Format(project.Day)
	r, n := project.WithEnv(r, map[string]string{"UV_EXCLUDE_NEWER": on}, stepBuildNeeds, stepNeeds, stepTold, stepComputed)
	r.Notes = append(slices.Clone(r.Notes), "what is installed was published before "+on)
	return r, n > 0
}

// interpreterOf tells which of the interpreters a recipe of ours asks for.
func interpreterOf(r replay.Recipe) (interpreter, bool) {
	for _, s := range r.Install {
		for _, i := range interpreters {
			if s.Name == stepVenv && slices.Contains(s.Args, "python"+i.version.String()) {
				return i, true
			}
		}
	}
	return interpreter{}, false
}
