package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestDead(t *testing.T) {
	t.Parallel()
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(self.String())
	if err != nil || back != self {
		t.Errorf("%v came back as %v, %v", self, back, err)
	}
	if self.Dead() || DeadOwner(self.String()) {
		t.Error("this process is not dead")
	}
	earlier := self
	earlier.Start--
	if !earlier.Dead() {
		t.Error("an earlier process of the same number is dead")
	}
	elsewhere := self
	elsewhere.Host, elsewhere.PID = self.Host+"x", 1<<30
	if elsewhere.Dead() {
		t.Error("what runs on another machine cannot be known to be dead")
	}
	neighbour := elsewhere
	neighbour.Host, neighbour.Namespace = self.Host, self.Namespace+1
	if neighbour.Dead() || DeadOwner(neighbour.String()) {
		t.Error("what runs in another container of this machine cannot be known to be dead")
	}
	before := self
	before.Boot = "earlier"
	if before.Dead() || !before.EarlierBoot() || self.EarlierBoot() || elsewhere.EarlierBoot() {
		t.Error("a process from before the machine's last start is known as such")
	}
	if !DeadOwner(before.String()) {
		t.Error("no restart of the machine leaves a lease")
	}
	for _, owner := range []string{"", "somebody", "h:b:1:-1:2", "h:b:1:0:2", "h:1:2:3", "h:b:x:1:2"} {
		if id, err := Parse(owner); err == nil || DeadOwner(owner) {
			t.Errorf("%q was read as %v", owner, id)
		}
	}
}

func TestParseStart(t *testing.T) {
	t.Parallel()
	tail := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	for stat, want := range map[string]uint64{"7 (sh)" + tail: 4242, "7 (a) b) (c)" + tail: 4242, "7 (sh) S 1 2": 0, "": 0} {
		if got, err := parseStart([]byte(stat)); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", stat, got, err, want)
		}
	}
	if _, err := parseStart([]byte("7 (sh)" + strings.Replace(tail, "S", "Z", 1))); !os.IsNotExist(err) {
		t.Errorf("a zombie: %v", err)
	}
}

func TestDeadChild(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	child.PID = cmd.Process.Pid
	if child.Start, err = startTime(child.PID); err != nil {
		t.Fatal(err)
	}
	if child.Dead() {
		t.Error("the child lives")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !child.Dead() {
		t.Error("the child is dead")
	}
}
