package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"sluice/judges"
	"sluice/judges/judgestest"
	"sluice/judges/model/modeltest"
	"sluice/pipeline"
	"sluice/pipeline/judging"
	"sluice/store"
)

const (
	benchQuestions = 1000
	benchLatency   = 50 * time.Millisecond
)

// benchCase is the golden case of the judge of attribution with 20 kB more of a patch, which differs from number to number.
func benchCase(b *testing.B) func(n int) judges.Case {
	text, err := os.ReadFile(filepath.Join("..", "..", "judges", "testdata", judges.Attribution, "case.txtar"))
	if err != nil {
		b.Fatal(err)
	}
	given := judges.Case{}
	for _, f := range txtar.Parse(text).Files {
		slot, _, _ := strings.Cut(f.Name, "/")
		given[slot] = append(given[slot], string(f.Data))
	}
	return func(n int) judges.Case {
		out := judges.Case{}
		for slot, units := range given {
			out[slot] = units
		}
		more := strings.Repeat(fmt.Sprintf("+\tif a < %d && c > 0 { return errors.New(\"a line of a diff\") }\n", n), 320)
		out["task_patch"] = []string{given["task_patch"][0] + "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,0 +1,320 @@\n" + more}
		return out
	}
}

// benchFamily asks one question about each candidate. Another version asks it again.
func benchFamily(desk *judging.Desk, version int, about func(n int) judges.Case) *pipeline.Family {
	return &pipeline.Family{Name: "bench", Stages: []pipeline.Stage{{Name: "judge", Version: version, Pool: pipeline.Model, Makes: []string{"ruling"},
		Run: func(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
			var data struct{ N int }
			if err := c.Data(&data); err != nil {
				return pipeline.Outcome{}, err
			}
			judge, _ := judges.ByName(judges.Attribution)
			// The stage's name tells the uses of stored answers apart: each is noted.
			bench := desk.Bench(c.ID(), fmt.Sprint("judge-", version))
			r, err := judge.Rule(ctx, bench, about(data.N), desk.Panel(judges.Attribution))
			if err != nil {
				return pipeline.Outcome{}, judging.Fault(err)
			}
			return pipeline.Pass(), c.Write(ctx, "ruling", r)
		}}}}
}

// BenchmarkJudgements takes 1,000 candidates through a stage that has one question about each, with the pools of a build: judge, desk,
// ledger and engine, against a server that takes 50 ms and is asked 16 at once. of-ideal is the share of the rate that the server allows.
// Then each is judged anew ten times from the stored replies: s/10000. On a busy machine the cpu-ms say more.
func BenchmarkJudgements(b *testing.B) {
	about := benchCase(b)
	var once sync.Once
	var reply modeltest.Reply // it quotes what all cases have
	server := modeltest.New(b, func(r modeltest.Request) modeltest.Reply {
		once.Do(func() { reply = judgestest.Model{Wait: benchLatency}.Reply(r) })
		return reply
	})
	models := &Models{Config: modelsAt(server.URL)}
	for b.Loop() {
		s, err := store.OpenDir(b.Context(), b.TempDir(), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var all []store.Candidate
		for n := range benchQuestions {
			all = append(all, store.Candidate{ID: fmt.Sprint("c-", n), Family: "bench", Repo: "o/r", Data: fmt.Appendf(nil, `{"N":%d}`, n), Order: int64(n)})
		}
		if _, err := s.AddCandidates(b.Context(), all); err != nil {
			b.Fatal(err)
		}
		run := func(version int, replayOnly bool) time.Duration {
			desk, err := judging.Open(b.Context(), s, models.Config, judging.Options{Clock: time.Now, ReplayOnly: replayOnly})
			if err != nil {
				b.Fatal(err)
			}
			e := pipeline.New(s, pipeline.Options{Pools: Config{Models: models}.pools(), Clock: time.Now, Owner: "bench"})
			started := time.Now()
			sum, err := e.Run(b.Context(), benchFamily(desk, version, about), "")
			if err != nil || sum.Ends[store.Admitted] != benchQuestions {
				b.Fatalf("%+v, %v", sum, err)
			}
			return time.Since(started)
		}
		before := server.Requests()
		ideal, used := benchQuestions*benchLatency/16, cpu(b)
		b.ReportMetric(ideal.Seconds()/run(1, false).Seconds(), "of-ideal")
		b.ReportMetric((cpu(b)-used).Seconds()*1000/benchQuestions, "cpu-ms/paid") // the server's too
		cached := time.Duration(0)
		used = cpu(b)
		for version := range 10 {
			cached += run(version+2, true)
		}
		b.ReportMetric(cached.Seconds(), "s/10000")
		b.ReportMetric((cpu(b)-used).Seconds()*1000/benchQuestions/10, "cpu-ms/cached")
		if n := server.Requests() - before; n != benchQuestions {
			b.Fatalf("%d requests", n)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// cpu is what this process has used of the processors: on a busy machine it tells more than the time on the wall.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
