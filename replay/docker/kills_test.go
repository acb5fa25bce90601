package docker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// TestBusyVictim is not a test: it is the process that TestManyKills kills while it does all that a Sandbox does.
func TestBusyVictim(t *testing.T) {
	mark := os.Getenv(victimVariable + "_BUSY")
	if mark == "" {
		t.Skip("runs in the processes that TestManyKills starts")
	}
	ctx := t.Context()
	s := newTest(t, Options{})
	env, err := s.Prepare(ctx, replay.Recipe{Image: testImage, Fingerprint: "killtest-shared"}, noTree{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("READY", s.run)
	tree := sandboxtest.NewTree("t", sandboxtest.Text("a", strings.Repeat("a\n", 1e5)))
	var wg sync.WaitGroup
	for _, work := range []func(n int){
		func(int) {
			_, _ = s.Run(ctx, replay.Job{Tree: tree, Env: env, Steps: []replay.Step{sh("run", "sleep 0.2; sleep 300 & exit 1")}})
		},
		func(n int) {
			j := replay.Job{Tree: tree, Env: env, Steps: []replay.Step{sh("build", fmt.Sprintf("echo %d >b", n/2)), sh("test", "true")}, Share: replay.Share{Steps: 1}}
			_, _ = s.Run(ctx, j)
		},
		func(n int) {
			r := replay.Recipe{Image: testImage, Fingerprint: fmt.Sprintf("killtest-%s-%d", mark, n), Install: []replay.Step{sh("install", "head -c 9000000 /dev/urandom >{env}/f")}}
			_, _ = s.Prepare(ctx, r, tree)
		},
		func(int) {
			if o, err := s.Open(ctx, replay.SessionSpec{Build: true, Tree: tree, Recipe: replay.Recipe{Image: testImage}}); err == nil {
				_, _ = o.Exec(ctx, sh("spawn", "setsid sleep 300 & sleep 0.1"))
				_ = o.Close()
			}
		},
		func(n int) {
			name := fmt.Sprint(testName, s.run, n)
			_, _ = s.api.NetworkCreate(ctx, name, network.CreateOptions{Labels: s.labels()})
			_, _ = s.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: s.labels()})
			time.Sleep(200 * time.Millisecond)
		},
	} {
		wg.Go(func() {
			for n := range 20 { // engines have about thirty networks
				work(n)
			}
		})
	}
	wg.Wait()
}

// TestManyKills kills processes at any instant of their work, some while they open their Sandbox. After the next start nothing of them is
// left, and nothing of a bystander is touched, whatever it looks like.
func TestManyKills(t *testing.T) {
	s := newTest(t, Options{})
	forget(t, s, "killtest-")
	others := newCrowd(t, s)
	before := others.look(t, s)
	random := rand.New(rand.NewPCG(5, 9))
	late := 0
	for n := range sandboxtest.Kills(t, 6) {
		mark := randomName()[:8]
		cmd := exec.Command(os.Args[0], "-test.run=^TestBusyVictim$")
		cmd.Env = append(os.Environ(), victimVariable+"_BUSY="+mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(2500)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("the victim %d had ended: %v", n, err)
		}
		_ = cmd.Wait()
		left := afterStart(t, s, cmd.Process.Pid)
		for again := 0; len(left) > 0 && again < 5; again++ {
			if again == 0 {
				late++ // the engine was still at work on what the victim had asked for when the next process had ended
			}
			time.Sleep(time.Second)
			left = afterStart(t, s, cmd.Process.Pid)
		}
		if len(left) > 0 {
			t.Errorf("kill %d: left: %q", n, left)
		}
		forget(t, s, "killtest-"+mark)
	}
	if d := cmp.Diff(before, others.look(t, s)); d != "" {
		t.Errorf("bystanders (-before +after):\n%s", d)
	}
	forget(t, s, "killtest-")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills; after %d of them the engine still made what had been asked of it when the next process had ended: the one after that removed it", sandboxtest.Kills(t, 6), late)
}

// afterStart is what is left of a dead process when another one has worked for a moment.
func afterStart(t *testing.T, s *Sandbox, pid int) []string {
	t.Helper()
	next := newTest(t, Options{})
	env, err := next.Prepare(t.Context(), replay.Recipe{Image: testImage, Fingerprint: "killtest-shared"}, noTree{})
	if err == nil {
		_, err = next.Run(t.Context(), replay.Job{Tree: noTree{}, Env: env, Steps: []replay.Step{sh("work", "true")}})
	}
	if err = errors.Join(err, next.Close()); err != nil {
		t.Fatal(err)
	}
	return leftOf(t, s, pid)
}

// leftOf is what a process of this machine left in the engine; environments that are whole may stay.
func leftOf(t *testing.T, s *Sandbox, pid int) (left []string) {
	t.Helper()
	ctx := context.Background()
	note := func(kind, name string, labels map[string]string) {
		if strings.Contains(labels[labelOwner], fmt.Sprintf(":%d:", pid)) {
			left = append(left, kind+" "+name)
		}
	}
	containers, err := s.api.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		if named(c) {
			note("container", c.ID, c.Labels)
		}
	}
	networks, err := s.api.NetworkList(ctx, network.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range networks {
		note("network", n.Name, n.Labels)
	}
	volumes, err := s.api.VolumeList(ctx, volume.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range volumes.Volumes {
		note("volume", v.Name, v.Labels)
	}
	images, err := s.api.ImageList(ctx, image.ListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		if len(i.RepoTags) == 0 || slices.Contains(i.RepoTags, "<none>:<none>") {
			note("image", i.ID, i.Labels)
		}
	}
	return left
}

// crowd are things of bystanders: of another machine's process, of nobody, of a process that lives, and such as only look like ours.
type crowd struct{ containers, networks, volumes, images []string }

func newCrowd(t *testing.T, s *Sandbox) (c crowd) {
	t.Helper()
	ctx := context.Background()
	self, gone, elsewhere := ids(t)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	suffix := randomName()[:8]
	for n, labels := range []map[string]string{
		nil, {LabelOurs: "1", labelOwner: elsewhere.String()}, {LabelOurs: "1"}, {"sluicer": "1", labelOwner: gone.String()},
		{LabelOurs: "1", labelOwner: self.String()}, {LabelOurs: "1", labelOwner: "no process"}, {LabelOurs: "yes", labelOwner: gone.String()},
	} {
		name := fmt.Sprintf("sluice-%d-%s", n, suffix)
		made, err := s.api.ContainerCreate(ctx, &container.Config{Image: testImage, Cmd: []string{"sleep", "9999"}, Labels: labels}, nil, nil, nil, name)
		must(err)
		if n%2 == 0 {
			must(s.api.ContainerStart(ctx, made.ID, container.StartOptions{}))
		}
		c.containers = append(c.containers, made.ID)
		net, err := s.api.NetworkCreate(ctx, name, network.CreateOptions{Labels: labels})
		must(err)
		c.networks = append(c.networks, net.ID)
		v, err := s.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels})
		must(err)
		c.volumes = append(c.volumes, v.Name)
	}
	// Of an image of ours, whose labels it has, but with a name of its own; and images committed of it, with a name and without.
	mine, err := s.api.ContainerCreate(ctx, &container.Config{
		Image: testImage, Cmd: []string{"sleep", "9999"}, Labels: map[string]string{LabelOurs: "1", labelOwner: gone.String()},
	}, nil, nil, nil, "my-sluice-"+suffix)
	must(err)
	c.containers = append(c.containers, mine.ID)
	for n, ref := range []string{"mine/sluice:" + suffix, ""} {
		made, err := s.api.ContainerCommit(ctx, c.containers[1+n], container.CommitOptions{Reference: ref, Comment: suffix})
		must(err)
		c.images = append(c.images, made.ID)
	}
	t.Cleanup(func() { c.remove(s) })
	return c
}

func (c crowd) remove(s *Sandbox) {
	ctx := context.Background()
	for _, id := range c.containers {
		_ = s.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
	}
	for _, id := range c.networks {
		_ = s.api.NetworkRemove(ctx, id)
	}
	for _, id := range c.volumes {
		_ = s.api.VolumeRemove(ctx, id, true)
	}
	for _, id := range c.images {
		_, _ = s.api.ImageRemove(ctx, id, image.RemoveOptions{Force: true})
	}
}

// look says how all of them are.
func (c crowd) look(t *testing.T, s *Sandbox) map[string]string {
	t.Helper()
	ctx := context.Background()
	state := map[string]string{}
	note := func(id string, v string, err error) { state[id] = fmt.Sprint(v, err) }
	for _, id := range c.containers {
		in, err := s.api.ContainerInspect(ctx, id)
		v := ""
		if err == nil {
			v = in.State.Status + " since " + in.State.StartedAt
		}
		note(id, v, err)
	}
	for _, id := range c.networks {
		in, err := s.api.NetworkInspect(ctx, id, network.InspectOptions{})
		note(id, in.Name, err)
	}
	for _, id := range c.volumes {
		in, err := s.api.VolumeInspect(ctx, id)
		note(id, in.CreatedAt, err)
	}
	for _, id := range c.images {
		in, err := s.api.ImageInspect(ctx, id)
		note(id, strings.Join(in.RepoTags, " "), err)
	}
	return state
}
