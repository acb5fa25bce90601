package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/demo"
	"sluice/pipeline/foresight"
	"sluice/store"
)

// benchRepo is the repository that the benchmarks work on: the demo's, or a real one that SLUICE_BENCH_REPO names, with
// its history since SLUICE_BENCH_SINCE (YYYY-MM-DD).
func benchRepo(b *testing.B) (source string, s foresight.Settings) {
	s = foresight.Settings{Judge: foresight.JudgeRules, Whole: true}
	if since := os.Getenv("SLUICE_BENCH_SINCE"); since != "" {
		day, err := time.Parse(time.DateOnly, since)
		if err != nil {
			b.Fatal(err)
		}
		s.Since = day
	}
	if source = os.Getenv("SLUICE_BENCH_REPO"); source != "" {
		return source, s
	}
	source = filepath.Join(b.TempDir(), demo.Name)
	if _, err := demo.Author(b.Context(), source); err != nil {
		b.Fatal(err)
	}
	return source, s
}

func benchConfig(b *testing.B, dir, source string, s foresight.Settings) Config {
	ledger, err := store.OpenDir(b.Context(), dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ledger.Close() })
	return Config{Store: ledger, Dir: dir, Source: source, Family: foresight.Name, Settings: s, Workers: 2, Clock: time.Now,
		Sandbox: SandboxConfig{Kind: "local"}}
}

// BenchmarkMining measures mirror, mining, screens and blame, and as the baseline in the same run plain git doing the least
// that any such miner must: one log with diffs, and for each candidate its diff and one blame of each changed file.
func BenchmarkMining(b *testing.B) {
	source, s := benchRepo(b)
	for b.Loop() {
		c := benchConfig(b, b.TempDir(), source, s)
		started := time.Now()
		blamed := mineAndBlame(b, c)
		ours := time.Since(started)
		plain := plainGit(b, filepath.Join(c.Dir, "mirrors"), blamed, s.Since)
		b.ReportMetric(ours.Seconds(), "s/mining")
		b.ReportMetric(float64(len(blamed)), "blamed-fixes")
		b.ReportMetric(ours.Seconds()/plain.Seconds(), "x-plain-git")
	}
}

// mineAndBlame runs a build whose family ends after the attribution, and returns the fixes that were blamed.
func mineAndBlame(b *testing.B, c Config) []foresight.Proposal {
	m, h, rep, err := c.open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	if err := mine(b.Context(), c, h, &rep); err != nil {
		b.Fatal(err)
	}
	f := foresight.New(foresight.Deps{History: h, Repo: rep.Repo}, c.Settings)
	f.Stages = f.Stages[:2]
	if _, err := c.run(b.Context(), f, rep.Repo); err != nil {
		b.Fatal(err)
	}
	return blamed(b, c.Store)
}

func blamed(b *testing.B, s *store.Store) []foresight.Proposal {
	all, err := s.Candidates(b.Context(), store.Filter{})
	if err != nil {
		b.Fatal(err)
	}
	var out []foresight.Proposal
	for _, c := range all {
		if c.Stage == "screen" {
			continue
		}
		p, err := foresight.Decode(c)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// plainGit runs the git program alone, one process after the other, on the mirror in dir.
func plainGit(b *testing.B, dir string, fixes []foresight.Proposal, since time.Time) time.Duration {
	found, err := filepath.Glob(filepath.Join(dir, "*", "HEAD"))
	if err != nil || len(found) != 1 {
		b.Fatal(found, err)
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"--git-dir", filepath.Dir(found[0])}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	started := time.Now()
	git("log", "--first-parent", "-m", "--raw", "--numstat", "-M", "--since", since.Format(time.DateOnly), "HEAD")
	for _, p := range fixes {
		for _, file := range strings.Fields(git("diff", "--name-only", "--diff-filter=M", p.Fix.Base, p.Fix.Head, "--", "*.go", "*.py", ":!*_test.go")) {
			git("diff", "-U0", "-w", p.Fix.Base, p.Fix.Head, "--", file)
			git("blame", "-w", "--porcelain", p.Fix.Base, "--", file)
		}
	}
	return time.Since(started)
}

// BenchmarkBuild measures a whole build with two workers against the sum of its sandbox runs, and a second build with nothing new.
func BenchmarkBuild(b *testing.B) {
	source, s := benchRepo(b)
	for b.Loop() {
		c := benchConfig(b, b.TempDir(), source, s)
		rep, err := Run(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		runs := rep.Engine.Spent["test-run"]
		b.ReportMetric(rep.Engine.Wall.Seconds(), "s/build")
		b.ReportMetric(runs.Seconds(), "s/sandbox-runs")
		b.ReportMetric((rep.Engine.Wall-rep.Engine.Spent["environment"]).Seconds()/runs.Seconds(), "x-sandbox-runs")
		b.ReportMetric(rep.Engine.Wall.Seconds()/runs.Seconds(), "x-sandbox-runs-with-environments")
		started := time.Now()
		again, err := Run(b.Context(), c)
		if err != nil || again.Engine.Candidates > 0 {
			b.Fatal(again.Engine, err)
		}
		b.ReportMetric(time.Since(started).Seconds(), "s/second-build")
	}
}
