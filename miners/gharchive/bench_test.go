package gharchive

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"sluice/miners/gharchive/synth"
)

// benchBytes is the size of the synthetic hour; SLUICE_BENCH_GHARCHIVE_MB sets another.
func benchBytes(b *testing.B) int64 {
	b.Helper()
	s := os.Getenv("SLUICE_BENCH_GHARCHIVE_MB")
	if s == "" {
		return 256 << 20
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		b.Fatal(err)
	}
	return int64(n) << 20
}

// packHour writes a synthetic hour file as the archive packs it.
func packHour(tb testing.TB, path string, c synth.Config) (events int) {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if events, err = synth.Write(z, c); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return events
}

func ownCPU(tb testing.TB) time.Duration {
	tb.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkHour reads a synthetic hour with everything that is looked for, and in the same run lets gzip and grep look for one word
// in it. Both are measured in processor time, since the pipe uses two cores: x-gzip-grep is how many times as many bytes a core
// gets through.
func BenchmarkHour(b *testing.B) {
	size := benchBytes(b)
	for _, hour := range []struct {
		name string
		era  synth.Era
		n    int64
	}{{"events-2015", synth.Events2015, size}, {"api-2011", synth.API2011, size / 8}, {"timeline-2012", synth.Timeline2012, size / 8}, {"short-2025", synth.Short2025, size / 8}} {
		b.Run(hour.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "2021-03-10-15.json.gz")
			packHour(b, path, synth.Config{Seed: 1, Bytes: hour.n, Era: hour.era})
			b.ResetTimer()
			for range b.N {
				base := gzipGrep(b, path)
				benchScan(b, path, base)
			}
		})
	}
}

// gzipGrep is the processor time of the plainest search there is.
func gzipGrep(b *testing.B, path string) time.Duration {
	b.Helper()
	cmd := exec.Command("sh", "-c", `gzip -dc "$1" | grep -c '"type":"PushEvent"'`, "sh", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n == 0 {
		b.Fatalf("grep counted %q", out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func benchScan(b *testing.B, path string, base time.Duration) {
	b.Helper()
	finds := 0
	began := ownCPU(b)
	res, err := ScanFile(context.Background(), path, Options{Hour: Hour{2021, 3, 10, 15}, Sink: func(_ []byte, fs []Find) error {
		finds += len(fs)
		return nil
	}})
	cpu := ownCPU(b) - began
	if err != nil || res.State != Done || finds == 0 && !strings.Contains(b.Name(), "short") {
		b.Fatal(res.State, res.Reason, finds, err)
	}
	seconds := cpu.Seconds()
	b.ReportMetric(float64(base)/float64(cpu), "x-gzip-grep")
	b.ReportMetric(float64(res.Size)/1e6/seconds, "packed-MB/s")
	b.ReportMetric(float64(res.Bytes)/1e6/seconds, "MB/s")
	b.ReportMetric(float64(res.Events)/seconds, "events/s")
	b.ReportMetric(float64(res.Bytes)/1e6/base.Seconds(), "gzip-grep-MB/s")
	b.ReportMetric(float64(finds), "finds")
}

// BenchmarkParts says where the time goes: unpacking alone, and the search without unpacking.
func BenchmarkParts(b *testing.B) {
	path := filepath.Join(b.TempDir(), "h.json.gz")
	packHour(b, path, synth.Config{Seed: 1, Bytes: benchBytes(b) / 4, Era: synth.Events2015})
	open := func() io.Reader {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = f.Close() })
		z, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		return z
	}
	data, err := io.ReadAll(open())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("unpack", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for range b.N {
			if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{open()}, make([]byte, 1<<18)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, all := range []bool{false, true} {
		b.Run(fmt.Sprintf("search/decode-all=%v", all), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for range b.N {
				o := Options{searchAll: all, Sink: func([]byte, []Find) error { return nil }}
				if _, err := Scan(context.Background(), strings.NewReader(string(data)), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
