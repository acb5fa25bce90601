package docker

import (
	"context"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// shareTest is a Sandbox with an environment, and a job that tells whether it was built anew.
func shareTest(t *testing.T, o Options) (*Sandbox, replay.Job) {
	t.Helper()
	s := newTest(t, o)
	mark := "statetest-" + strings.ToLower(t.Name())
	t.Cleanup(func() { forget(t, s, mark); s.Close() })
	env, err := s.Prepare(t.Context(), replay.Recipe{Image: testImage, Fingerprint: mark, Install: []replay.Step{sh("install", "true")}}, noTree{})
	if err != nil {
		t.Fatal(err)
	}
	return s, replay.Job{
		Name: t.Name(), Env: env, Tree: sandboxtest.NewTree(t.Name(), sandboxtest.Text("a", "a")),
		Steps: []replay.Step{sh("build", "head -c 16 /dev/urandom | od -An -tx1 >made; head -c 1200000 /dev/zero >{env}/zero"), sh("test", "cat made")},
		Share: replay.Share{Steps: 1},
	}
}

// built is what a run of the job prints.
func builtBy(t *testing.T, s *Sandbox, j replay.Job) string {
	t.Helper()
	res, err := s.Run(t.Context(), j)
	if err != nil || len(res.Steps) != 2 || len(res.Steps[1].Stdout) < 40 {
		t.Fatalf("%+v, %v", res, err)
	}
	return string(res.Steps[1].Stdout)
}

// states are the images of states that a Sandbox keeps.
func statesOf(t *testing.T, s *Sandbox) (ids []string) {
	t.Helper()
	if err := s.gone.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := s.api.ImageList(context.Background(), image.ListOptions{All: true, Filters: ours(LabelRun + "=" + s.run)})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Labels[LabelState] != "" {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// TestStatesGo: a state that somebody removed is no error, the least used go when they take more than they may, all go when the disk is
// full, and none outlives its Sandbox.
func TestStatesGo(t *testing.T) {
	t.Parallel()
	s, j := shareTest(t, Options{States: 2_700_000})
	first := builtBy(t, s, j)
	ids := statesOf(t, s)
	if len(ids) != 1 || builtBy(t, s, j) != first {
		t.Fatalf("states %q", ids)
	}
	if err := s.gone.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.api.ImageRemove(t.Context(), ids[0], image.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if builtBy(t, s, j) == first {
		t.Error("a state that was removed came back")
	}
	second := builtBy(t, s, j)
	if builtBy(t, s, j) != second {
		t.Error("it is not kept again")
	}
	other := j
	other.Tree = sandboxtest.NewTree(t.Name()+" two", sandboxtest.Text("a", "b"))
	builtBy(t, s, other)
	other.Tree = sandboxtest.NewTree(t.Name()+" three", sandboxtest.Text("a", "c"))
	third := builtBy(t, s, other)
	if ids = statesOf(t, s); len(ids) != 2 {
		t.Errorf("of three states of 1.2 MB, 2.7 MB hold %d", len(ids))
	}
	if builtBy(t, s, other) != third {
		t.Error("the newer one went")
	}
	full := true
	s.free = func() (uint64, bool) {
		if full {
			full = false
			return 0, true
		}
		return 1 << 40, true
	}
	if builtBy(t, s, other) == third {
		t.Error("a full disk kept its states")
	}
	if len(statesOf(t, s)) == 0 {
		t.Error("nothing is kept")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := newTest(t, Options{})
	defer after.Close()
	after.run = s.run
	if ids := statesOf(t, after); len(ids) > 0 {
		t.Errorf("after Close: %q", ids)
	}
}

// TestLargeStates: what an engine would write out, or cannot be looked at, is not kept; the job runs all the same.
func TestLargeStates(t *testing.T) {
	t.Parallel()
	s, j := shareTest(t, Options{States: 100 << 20})
	for name, build := range map[string]string{
		"much":   "head -c 60000000 /dev/urandom >much",
		"holes":  "for i in 1 2 3 4; do truncate -s 20M {env}/$i; done",
		"hidden": "mkdir d && truncate -s 90M d/f && chmod 0 d",
	} {
		j := j
		j.Steps = []replay.Step{sh("build", "head -c 16 /dev/urandom | od -An -tx1 >made; "+build), j.Steps[1]}
		if first := builtBy(t, s, j); builtBy(t, s, j) == first {
			t.Errorf("%s is kept", name)
		}
	}
	j.Steps = []replay.Step{sh("build", "head -c 16 /dev/urandom | od -An -tx1 >made; truncate -s 40M {env}/f"), j.Steps[1]}
	if first := builtBy(t, s, j); builtBy(t, s, j) != first {
		t.Error("a state of 40 MB is not kept")
	}
}

// TestStatesOfTheDead: the next start removes what a process that was killed kept, and nothing of one that lives. TestManyKills kills some.
func TestStatesOfTheDead(t *testing.T) {
	t.Parallel()
	s := newTest(t, Options{})
	defer s.Close()
	self, gone, _ := ids(t)
	b, err := s.newBox(t.Context(), boxSpec{image: testImage, network: "none", user: rootUser, limits: s.limits})
	if err != nil {
		t.Fatal(err)
	}
	defer b.discard(t.Context())
	kept := func(owner string) string {
		c, err := s.api.ContainerCommit(t.Context(), b.id, container.CommitOptions{
			Config: &container.Config{Labels: map[string]string{LabelState: "1", labelOwner: owner}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	dead, alive := kept(gone.String()), kept(self.String())
	newTest(t, Options{}).Close()
	if _, err := s.api.ImageInspect(t.Context(), dead); !cerrdefs.IsNotFound(err) {
		t.Errorf("left: %v", err)
	}
	if _, err := s.api.ImageInspect(t.Context(), alive); err != nil {
		t.Errorf("a living process lost its state: %v", err)
	}
}
