package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// DefaultCPUs is how many cores a job gets that asks for none: one, on any machine and beside any number of other jobs. What tests do may
// depend on it, so that it must not depend on where they run; and jobs that run side by side do not take it from each other.
const DefaultCPUs = 1

// Conditions are what the outcomes of a job may depend on beside its tree, recipe and steps: what a sandbox pins, and what it can only tell.
type Conditions struct {
	Sandbox  string  `json:"sandbox"`
	Image    string  `json:"image"` // docker: the digest of the environment's image; local: the name of its folder
	Kernel   string  `json:"kernel,omitempty"`
	Cores    int     `json:"cores,omitempty"` // of the machine: what code sees that looks there
	CPUs     float64 `json:"cpus"`            // of which the job gets the time of so many: what code sees that asks its control group, or Cores
	Memory   int64   `json:"memory"`          // bytes
	TZ       string  `json:"tz"`
	Lang     string  `json:"lang"`      // LC_ALL, or else LANG
	HashSeed string  `json:"hash_seed"` // Python's
	Clock    string  `json:"clock"`     // "machine", or "ahead" with how much
	Walls    *Walls  `json:"walls,omitempty"`
}

// CoreVars are the variables by which tools learn how many cores they have, where they do not ask the control group: a limit of time does not
// change what /proc says. It is CPUs rounded up. nproc and OpenMP read OMP_NUM_THREADS; Python reads its variable from 3.13 on.
func (l Limits) CoreVars() map[string]string {
	vars := map[string]string{}
	n := strconv.Itoa(int(math.Ceil(max(l.CPUs, 1))))
	for _, name := range []string{"GOMAXPROCS", "OMP_NUM_THREADS", "PYTHON_CPU_COUNT", "RAYON_NUM_THREADS"} {
		vars[name] = n
	}
	return vars
}

// ClockVars set the clock of programs that go by the C library ahead, where libfaketime is installed as Debian does. For others nothing
// changes: only a canary in the same job can tell. Monotonic clocks stay, since time-outs are not meant.
func ClockVars(ahead time.Duration) map[string]string {
	if ahead == 0 {
		return nil
	}
	return map[string]string{
		"LD_PRELOAD": "/usr/$LIB/faketime/libfaketimeMT.so.1", // the dynamic linker knows what $LIB is
		"FAKETIME":   fmt.Sprintf("%+d", int64(ahead/time.Second)), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
	}
}

// TrueClock are the variables of a step that has the machine's clock in a job that is ahead.
func TrueClock() map[string]string { return map[string]string{"LD_PRELOAD": "", "FAKETIME": "+0"} }

// Conditions are those of a job: the limits that hold, and the variables that its steps have.
func (j Job) Conditions(w Walls, l Limits, vars []string) Conditions {
	c := Conditions{Sandbox: w.Sandbox, Image: j.Env.ID, CPUs: l.CPUs, Memory: l.Memory, Clock: "machine", Walls: &w}
	if j.Env.Digest != "" {
		c.Image = j.Env.Digest
	}
	if j.Ahead != 0 {
		c.Clock = "ahead " + j.Ahead.String()
	}
	all := map[string]string{}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	c.TZ, c.Lang, c.HashSeed = all["TZ"], all["LANG"], all["PYTHONHASHSEED"]
	if lc := all["LC_ALL"]; lc != "" {
		c.Lang = lc
	}
	return c
}
