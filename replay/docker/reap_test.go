package docker

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestParseStart(t *testing.T) {
	t.Parallel()
	tail := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	for stat, want := range map[string]string{
		"7 (sh)" + tail: "4242", "7 (a) b) (c)" + tail: "4242", "7 (sh) S 1 2": "", "": "",
	} {
		if got := parseStart(stat); got != want {
			t.Errorf("%q: got %q, want %q", stat, got, want)
		}
	}
}

func TestDead(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	me, host := os.Getpid(), hostName()
	tests := []struct {
		name, owner string
		want        bool
	}{
		{"this process", processOwner(), false},
		{"a process that is gone", fmt.Sprintf("%d:1:%s", gone.Process.Pid, host), true},
		{"another process had this id", fmt.Sprintf("%d:1:%s", me, host), true},
		{"start unknown, id in use", fmt.Sprintf("%d::%s", me, host), false},
		{"another host", fmt.Sprintf("%d:1:elsewhere", gone.Process.Pid), false},
		{"another boot", fmt.Sprintf("%d:1:%s-older", gone.Process.Pid, host), false},
		{"nobody", "", false},
		{"nonsense", "a:b:" + host, false},
		{"every process", "-1:1:" + host, false},
	}
	for _, tt := range tests {
		if got := dead(tt.owner); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestDeadContainer(t *testing.T) {
	t.Parallel()
	name, _, known := strings.Cut(hostName(), "/")
	if !known {
		t.Skip("this host does not tell its boots apart")
	}
	old := map[string]string{labelOwner: "5:1:" + name + "/earlier"}
	if !deadContainer(container.Summary{Labels: old, State: container.StateExited}) {
		t.Error("a stopped container of an earlier boot stays")
	}
	if deadContainer(container.Summary{Labels: old, State: container.StateRunning}) {
		t.Error("a running container of a namesake is taken")
	}
}
