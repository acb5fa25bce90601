package pipeline

import (
	"fmt"
	"regexp"
)

// stageName is what stage names, evidence names and reason codes look like: they appear in ids, SQL and documentation.
var stageName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Check verifies the family's graph: names, codes, and that each stage reads only evidence that an earlier one makes.
// A family that fails it does not start.
func (f *Family) Check() error {
	seen := map[string]bool{}
	made := map[string]string{}
	for i := range f.Stages {
		st := &f.Stages[i]
		if seen[st.Name] {
			return fmt.Errorf("family %s: stage %s stands twice", f.Name, st.Name)
		}
		seen[st.Name] = true
		if err := st.check(made); err != nil {
			return fmt.Errorf("family %s: stage %s: %w", f.Name, st.Name, err)
		}
		for _, m := range st.Makes {
			made[m] = st.Name
		}
	}
	return nil
}

func (st *Stage) check(made map[string]string) error {
	if !stageName.MatchString(st.Name) || st.Version < 1 || st.Run == nil {
		return fmt.Errorf("wants a lower-case name, a version from 1 on and a function")
	}
	switch st.Pool {
	case CPU, Git, GitHub, Model, Sandbox:
	default:
		return fmt.Errorf("unknown pool %q", st.Pool)
	}
	for _, r := range st.Reads {
		if made[r] == "" {
			return fmt.Errorf("reads evidence %q that no earlier stage makes", r)
		}
	}
	for _, m := range st.Makes {
		if by := made[m]; by != "" {
			return fmt.Errorf("makes evidence %q that stage %s makes already", m, by)
		}
	}
	return st.checkCodes()
}

func (st *Stage) checkCodes() error {
	seen := map[string]bool{}
	for _, c := range st.Codes {
		if !stageName.MatchString(c.Name) || c.Text == "" || seen[c.Name] {
			return fmt.Errorf("reason code %q is malformed, without a text, or stands twice", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// knows verifies that an outcome uses the stage's own codes.
func (st *Stage) knows(o Outcome) error {
	if o.kind == outcomePass {
		return nil
	}
	if o.kind == outcomeHold && o.Code == BudgetCode {
		return nil
	}
	for _, c := range st.Codes {
		if c.Name == o.Code && c.Hold == (o.kind == outcomeHold) {
			return nil
		}
	}
	return fmt.Errorf("stage %s gave %s with the undeclared code %q", st.Name, o.kind, o.Code)
}

// plan is the digest of all that decides what the stages do, apart from the candidates' own data.
func (f *Family) plan() (string, error) {
	parts := []any{f.Name}
	for _, st := range f.Stages {
		parts = append(parts, st.Name, st.Version, st.Settings)
	}
	return digestJSON(parts...)
}
