package node

import (
	"encoding/json"
	"slices"
	"time"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// stepDependencies names the step that installs packages.
const stepDependencies = "dependencies"

// Dated makes npm take no version that was published after a time; see tools.Dater. The other managers have no such option in the
// versions that old states want. What a lock file says is installed whatever the date, if it installs at all. npm takes versions of which
// the registry tells no time: what it chose is looked at afterwards, and Install fails where there are such.
func (Package) Dated(r replay.Recipe, before time.Time) (replay.Recipe, bool) {
	if !byNPM(r) {
		return replay.Recipe{}, false
	}
	day := project.RoundUp(before).Format(project.Day)
	r, n := project.WithEnv(r, map[string]string{"npm_config_before": day}, stepDependencies)
	r.Notes = append(slices.Clone(r.Notes), "what no lock file fixes is as the registry had it before "+day+"")
	return r, n > 0
}

// byNPM reports whether the packages of a recipe are installed by npm.
func byNPM(r replay.Recipe) bool {
	return slices.ContainsFunc(r.Install, func(s replay.Step) bool {
		if s.Name != stepDependencies || len(s.Args) == 0 {
			return false
		}
		var list [][]string
		err := json.Unmarshal([]byte(s.Args[len(s.Args)-1]), &list)
		return err == nil && len(list) > 0 && len(list[0]) > 0 && list[0][0] == "npm"
	})
}
