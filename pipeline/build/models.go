package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
	"sluice/pipeline/setup"
	"sluice/replay"
)

// Models is who judges, and who sets up where heuristics fail.
type Models struct {
	Config     judging.Config
	ReplayOnly bool // nothing is asked: what is not stored ends the run
	Options    judging.Options
}

// settings are what a release's manifest says of models: who judged, with which parameters. Nothing of it names an endpoint or a key.
func (m *Models) settings() any {
	if m == nil {
		return nil
	}
	return m.Config.Public()
}

// askers is how many candidates may wait for models at once. Each asks one question at a time, and between two questions of a
// candidate the store works: measured, four candidates for each question on its way keep an endpoint busy.
func (m *Models) askers() int {
	if m == nil {
		return 0
	}
	return 4 * m.Config.Parallel()
}

// models opens the desk and, where one is wanted, the agent that sets up.
func (c Config) models(ctx context.Context, deps *foresight.Deps, sandbox replay.Opener) error {
	if c.Models == nil {
		return nil
	}
	o := c.Models.Options
	o.ReplayOnly = c.Models.ReplayOnly
	desk, err := judging.Open(ctx, c.Store, c.Models.Config, o)
	if err != nil {
		return err
	}
	deps.Desk = desk
	if err := c.Models.check(foresight.New(*deps, c.Settings)); err != nil {
		return err
	}
	who := c.Models.Config.Agent
	if who.Model == "" {
		return nil
	}
	installer, err := setup.New(setup.Deps{Limits: c.Settings.Limits, Judge: operations(desk), Crew: agents.Crew{
		Sandbox: sandbox, Asker: desk.Asker(), Model: who.Model, Parameters: c.Models.Config.Parameters(who.Model), Limits: who.Limits(),
		Price: c.Models.Config.Price(who.Model), Box: c.Settings.Limits, Clock: c.Clock,
	}})
	if err != nil {
		return err
	}
	deps.Setup = installer
	return nil
}

// check finds what the configuration alone cannot: that somebody judges, and that every budget of a stage names one that there is: a wrong
// name would bound nothing.
func (m *Models) check(f *pipeline.Family) error {
	if len(m.Config.Models) == 0 {
		return fmt.Errorf("%w: the configuration has none: describe one under [[model]]", judging.ErrConfig)
	}
	var names []string
	for _, st := range f.Stages {
		names = append(names, st.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Config.Budget.StageUSD)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%w: budget.stage_usd.%s: there is no such stage; there are %s", judging.ErrConfig, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// operations is the judge of what the agent did; nil where no model is asked in its name.
func operations(desk *judging.Desk) *setup.Judge {
	panel := desk.Panel(judges.OperationCheck)
	if len(panel.Models) == 0 {
		return nil
	}
	return &setup.Judge{Bench: desk.Bench("", ""), Panel: panel, Settings: desk.Settings(judges.OperationCheck)}
}
