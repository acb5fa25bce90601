package process

import (
	"os/exec"
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
	if DeadOwner("somebody") {
		t.Error("an unreadable owner is not known to be dead")
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
