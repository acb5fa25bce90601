package cargo

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Dated makes cargo take no version that was published after a time; see tools.Dater. False: the tree has a lock file, or its
// dependencies in it. The registry says when versions were published since the end of 2025, of the older ones too. That cargo reads it is
// unstable, and older releases cannot: it is asked for with RUSTC_BOOTSTRAP=1 while versions are chosen, and nowhere else.
// The compiler stays that of the day of the installation.
func (Tool) Dated(r replay.Recipe, before time.Time) (replay.Recipe, bool) {
	i := slices.IndexFunc(r.Install, func(s replay.Step) bool { return s.Name == stepDependencies })
	if i < 0 || len(r.Install[i].Args) < installArgs {
		return replay.Recipe{}, false
	}
	var what stubbed
	if err := json.Unmarshal([]byte(strings.Join(r.Install[i].Args[installArgs:], "")), &what); err != nil || what.Locked {
		return replay.Recipe{}, false
	}
	day := project.RoundUp(before).Format(project.Day)
	r, n := project.WithEnv(r, map[string]string{"SLUICE_BEFORE": day}, stepDependencies)
	r.Notes = append(slices.Clone(r.Notes), "what the registry gives was published before "+day)
	return r, n > 0
}
