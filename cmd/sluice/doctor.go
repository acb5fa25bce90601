package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// checkStatus says how a thing that sluice may need is.
type checkStatus string

// Missing things that are required make doctor fail; warnings do not.
const (
	statusOK      checkStatus = "ok"
	statusMissing checkStatus = "missing"
	statusWarning checkStatus = "warning"
)

// checkup is one thing that doctor looks at.
type checkup struct {
	Type     string      `json:"type"` // "check"
	Name     string      `json:"name"`
	Status   checkStatus `json:"status"`
	Required bool        `json:"required"`
	Detail   string      `json:"detail"`
	Help     string      `json:"help,omitempty"` // what to do, unless it is ok
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check what this machine has of what sluice needs, and say how to get the rest",
		Long: `Check what this machine has of what sluice needs, and say how to get the rest: git, a C compiler, the Docker
engine and the images of toolchains, disk space, and tokens in the environment (whether they are set; never their value).`,
		Example: `  sluice doctor
  sluice doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context())
		},
	}
}

func (a *app) doctor(ctx context.Context) error {
	var checks []checkup
	for _, probe := range []func(context.Context) []checkup{a.probeGit, a.probeCompiler, a.probeDocker, a.probeDisk, a.probeTokens} {
		checks = append(checks, probe(ctx)...)
	}
	a.printChecks(checks)
	var missing []string
	for _, c := range checks {
		if c.Required && c.Status == statusMissing {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		return fail(exitEnvironment, errors.New("missing: "+strings.Join(missing, ", ")), "see the advice above")
	}
	return ctx.Err()
}

func (a *app) printChecks(checks []checkup) {
	if a.opts.json {
		for _, c := range checks {
			c.Type = "check"
			a.emit(c)
		}
		return
	}
	rows := [][]string{{"CHECK", "STATUS", "DETAIL"}}
	var advice []string
	for _, c := range checks {
		rows = append(rows, []string{c.Name, string(c.Status), c.Detail})
		if c.Status != statusOK && c.Help != "" {
			advice = append(advice, c.Name+": "+c.Help)
		}
	}
	a.table(rows)
	for _, line := range advice {
		a.say("\n%s", oneLine(line))
	}
}
