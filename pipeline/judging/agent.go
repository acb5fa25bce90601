package judging

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/judges/agent"
	"sluice/judges/model"
)

// Agent says which model sets environments up, and how much one session may use. Limits that are not given are not set, but for turns.
type Agent struct {
	Model  string        `toml:"model"` // the configured name; "": there is no agent
	Turns  int           `toml:"turns"` // questions; 0: 40
	Tokens int64         `toml:"tokens"`
	USD    USD           `toml:"usd"`
	Time   time.Duration `toml:"time"` // of thinking and of commands together
}

func (a Agent) check(models map[string]bool) (faults []error) {
	if a.Model != "" && !models[a.Model] {
		faults = append(faults, fmt.Errorf("agent.model: there is no model %q", a.Model))
	}
	if a.Model == "" && a != (Agent{}) {
		faults = append(faults, errors.New("agent.model: is missing; without one there is no agent to limit"))
	}
	if a.Turns < 0 || a.Tokens < 0 || a.Time < 0 {
		faults = append(faults, errors.New("agent: turns, tokens and time may not be negative"))
	}
	if a.Time > 0 && a.Time < time.Millisecond { // a number without a unit, which TOML's reader takes for nanoseconds
		faults = append(faults, fmt.Errorf(`agent.time: %v is too short for anything; write it with its unit, like "30m"`, a.Time))
	}
	return faults
}

// Limits are those of one session.
func (a Agent) Limits() agent.Limits {
	return agent.Limits{Turns: a.Turns, Tokens: a.Tokens, MicroUSD: int64(a.USD), Time: a.Time}
}

// Price is what a use of a configured model costs, in millionths of a dollar.
func (c Config) Price(name string) func(model.Usage) int64 {
	m, ok := c.model(name)
	if !ok {
		return func(model.Usage) int64 { return 0 }
	}
	return m.Cost
}

// Parameters are those of a configured model; zero for one that is not there. A configuration that passed its check has no others.
func (c Config) Parameters(name string) model.Parameters {
	m, ok := c.model(name)
	if !ok {
		return model.Parameters{}
	}
	p, err := m.Parameters()
	if err != nil {
		return model.Parameters{}
	}
	return p
}

func (c Config) model(name string) (model.Spec, bool) {
	i := slices.IndexFunc(c.Models, func(m model.Spec) bool { return m.Name == name })
	if i < 0 {
		return model.Spec{}, false
	}
	return c.Models[i], true
}
