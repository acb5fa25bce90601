// Package debian knows which of Debian's packages have what projects ask for by other names, and is the step of an environment that installs
// packages, for all tools.
//
// It installs where the environment is a Debian system of its own; elsewhere the machine's libraries must do, as the log says. It
// never names a mirror: that is the sandbox's to say.
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
