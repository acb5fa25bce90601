package gharchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"sluice/miners/gharchive/synth"
)

func packed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(p)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func manyEvents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%d","type":"WatchEvent","repo":{"id":1,"name":"o/r"},"created_at":"2020-01-01T00:10:00Z"}`+"\n", i+1)
	}
	return b.String()
}

func TestFiles(t *testing.T) {
	t.Parallel()
	whole := packed(t, manyEvents(5000))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0x55
	for _, tt := range []struct {
		name   string
		data   []byte
		state  State
		events int // -1: some
		reason string
	}{
		{"2020-01-01-0.json.gz", whole, Done, 5000, ""},
		{"half.json.gz", whole[:len(whole)/2], Partial, -1, "unexpected EOF"},
		{"without-checksum.json.gz", whole[:len(whole)-4], Partial, 5000, "unexpected EOF"},
		{"flipped.json.gz", flipped, Partial, -1, ""},
		{"members.json.gz", packed(t, manyEvents(3), strings.ReplaceAll(manyEvents(3), `"id":"`, `"id":"9`)), Done, 6, ""},
		{"garbage-after.json.gz", append(bytes.Clone(whole), "garbage"...), Partial, 5000, "unexpected EOF"},
		{"empty.json.gz", nil, Suspect, 0, "the file is empty"},
		{"gz-of-empty.json.gz", packed(t, ""), Suspect, 0, "at most one event"},
		{"one.json.gz", packed(t, manyEvents(1)), Suspect, 1, "at most one event"},
		{"xml.json.gz", []byte("<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>"), NotGzip, 0, "page of an error"},
		{"html.json.gz", []byte("<!DOCTYPE html><html></html>"), NotGzip, 0, "page of an error"},
		{"text.json.gz", []byte("hello"), NotGzip, 0, "not a gzip file"},
		{"byte.json.gz", []byte{0x1f}, NotGzip, 0, "not a gzip file"},
		{"header.json.gz", whole[:5], Partial, 0, "damaged at its beginning"},
		{"2020-01-01-0.json", []byte(manyEvents(7)), Done, 7, ""},
		{"packed.json", packed(t, manyEvents(7)), Done, 7, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), tt.name)
			if err := os.WriteFile(path, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			res, err := ScanFile(t.Context(), path, Options{Hour: Hour{2020, 1, 1, 0}})
			if err != nil {
				t.Fatal(err)
			}
			if res.State != tt.state || !strings.Contains(res.Reason, tt.reason) || (res.Reason == "") != (tt.state == Done) {
				t.Errorf("%s: %q", res.State, res.Reason)
			}
			if res.Events != tt.events && tt.events >= 0 || tt.events < 0 && (res.Events == 0 || res.Events > 5000) {
				t.Errorf("%d events", res.Events)
			}
			if want := digestOf(tt.data); res.Digest != want || res.Size != int64(len(tt.data)) {
				t.Errorf("digest %s of %d bytes, want %s", res.Digest, res.Size, want)
			}
		})
	}
}

// TestDamagedFilesKeepTheirFinds: what came before the damage counts, also what was not yet handed over then.
func TestDamagedFilesKeepTheirFinds(t *testing.T) {
	t.Parallel()
	const event = `{"id":"7","type":"PushEvent","repo":{"id":1,"name":"o/r"},"payload":{"commits":[{"sha":"2222222222222222222222222222222222222222",` +
		`"message":"fix regression introduced by 1111111111111111111111111111111111111111"}]},"created_at":"2020-01-01T00:10:00Z"}` + "\n"
	whole := packed(t, event+manyEvents(5000))
	long := packed(t, event+`{"id":"8","x":"`+strings.Repeat("x", 2*bufferSize))
	for name, data := range map[string][]byte{
		"half": whole[:len(whole)/2], "no checksum": whole[:len(whole)-4], "garbage": append(bytes.Clone(whole), "garbage"...),
		"in a long line": long[:len(long)-9],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "h.json.gz")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			res, err := ScanFile(t.Context(), path, Options{Hour: Hour{2020, 1, 1, 0}, Sink: func(_ []byte, finds []Find) error {
				for _, f := range finds {
					got = append(got, f.Kind)
				}
				return nil
			}})
			if err != nil || res.State != Partial || len(got) != 1 {
				t.Errorf("%s, %v, finds %v", res.State, err, got)
			}
		})
	}
}

func digestOf(data []byte) string {
	d := newDigester(bytes.NewReader(data))
	_, _ = d.Read(make([]byte, len(data)+1))
	return d.digest()
}

func TestScanFileErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ScanFile(t.Context(), filepath.Join(dir, "none.json.gz"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := ScanFile(t.Context(), dir, Options{}); err == nil {
		t.Error("a folder is no file")
	}
	path := filepath.Join(dir, "h.json.gz")
	packHour(t, path, synth.Config{Seed: 1, Bytes: 1 << 20, Era: synth.Events2015, Leads: 100})
	full := errors.New("full")
	if _, err := ScanFile(t.Context(), path, Options{Sink: func([]byte, []Find) error { return full }}); !errors.Is(err, full) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ScanFile(ctx, path, Options{Sink: func([]byte, []Find) error { return nil }}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
