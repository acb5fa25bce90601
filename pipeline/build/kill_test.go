package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/demo"
	"sluice/pipeline/foresight"
	"sluice/pipeline/release"
	"sluice/store"
)

// childEnv tells the test binary to be a build that a test kills: it holds the store's folder and the repository.
const childEnv = "SLUICE_TEST_BUILD"

func TestMain(m *testing.M) {
	Init()
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := buildDemo(context.Background(), filepath.Join(dir, "store"), filepath.Join(dir, demo.Name))
		exit(err)
	}
	if os.Getenv(childModels) != "" {
		exit(beVictim(context.Background()))
	}
	code := m.Run()
	if calmDir != "" {
		_ = os.RemoveAll(calmDir)
	}
	os.Exit(code)
}

// exit ends a child.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func buildDemo(ctx context.Context, dir, source string) (Report, error) {
	s, err := store.OpenDir(ctx, dir, store.Options{})
	if err != nil {
		return Report{}, err
	}
	defer s.Close()
	return Run(ctx, Config{
		Store: s, Dir: dir, Source: source, Family: foresight.Name, Workers: 2, Clock: time.Now,
		Settings: foresight.Settings{Judge: foresight.JudgeRules, Repeats: 2}, Sandbox: SandboxConfig{Kind: "local"},
	})
}

// TestKilledBuildsEndInTheSameRelease kills a build with SIGKILL at random moments and lets it go on, again and again: the
// ledger stays sound, nothing is done twice, and the release has the bytes of an undisturbed run's.
// SLUICE_KILLS says how often; the default keeps the test short.
func TestKilledBuildsEndInTheSameRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a repository many times")
	}
	kills := 6
	if n, err := strconv.Atoi(os.Getenv("SLUICE_KILLS")); err == nil {
		kills = n
	}
	// Without the test whose outcome is chance: what chance decides differs from build to build.
	shared, calm, rough := built(t), t.TempDir(), t.TempDir()
	for _, dir := range []string{calm, rough} {
		if _, err := demo.Author(t.Context(), filepath.Join(dir, demo.Name), demo.Random); err != nil {
			t.Fatal(err)
		}
		// Environments are work of the sandbox, which has a kill test of its own; without them here kills would hit little else.
		share(t, filepath.Join(shared.dir, "store", "local", "envs"), filepath.Join(dir, "store", "local", "envs"))
	}
	undisturbed, err := buildDemo(t.Context(), filepath.Join(calm, "store"), filepath.Join(calm, demo.Name))
	if err != nil {
		t.Fatal(err)
	}
	whole := undisturbed.Engine.Wall
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d kills, an undisturbed build took %s", seed, kills, whole)
	random := rand.New(rand.NewPCG(seed, 1))
	hits := 0
	for range kills {
		// Together they are shorter than one build, whatever is drawn, also on a machine that has become much faster meanwhile.
		if killOnce(t, rough, time.Duration(random.Int64N(int64(whole)/int64(kills)))) {
			hits++
		}
		check(t, filepath.Join(rough, "store"))
	}
	t.Logf("%d of %d kills hit a build at work", hits, kills)
	if hits < kills/2 {
		t.Errorf("only %d of %d kills hit a build at work: they show nothing", hits, kills)
	}
	if _, err := buildDemo(t.Context(), filepath.Join(rough, "store"), filepath.Join(rough, demo.Name)); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(rough, "store"))
	onlyOnce(t, filepath.Join(rough, "store"))
	if diff := cmp.Diff(frozen(t, calm), frozen(t, rough)); diff != "" {
		t.Error("the releases differ:", diff)
	}
	rep, err := buildDemo(t.Context(), filepath.Join(rough, "store"), filepath.Join(rough, demo.Name))
	if err != nil || rep.Engine.Candidates > 0 {
		t.Errorf("a build with nothing new looked at %d candidates: %v", rep.Engine.Candidates, err)
	}
}

func share(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// killOnce starts a build in a process of its own and kills it after a while. It reports whether there was one to kill.
func killOnce(t *testing.T, dir string, after time.Duration) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode() == -1 // by a signal
}

func check(t *testing.T, dir string) {
	t.Helper()
	s, err := store.OpenDir(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	problems, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !p.Harmless {
			t.Errorf("store check: %+v", p)
		}
	}
}

// onlyOnce verifies that no stage of a candidate has two outcomes: settings and repository never changed.
func onlyOnce(t *testing.T, dir string) {
	t.Helper()
	s, err := store.OpenDir(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Candidates(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		attempts, err := s.Attempts(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, a := range attempts {
			if seen[a.Stage] || a.Outcome == "error" {
				t.Errorf("%s: stage %s has an outcome more than once, or an error: %+v", c.ID, a.Stage, a)
			}
			seen[a.Stage] = true
		}
	}
}

// frozen exports a release and returns the digest of each of its files.
func frozen(t *testing.T, dir string) map[string]string {
	t.Helper()
	s, err := store.OpenDir(t.Context(), filepath.Join(dir, "store"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	settings, err := StoredSettings(t.Context(), s, foresight.Name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := release.Freeze(t.Context(), release.Options{Store: s, Name: "r", Dir: dir, Family: foresight.Name, Tool: "test", Settings: settings, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if m.Counts.Instances == 0 {
		t.Fatal("the release is empty")
	}
	digests := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(dir, "r"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, "r", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		digests[e.Name()] = hex.EncodeToString(sum[:])
	}
	return digests
}
