package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
)

type entry struct {
	kind       byte
	name, data string
}

func archive(entries ...entry) []byte {
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Mode: 0o644, Format: tar.FormatPAX}
		if e.kind == tar.TypeReg {
			h.Size = int64(len(e.data))
		} else {
			h.Linkname = e.data
		}
		if err := tw.WriteHeader(h); err != nil {
			panic(err)
		}
		if e.kind == tar.TypeReg {
			io.WriteString(tw, e.data)
		}
	}
	tw.Close()
	return buf.Bytes()
}

func TestReadArchive(t *testing.T) {
	t.Parallel()
	const r, l = tar.TypeReg, tar.TypeSymlink
	got, err := readArchive(bytes.NewReader(archive(
		entry{tar.TypeDir, "x/", ""}, entry{tar.TypeDir, "x/log/", ""}, entry{r, "x/log/0.out", "hello"}, entry{r, "x/log/0.err", ""},
		entry{tar.TypeDir, "x/out/", ""}, entry{r, "x/out/r.xml", "<r/>"}, entry{r, "x/out/d/\xff", "y"},
		entry{l, "x/out/link", "/etc/passwd"}, entry{tar.TypeLink, "x/out/hard", "x/out/r.xml"},
		entry{tar.TypeFifo, "x/out/fifo", ""}, entry{tar.TypeChar, "x/out/null", ""},
		entry{r, "x/out/../../../etc/passwd", "evil"}, entry{r, "/x/out/abs", "evil"}, entry{r, "x/other/f", "no"}, entry{r, "x/out", "no"},
	)), 100)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"r.xml": []byte("<r/>"), "d/\xff": []byte("y")}
	if d := cmp.Diff(files, got.files); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if s := got.stream(0, "out"); string(s.data) != "hello" || s.short {
		t.Errorf("stdout %+v", s)
	}
}

// endless is an archive that never ends: a job that left more than anyone reads.
type endless struct {
	head *bytes.Reader
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.head.Len() > 0 {
		return e.head.Read(p)
	}
	clear(p)
	e.n += int64(len(p))
	return len(p), nil
}

func TestArchiveIsReadWithinBudget(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "x/log/0.out", Size: 2})
	io.WriteString(tw, "ok")
	tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "x/out/huge", Size: maxFile + 1})
	src := &endless{head: bytes.NewReader(buf.Bytes())}
	got, err := readArchive(&budget{r: src, left: 1 << 20}, 100)
	if !errors.Is(err, errTooMuch) || src.n > 1<<20 {
		t.Errorf("read %d bytes, %v", src.n, err)
	}
	if string(got.stream(0, "out").data) != "ok" || len(got.files) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReadCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "in")
		limit := rapid.Int64Range(1, 100).Draw(t, "limit")
		got, err := readCut(iotestReader{bytes.NewReader(in), rapid.IntRange(1, 50).Draw(t, "chunk")}, limit)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(in)) <= limit {
			if got.short || !bytes.Equal(got.data, in) {
				t.Fatalf("%d bytes with limit %d were changed", len(in), limit)
			}
			return
		}
		head, tail := in[:limit/2], in[int64(len(in))-(limit-limit/2):]
		if !got.short || !bytes.HasPrefix(got.data, head) || !bytes.HasSuffix(got.data, tail) || len(got.data) > int(limit)+60 {
			t.Fatalf("%d bytes with limit %d: %q", len(in), limit, got.data)
		}
	})
}

// iotestReader gives at most n bytes at a time.
type iotestReader struct {
	r io.Reader
	n int
}

func (r iotestReader) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), r.n)]) }

func TestFill(t *testing.T) {
	t.Parallel()
	c := collected{streams: map[string]cut{"0.out": {data: []byte("a")}, "1.err": {data: []byte("b"), short: true}}}
	steps := []replay.StepResult{{Stop: replay.Exited}, {Stop: replay.Signal, ExitCode: codeFileSize}}
	c.fill(steps)
	if string(steps[0].Stdout) != "a" || steps[0].Truncated || !steps[1].Truncated {
		t.Errorf("got %+v", steps)
	}
	if s := string(steps[1].Stderr); !strings.HasPrefix(s, "b") || !strings.Contains(s, "limit on the size of files") {
		t.Errorf("stderr %q", s)
	}
}

func FuzzReadArchive(f *testing.F) {
	f.Add(archive(entry{tar.TypeReg, "x/log/0.out", "hello"}, entry{tar.TypeReg, "x/out/r", "y"}))
	f.Add(archive(entry{tar.TypeSymlink, "x/out/l", "/"}))
	f.Add([]byte("not an archive"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readArchive(&budget{r: bytes.NewReader(b), left: 1 << 20}, 64)
		if err != nil {
			return
		}
		for name, data := range c.files {
			if !clean(name) || len(data) > len(b) {
				t.Errorf("file %q of %d bytes", name, len(data))
			}
		}
	})
}

func TestParseWitness(t *testing.T) {
	t.Parallel()
	df := "Filesystem 1024-blocks Used Available Capacity Mounted on\noverlay 264212084 21417588 74083676 23% /\n"
	tests := []struct {
		name, in string
		want     witness
	}{
		{"version 1", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n" + df, witness{kills: 3}},
		{"version 2", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n" + df, witness{kills: 2}},
		{"processes, without the one that asks", "processes 3\noom_kill 0\n" + df, witness{processes: 2}},
		{"no count", "processes \noom_kill 0\n" + df, witness{}},
		{"full", "oom_kill 0\nFilesystem x\noverlay   264212084  264200000  100  100% /\n", witness{full: true}},
		{"its own", "processes 3\noom_kill 0\n" + df + "\ncommands\ninit\x00--\x00sleep\x00660\x00sleep\x00660\x00sh\x00", witness{processes: 2, waits: true}},
		{"a stray", "processes 3\noom_kill 0\n" + df + "\ncommands\ninit\x00--\x00sleep\x00660\x00sleep\x00300\x00sh\x00", witness{processes: 2}},
		{"told by a process", "\n\ncommands\nx\noom_kill 7\nprocesses 9\n", witness{}},
		{"nothing", "", witness{}},
		{"noise", "oom_kill x\noverlay a b c 1% /\n", witness{}},
	}
	for _, tt := range tests {
		if got := parseWitness([]byte(tt.in), []string{"sleep", "660"}); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestLiving(t *testing.T) {
	t.Parallel()
	ps := [][]string{{"root", "1", "docker-init"}, {"root", "2", "sleep 60"}, {"10001", "3", "[sh] <defunct>"}, {}}
	if n := living(ps); n != 2 {
		t.Errorf("got %d", n)
	}
}
