package docker

import (
	"testing"

	"github.com/docker/docker/api/types/container"

	"sluice/internal/process"
)

// ids are this process, one that is gone, and one of which nothing is known.
func ids(t *testing.T) (self, gone, elsewhere process.ID) {
	t.Helper()
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	gone, elsewhere = self, self
	gone.Start--
	elsewhere.Host += "-too"
	return self, gone, elsewhere
}

func TestDead(t *testing.T) {
	t.Parallel()
	self, gone, elsewhere := ids(t)
	neighbour := gone
	neighbour.Namespace++
	for name, tt := range map[string]struct {
		owner string
		want  bool
	}{
		"this process":                {self.String(), false},
		"a process that is gone":      {gone.String(), true},
		"another host":                {elsewhere.String(), false},
		"another container's process": {neighbour.String(), false},
		"nobody":                      {"", false},
		"nonsense":                    {"a:b:c", false},
	} {
		if got := dead(tt.owner); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestDeadContainer(t *testing.T) {
	t.Parallel()
	earlier, _, _ := ids(t)
	earlier.Boot = "earlier"
	old := map[string]string{labelOwner: earlier.String()}
	if !deadContainer(container.Summary{Labels: old, State: container.StateExited}) {
		t.Error("a stopped container of an earlier boot stays")
	}
	if deadContainer(container.Summary{Labels: old, State: container.StateRunning}) {
		t.Error("a running container of a namesake is taken")
	}
}

// TestNamed: a container of an image of ours inherits its labels, and may be a bystander's all the same.
func TestNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"/" + namePrefix + randomName(): true, "/sluice-sluiceimagew17PN4": true, "/sluice-sluiceimage": false, "/eager_hopper": false, "/my-sluice-box": false, "/sluice-box": false, "/x/sluice-" + randomName(): false, "": false} {
		if got := named(container.Summary{Names: []string{name}}); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
