// Package debian is the step of an environment that installs Debian's packages, for all tools that know which ones a project needs.
//
// It installs where the environment is a Debian system of its own; elsewhere the machine's libraries must do, as the log says. It
// knows no package, and never names a mirror: that is the sandbox's to say.
package debian

import (
	_ "embed" // the program

	"sluice/replay"
)

//go:embed install.sh
var script string

// Step is the name of the step.
const Step = "system packages"

// Install is the step for packages, whose names must be such of Debian's policy.
func Install(names []string) replay.Step {
	return replay.Step{Name: Step, Args: append([]string{"sh", "-c", script, "sh"}, names...), MustPass: true}
}
