package project

import (
	"maps"
	"slices"
	"time"

	"sluice/replay"
)

// Day is how dates are given to installers: days, of UTC.
const Day = "2006-01-02"

// RoundUp is the first day of the quarter that follows a time: recipes as of a date are few, so that states share environments.
func RoundUp(t time.Time) time.Time {
	year, month, _ := t.UTC().Date()
	return time.Date(year, (month-1)/3*3+4, 1, 0, 0, 0, 0, time.UTC)
}

// WithEnv is a recipe whose Install steps of some names get more variables, and how many steps these are. The recipe that was given
// is not changed.
func WithEnv(r replay.Recipe, more map[string]string, names ...string) (replay.Recipe, int) {
	n := 0
	r.Install = slices.Clone(r.Install)
	for i, s := range r.Install {
		if !slices.Contains(names, s.Name) {
			continue
		}
		env := map[string]string{}
		maps.Copy(env, s.Env)
		maps.Copy(env, more)
		r.Install[i].Env = env
		n++
	}
	return r, n
}
