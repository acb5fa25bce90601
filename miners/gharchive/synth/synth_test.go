package synth

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"testing"
)

func hour(t *testing.T, c Config) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestShape holds what the benchmark relies on; see the package comment.
func TestShape(t *testing.T) {
	t.Parallel()
	data := hour(t, Config{Seed: 1, Bytes: 40 << 20, Era: Events2015})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(data)
	_ = z.Close()
	if ratio := float64(len(data)) / float64(packed.Len()); ratio < 5 || ratio > 8 {
		t.Errorf("gzip makes it %.1f times smaller, want 5 to 8", ratio)
	}
	var lengths []int
	share, size := map[string]int{}, map[string]int{}
	for line := range bytes.Lines(data) {
		lengths = append(lengths, len(line))
		var e struct{ Type string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		share[e.Type]++
		size[e.Type] += len(line)
	}
	slices.Sort(lengths)
	if p50, p99 := lengths[len(lengths)/2], lengths[len(lengths)*99/100]; p50 < 600 || p50 > 1500 || p99 < 15_000 || p99 > 35_000 {
		t.Errorf("lines of %d bytes at the median, %d at the 99th percentile", p50, p99)
	}
	part := func(m map[string]int, total int) float64 { return float64(m["PullRequestEvent"]) / float64(total) }
	if n, b := part(share, len(lengths)), part(size, len(data)); n < .05 || n > .075 || b < .25 || b > .45 {
		t.Errorf("pull requests are %.2f of the events and %.2f of the bytes", n, b)
	}
	t.Logf("%d events, median %d, p99 %d, max %d, packed 1:%.2f, pull requests %.3f of events %.3f of bytes, pushes %.3f of bytes", len(lengths), lengths[len(lengths)/2],
		lengths[len(lengths)*99/100], lengths[len(lengths)-1], float64(len(data))/float64(packed.Len()), part(share, len(lengths)), part(size, len(data)), float64(size["PushEvent"])/float64(len(data)))
}

func TestErasAreValidAndRepeatable(t *testing.T) {
	t.Parallel()
	for era := API2011; era <= Short2025; era++ {
		data := hour(t, Config{Seed: 7, Bytes: 1 << 20, Era: era})
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				t.Fatalf("era %d: %s", era, line)
			}
		}
		if !bytes.Equal(data, hour(t, Config{Seed: 7, Bytes: 1 << 20, Era: era})) {
			t.Errorf("era %d: not repeatable", era)
		}
		if bytes.Equal(data, hour(t, Config{Seed: 8, Bytes: 1 << 20, Era: era})) {
			t.Errorf("era %d: the seed does nothing", era)
		}
	}
}
