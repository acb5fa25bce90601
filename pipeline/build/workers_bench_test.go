package build

import (
	"os"
	"testing"
	"time"

	"sluice/pipeline/foresight"
	"sluice/store"
)

// BenchmarkWorkers compares a build with two workers to the same build with one, in the sandbox that SLUICE_BENCH_SANDBOX names (default:
// local). All environments are there before: what is measured is the engine with its runs. x-one-worker is how many times as fast two are;
// busy is how many sandboxes worked on the average while two could.
func BenchmarkWorkers(b *testing.B) {
	kind := os.Getenv("SLUICE_BENCH_SANDBOX")
	if kind == "" {
		kind = "local"
	}
	source, s := benchRepo(b)
	dir := b.TempDir()
	build := func(workers int) Report {
		ledger, err := store.OpenDir(b.Context(), b.TempDir(), store.Options{}) // a new one: nothing is known but the environments
		if err != nil {
			b.Fatal(err)
		}
		defer ledger.Close()
		rep, err := Run(b.Context(), Config{
			Store: ledger, Dir: dir, Source: source, Family: foresight.Name, Settings: s, Workers: workers, Clock: time.Now,
			Sandbox: SandboxConfig{Kind: kind},
		})
		if err != nil {
			b.Fatal(err)
		}
		return rep
	}
	build(2)
	var one, two, worked time.Duration
	for b.Loop() {
		first, second := build(1), build(2)
		one, two, worked = one+first.Engine.Wall, two+second.Engine.Wall, worked+second.Engine.Spent["test-run"]
	}
	n := float64(b.N)
	b.ReportMetric(one.Seconds()/two.Seconds(), "x-one-worker")
	b.ReportMetric(worked.Seconds()/two.Seconds(), "busy")
	b.ReportMetric(one.Seconds()/n, "s/one")
	b.ReportMetric(two.Seconds()/n, "s/two")
}
