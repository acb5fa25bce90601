package attribution

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
	"sluice/miners/lang"
	"sluice/pipeline/evaluate/stats"
)

// BenchmarkAgainstBlame compares a variant with plain `git blame -w`, one process after another and one for each file of a fix, without a
// commit graph, given the deleted lines of code for nothing. It runs on a history that it makes, or on real ones when SLUICE_SZZ_TRUTH (a
// pattern of truth files of one repository each) and SLUICE_SZZ_REPOS (a folder with {owner} and {name}) are set;
// SLUICE_SZZ_VARIANT, SLUICE_SZZ_WORKERS and SLUICE_SZZ_MIRRORS are optional. Use -benchtime 1x.
func BenchmarkAgainstBlame(b *testing.B) {
	files, err := filepath.Glob(os.Getenv("SLUICE_SZZ_TRUTH"))
	if err != nil || len(files) == 0 {
		files = []string{makeHistory(b)}
	}
	variants, err := ParseVariants(os.Getenv("SLUICE_SZZ_VARIANT"))
	if err != nil {
		b.Fatal(err)
	}
	workers := runtime.NumCPU()
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

// makeHistory writes a repository of 1,500 commits on eight files of 1,200 lines, and a truth file in which the last 100 are fixes.
func makeHistory(b *testing.B) (truth string) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	files := make([][]string, 8)
	for i := range files {
		for n := range 1200 {
			files[i] = append(files[i], fmt.Sprintf("\tvalue_%d = compute(%d, %d);\n", n%97, i, n))
		}
	}
	builder := gittest.NewBuilder()
	for n := range 1500 {
		i := random.IntN(len(files))
		at := random.IntN(len(files[i]) - 5)
		for k := range 1 + random.IntN(4) {
			files[i][at+k] = fmt.Sprintf("\tvalue_%d = improved(%d, %d);\n", k, n, at)
		}
		c := gittest.Commit{Name: fmt.Sprint(n), Message: fmt.Sprintf("Improve value %d", at), Files: map[string]string{}}
		for f := range files {
			if f == i || n == 0 {
				c.Files[fmt.Sprintf("src/part%d.c", f)] = strings.Join(files[f], "")
			}
		}
		builder.Add(c)
	}
	dir := b.TempDir()
	ids, err := builder.BuildIn(filepath.Join(dir, "made+up"))
	if err != nil {
		b.Fatal(err)
	}
	var rows strings.Builder
	for n := 1400; n < 1500; n++ {
		fmt.Fprintf(&rows, "{\"repo\":\"made/up\",\"fix_sha\":%q,\"intro_sha\":%q}\n", ids[fmt.Sprint(n)], ids[fmt.Sprint(n-1)])
	}
	truth = filepath.Join(dir, "made.jsonl")
	if err := os.WriteFile(truth, []byte(rows.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("SLUICE_SZZ_REPOS", filepath.Join(dir, "{owner}+{name}"))
	return truth
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
