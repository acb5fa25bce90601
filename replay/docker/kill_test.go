package docker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// victimVariable makes TestVictim run a job that never ends, in a process that TestKilledOwner kills.
const victimVariable = "SLUICE_TEST_VICTIM"

// testName begins the names of what the victim leaves beside its container.
const testName = "sluice-test-"

func TestVictim(t *testing.T) {
	if os.Getenv(victimVariable) == "" {
		t.Skip("runs in the process that TestKilledOwner starts")
	}
	s, run := jobs(t, Options{})
	for _, err := range []error{
		second(s.api.NetworkCreate(context.Background(), testName+s.run, network.CreateOptions{Labels: s.labels()})),
		second(s.api.VolumeCreate(context.Background(), volume.CreateOptions{Name: testName + s.run, Labels: s.labels()})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	spec := replay.SessionSpec{Build: true, Tree: sandboxtest.NewTree("t"), Recipe: replay.Recipe{Image: testImage}}
	o, err := s.Open(context.Background(), spec)
	if err == nil {
		_, err = o.Exec(context.Background(), sh("spawn", "sleep 300 &"))
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("RUN", s.run)
	run(replay.Limits{}, sh("hang", "sleep 300"))
}

func second[T any](_ T, err error) error { return err }

func (s *Sandbox) labels() map[string]string {
	return map[string]string{LabelOurs: "1", labelOwner: s.owner}
}

// TestKilledOwner kills a process in the middle of a job: the next Sandbox removes what it left, and nothing else.
func TestKilledOwner(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, run := jobs(t, Options{})
	bystander := bystanders(t, s)
	victim, id := startVictim(t)
	waitRunning(t, s, id)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.Wait()

	mine := make(chan replay.Result)
	go func() { mine <- run(replay.Limits{}, sh("slow", "sleep 3; echo survived")) }()
	next := newTest(t, Options{})
	defer next.Close()
	if left := of(t, s, LabelRun+"="+id); len(left) != 0 { // of its job and of its session
		t.Errorf("containers are left: %v", left)
	}
	if _, err := s.api.NetworkInspect(ctx, testName+id, network.InspectOptions{}); !cerrdefs.IsNotFound(err) {
		t.Errorf("the network is left: %v", err)
	}
	if _, err := s.api.VolumeInspect(ctx, testName+id); !cerrdefs.IsNotFound(err) {
		t.Errorf("the volume is left: %v", err)
	}
	for _, b := range bystander {
		if _, err := s.api.ContainerInspect(ctx, b); err != nil {
			t.Errorf("a bystander is gone: %v", err)
		}
	}
	if res := <-mine; string(res.Steps[0].Stdout) != "survived\n" {
		t.Errorf("a living process's job: %+v", res.Steps[0])
	}
}

// startVictim starts a process with a hanging job and returns it with its Sandbox's name.
func startVictim(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), victimVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	for in := bufio.NewScanner(out); in.Scan(); {
		var id string
		if n, _ := fmt.Sscanf(in.Text(), "RUN %s", &id); n == 1 {
			return cmd, id
		}
	}
	t.Fatal("the victim did not start")
	return nil, ""
}

func waitRunning(t *testing.T, s *Sandbox, run string) {
	t.Helper()
	for range 200 {
		for _, c := range of(t, s, LabelRun+"="+run) {
			if c.State == container.StateRunning {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the victim's job does not run")
}

func of(t *testing.T, s *Sandbox, label string) []container.Summary {
	t.Helper()
	all, err := s.api.ContainerList(context.Background(), container.ListOptions{All: true, Filters: ours(label)})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// bystanders makes containers that must survive: without our label, with it but of another host, and with a label alike.
func bystanders(t *testing.T, s *Sandbox) []string {
	t.Helper()
	ctx := context.Background()
	_, gone, elsewhere := ids(t)
	var ids []string
	for _, labels := range []map[string]string{
		nil, {LabelOurs: "1", labelOwner: elsewhere.String()}, {LabelOurs: "1"}, {"sluicer": "1", labelOwner: gone.String()},
	} {
		c, err := s.api.ContainerCreate(ctx, &container.Config{Image: testImage, Cmd: []string{"true"}, Labels: labels}, nil, nil, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	t.Cleanup(func() {
		for _, id := range ids {
			s.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
		}
	})
	return ids
}

func TestCloseRemovesItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, other := newTest(t, Options{}), newTest(t, Options{})
	defer other.Close()
	for _, x := range []*Sandbox{s, other} {
		if _, err := x.newBox(ctx, boxSpec{image: testImage, network: "none", limits: x.limits}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := of(t, other, LabelRun+"="+s.run); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if left := of(t, other, LabelRun+"="+other.run); len(left) != 1 {
		t.Errorf("the other Sandbox has %d containers", len(left))
	}
}
