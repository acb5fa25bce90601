package attribution

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/lang"
	"sluice/pipeline/evaluate/stats"
)

// BenchmarkAgainstBlame compares a variant with plain `git blame -w`, one process after another and one for each file of a fix, without a
// commit graph, given the deleted lines of code for nothing. It runs when SLUICE_SZZ_TRUTH (a pattern of truth files of one
// repository each) and SLUICE_SZZ_REPOS (a folder with {owner} and {name}) are set; SLUICE_SZZ_VARIANT, SLUICE_SZZ_WORKERS and SLUICE_SZZ_MIRRORS
// are optional. Use -benchtime 1x.
func BenchmarkAgainstBlame(b *testing.B) {
	files, err := filepath.Glob(os.Getenv("SLUICE_SZZ_TRUTH"))
	if err != nil || len(files) == 0 {
		b.Skip("SLUICE_SZZ_TRUTH names no files")
	}
	variants, err := ParseVariants(os.Getenv("SLUICE_SZZ_VARIANT"))
	if err != nil {
		b.Fatal(err)
	}
	workers := 1
	if s := os.Getenv("SLUICE_SZZ_WORKERS"); s != "" {
		if _, err := fmt.Sscan(s, &workers); err != nil {
			b.Fatal(err)
		}
	}
	dir := os.Getenv("SLUICE_SZZ_MIRRORS")
	if dir == "" {
		dir = b.TempDir()
	}
	for _, name := range files {
		b.Run(strings.TrimSuffix(filepath.Base(name), ".jsonl"), func(b *testing.B) { compare(b, name, dir, variants[0], workers) })
	}
}

func compare(b *testing.B, file, dir string, v Variant, workers int) {
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	rows, err := ReadTruth(f)
	f.Close()
	if err != nil {
		b.Fatal(err)
	}
	owner, name, _ := strings.Cut(rows[0].Repo, "/")
	source := strings.NewReplacer("{owner}", owner, "{name}", name).Replace(os.Getenv("SLUICE_SZZ_REPOS"))
	r, err := Open(b.Context(), source, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var jobs [][]blameJob
	for _, t := range rows {
		jobs = append(jobs, blameJobs(b, r.Mirror, t))
	}
	for b.Loop() {
		start := time.Now()
		var each []float64
		for _, fix := range jobs {
			began := time.Now()
			for _, j := range fix {
				j.run(b, r.Mirror.Dir())
			}
			each = append(each, time.Since(began).Seconds())
		}
		plain := time.Since(start)
		e := Evaluation{Variant: v}
		if err := e.Add(b.Context(), NewKit(r, nil), rows, Options{Workers: workers, Clock: time.Now}); err != nil {
			b.Fatal(err)
		}
		report := e.Report(workers)
		b.ReportMetric(float64(len(rows)), "rows")
		b.ReportMetric(1000*stats.Mean(each), "blame-ms/fix")
		b.ReportMetric(float64(len(rows))/plain.Seconds(), "blame-fixes/s")
		b.ReportMetric(1000*report.Total.Time.WallSeconds/float64(report.Total.Commits.Rows), v.Name+"-ms/fix")
		b.ReportMetric(report.Total.Time.FixesPerSecond*plain.Seconds()/float64(len(rows)), "times-as-fast")
	}
}

type blameJob []string

// blameJobs are the processes that plain blame would need for a fix.
func blameJobs(b *testing.B, m *gitrepo.Mirror, t Truth) []blameJob {
	fix, err := m.Commit(b.Context(), t.Fix)
	if err != nil {
		b.Fatal(err)
	}
	base := fix.FirstParent()
	hunks, err := m.Hunks(b.Context(), base, fix.ID, nil, false)
	if err != nil {
		b.Fatal(err)
	}
	var jobs []blameJob
	for _, f := range hunks {
		if f.OldPath == "" || lang.Classify(f.OldPath) != lang.Source {
			continue
		}
		src, err := m.ReadFile(b.Context(), base, f.OldPath)
		if err != nil {
			continue // not there, for anybody
		}
		code, _ := lang.CodeLines(f.OldPath, src)
		job := blameJob{"-c", "core.commitGraph=false", "blame", "-w", "--porcelain"}
		for _, h := range f.Hunks {
			for n := h.Old.First; n <= min(h.Old.Last, len(code)); n++ {
				if code[n-1] {
					job = append(job, fmt.Sprintf("-L%d,%d", n, n))
				}
			}
		}
		if len(job) > 5 {
			jobs = append(jobs, append(job, base, "--", f.OldPath))
		}
	}
	return jobs
}

func (j blameJob) run(b *testing.B, dir string) {
	cmd := exec.Command("git", j...)
	cmd.Dir = dir
	if _, err := cmd.Output(); err != nil {
		b.Fatal(j, err)
	}
}
