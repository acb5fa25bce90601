package sandboxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func envChecks() []check {
	return []check{
		{name: "install sees its inputs only", run: checkInputs},
		{name: "install may see the whole tree", run: checkWholeTree},
		{name: "an environment is built once", run: checkOnce},
		{name: "an environment belongs to no job", needs: "isolation", run: checkEnvKept},
		{name: "a failed install is an install error", run: checkInstallError},
		{name: "an install that the network failed is tried again", run: checkInstallFault},
		{name: "recipe variables reach every step", run: checkRecipeEnv},
	}
}

func write(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// prepare builds an environment that must succeed.
func (s *suite) prepare(t *testing.T, r replay.Recipe, files ...replay.File) replay.Env {
	t.Helper()
	env, err := s.box.Prepare(context.Background(), r, NewTree(t.Name(), files...))
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	return env
}

// read returns what a step over the environment prints.
func (s *suite) read(t *testing.T, env replay.Env, script string) string {
	t.Helper()
	j := s.job(t, nil, sh("read", script))
	j.Env = env
	r := s.run(t, j).Steps[0]
	wantExit(t, r, 0)
	return string(r.Stdout)
}

func checkInputs(t *testing.T, s *suite) {
	r := s.recipe("inputs", sh("install", `find . -type f | sort > {env}/seen; cat go.mod >> {env}/seen`))
	r.Inputs = []string{"go.mod", "sub/go.mod", "missing.lock"}
	env := s.prepare(t, r, Text("go.mod", "module m\n"), Text("sub/go.mod", "x"), Text("main.go", "x"))
	want := "./go.mod\n./sub/go.mod\nmodule m\n"
	if got := s.read(t, env, "cat {env}/seen"); got != want {
		t.Errorf("install saw %q, want %q", got, want)
	}
	if env.Sandbox != s.box.Name() || env.ID == "" {
		t.Errorf("environment %+v", env)
	}
	if d := cmp.Diff(r, env.Recipe); d != "" {
		t.Errorf("recipe (-want +got):\n%s", d)
	}
}

func checkWholeTree(t *testing.T, s *suite) {
	r := s.recipe("whole", sh("install", `find . -type f | sort > {env}/seen`))
	r.Inputs = []string{"*"}
	env := s.prepare(t, r, Text("a", ""), Text("b/c", ""))
	if got := s.read(t, env, "cat {env}/seen"); got != "./a\n./b/c\n" {
		t.Errorf("install saw %q", got)
	}
}

func checkOnce(t *testing.T, s *suite) {
	r := s.recipe("once", sh("install", `sleep 0.5; head -c 16 /dev/urandom | od -An -tx1 > {env}/id; echo installed`))
	envs := make([]replay.Env, 4)
	var wg sync.WaitGroup
	for i := range envs {
		wg.Go(func() { envs[i] = s.prepare(t, r) })
	}
	wg.Wait()
	envs = append(envs, s.prepare(t, r))
	first := s.read(t, envs[0], "cat {env}/id")
	for _, env := range envs[1:] {
		if env.ID != envs[0].ID || s.read(t, env, "cat {env}/id") != first {
			t.Errorf("built twice: %s and %s", envs[0].ID, env.ID)
		}
	}
}

func checkEnvKept(t *testing.T, s *suite) {
	env := s.prepare(t, s.recipe("kept", sh("install", "echo clean > {env}/f")))
	script := `cat {env}/f; echo poisoned > {env}/f; rm -rf {env}/f; echo poisoned > {env}/f; true`
	for range 2 {
		if got := s.read(t, env, "("+script+") 2>/dev/null"); got != "clean\n" {
			t.Errorf("the environment holds %q", got)
		}
	}
}

func checkInstallError(t *testing.T, s *suite) {
	r := s.recipe("broken", sh("fetch", "echo fetched"), sh("build", "echo no such thing >&2; exit 7"), sh("never", "echo never"))
	_, err := s.box.Prepare(context.Background(), r, NewTree("empty"))
	var install *replay.InstallError
	if !errors.As(err, &install) {
		t.Fatalf("got %v", err)
	}
	if install.Step.Name != "build" || install.Step.ExitCode != 7 {
		t.Errorf("step %s, exit code %d", install.Step.Name, install.Step.ExitCode)
	}
	if log := install.Log; !contains(log, "fetched", "no such thing") || contains(log, "never") {
		t.Errorf("log %q", log)
	}
	slow := sh("slow", "sleep 300")
	slow.Timeout = time.Second
	install = nil
	_, err = s.box.Prepare(context.Background(), s.recipe("slow", slow), NewTree("empty"))
	if !errors.Is(err, replay.ErrInstallTime) || errors.As(err, &install) {
		t.Errorf("a hanging install gave %v", err)
	}
}

// checkInstallFault: what the network failed to bring is no fault of the recipe, and nothing of it is kept: the same recipe is tried again.
func checkInstallFault(t *testing.T, s *suite) {
	r := s.recipe("flaky", sh("fetch", "echo 'sluice: the network or the index failed: nothing is left out for that'; exit 1"))
	for range 2 {
		_, err := s.box.Prepare(context.Background(), r, NewTree("empty"))
		var install *replay.InstallError
		if !errors.Is(err, replay.ErrNetwork) || errors.As(err, &install) {
			t.Fatalf("got %v", err)
		}
	}
	r.Install = []replay.Step{sh("fetch", "echo brought >{env}/f")}
	if got := s.read(t, s.prepare(t, r), "cat {env}/f"); got != "brought\n" {
		t.Errorf("the environment holds %q", got)
	}
}

func checkRecipeEnv(t *testing.T, s *suite) {
	r := s.recipe("variables", sh("install", `echo "$FROM_RECIPE" > {env}/f`))
	r.Env = map[string]string{"FROM_RECIPE": "{env}/x", "BOTH": "recipe"}
	for k, v := range s.opts.Recipe.Env {
		r.Env[k] = v
	}
	env := s.prepare(t, r)
	step := sh("step", `cat {env}/f; echo "$FROM_RECIPE"; test "$FROM_RECIPE" = {env}/x; echo "$BOTH"`)
	step.Env = map[string]string{"BOTH": "step"}
	j := s.job(t, nil, step)
	j.Env = env
	res := s.run(t, j).Steps[0]
	wantExit(t, res, 0)
	if !contains(string(res.Stdout), "/x\n", "step\n") {
		t.Errorf("printed %q", res.Stdout)
	}
}
