package sandboxtest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/replay"
)

// conditionChecks are about what is pinned, and what a run's record says of it.
func conditionChecks() []check {
	return []check{
		{name: "cores", run: checkCores},
		{name: "conditions", run: checkConditions},
		{name: "clock", run: checkClock},
	}
}

// checkCores: code sees the cores that its job has, not those of the machine.
func checkCores(t *testing.T, s *suite) {
	for cpus, want := range map[float64]string{0: "1 1\n", 1.5: "2 2\n", 3: "3 3\n"} {
		j := s.job(t, nil, sh("step", `echo "$(nproc) $GOMAXPROCS"`))
		j.Limits.CPUs = cpus
		r := s.run(t, j).Steps[0]
		wantExit(t, r, 0)
		wantOut(t, r, want)
	}
}

func checkConditions(t *testing.T, s *suite) {
	j := s.job(t, nil, sh("step", `printf '%s/%s/%s/%s' "$TZ" "$LANG" "$PYTHONHASHSEED" "$(uname -r)"`))
	j.Env.Recipe.Env = map[string]string{"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
	res := s.run(t, j)
	c := res.Conditions
	wantOut(t, res.Steps[0], strings.Join([]string{c.TZ, c.Lang, c.HashSeed, c.Kernel}, "/"))
	if c.TZ != "Asia/Tokyo" || c.HashSeed != "7" || c.Sandbox != s.box.Name() || c.Memory != j.Limits.Memory || c.CPUs != replay.DefaultCPUs || c.Clock != "machine" {
		t.Errorf("conditions: %+v", c)
	}
	if c.Image == "" || c.Cores < 1 || c.Walls == nil || len(c.Walls.Security) == 0 {
		t.Errorf("conditions: %+v", c)
	}
}

// checkClock: a job that is ahead has its clock there, but for steps with the true one; where the library is not installed, nothing changes.
func checkClock(t *testing.T, s *suite) {
	const year = 365 * 24 * time.Hour
	plain := sh("plain", "date +%s; ls /usr/lib/*/faketime/libfaketimeMT.so.1")
	plain.Env = replay.TrueClock()
	j := s.job(t, nil, plain, sh("ahead", "date +%s"))
	j.Ahead = 5 * year
	res := s.run(t, j)
	wantExit(t, res.Steps[1], 0)
	if want := "ahead " + (5 * year).String(); res.Conditions.Clock != want {
		t.Errorf("the clock is said to be %q, want %q", res.Conditions.Clock, want)
	}
	first, library, _ := strings.Cut(string(res.Steps[0].Stdout), "\n")
	now, err1 := strconv.ParseInt(first, 10, 64)
	then, err2 := strconv.ParseInt(strings.TrimSpace(string(res.Steps[1].Stdout)), 10, 64)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	want := 5 * year
	if library == "" {
		want = 0
	}
	if off := time.Duration(then-now)*time.Second - want; off < 0 || off > time.Hour {
		t.Errorf("with the library %q the clock is %v ahead, want %v", library, time.Duration(then-now)*time.Second, want)
	}
}
