package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"sluice/replay"
)

// What is read of a job at most: the code that ran chose all of it.
const (
	maxFiles  = 10_000
	maxFile   = 256 << 20 // bytes of one report
	maxReport = 512 << 20 // bytes of all reports
	maxStream = 8 << 30   // bytes of the engine's archive, with what is skipped
)

var errTooMuch = errors.New("the job left too much to read")

// collected is what a container's folder of reports and logs held.
type collected struct {
	streams map[string]cut // by name in the log folder: "0.out"
	files   map[string][]byte
}

// collect reads the logs and reports of a container in which no step runs: nothing changes them any more.
func (b *box) collect(ctx context.Context) (collected, error) {
	r, _, err := b.s.api.CopyFromContainer(ctx, b.id, b.places.io)
	if err != nil {
		return collected{}, engineError("copying reports out of a container", err)
	}
	defer r.Close()
	c, err := readArchive(&budget{r: r, left: maxStream}, b.spec.limits.Output)
	if err != nil && !errors.Is(err, errTooMuch) {
		return c, engineError("reading reports", err)
	}
	return c, nil
}

// budget fails with errTooMuch after left bytes.
type budget struct {
	r    io.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// readArchive takes the regular files of an archive of the folder that holds log/ and out/. The engine sends them in
// that order, so that logs are read first; what is over a limit is left out.
func readArchive(r io.Reader, output int64) (collected, error) {
	c := collected{streams: map[string]cut{}, files: map[string][]byte{}}
	left := int64(maxReport)
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, fmt.Errorf("reading an archive: %w", err)
		}
		kind, name, ok := place(h)
		switch {
		case !ok:
		case kind == "log":
			if c.streams[name], err = readCut(tr, output); err != nil {
				return c, err
			}
		case kind == "out" && h.Size <= min(maxFile, left) && len(c.files) < maxFiles:
			if c.files[name], err = io.ReadAll(tr); err != nil {
				return c, fmt.Errorf("reading report %q: %w", name, err)
			}
			left -= h.Size
		}
	}
}

// place splits "<folder>/log/0.out" into its kind and its name; ok is false for all but regular files.
func place(h *tar.Header) (kind, name string, ok bool) {
	if h.Typeflag != tar.TypeReg || !clean(h.Name) {
		return "", "", false
	}
	_, rest, _ := strings.Cut(h.Name, "/")
	kind, name, ok = strings.Cut(rest, "/")
	return kind, name, ok
}

// fill puts each step's output into its result.
func (c collected) fill(steps []replay.StepResult) {
	for i := range steps {
		r := &steps[i]
		out, err := c.stream(i, "out"), c.stream(i, "err")
		r.Stdout, r.Stderr, r.Truncated = out.data, err.data, out.short || err.short
		if r.Stop == replay.Signal && r.ExitCode == codeFileSize {
			r.Stderr = append(r.Stderr, "\n[the sandbox's limit on the size of files was reached]\n"...)
		}
	}
}

func (c collected) stream(step int, name string) cut {
	return c.streams[path.Base(strconv.Itoa(step)+"."+name)]
}

// cut is a stream's bytes, possibly without its middle.
type cut struct {
	data  []byte
	short bool
}

// readCut reads r to its end and keeps limit bytes of it: the first half and the last.
func readCut(r io.Reader, limit int64) (cut, error) {
	head, err := io.ReadAll(io.LimitReader(r, limit/2))
	if err != nil {
		return cut{}, fmt.Errorf("reading output: %w", err)
	}
	t := tail{size: int(limit - limit/2)}
	if _, err := io.Copy(&t, r); err != nil {
		return cut{}, fmt.Errorf("reading output: %w", err)
	}
	rest := t.bytes()
	if t.lost() == 0 {
		return cut{data: append(head, rest...)}, nil
	}
	mark := fmt.Sprintf("\n[… %d bytes cut …]\n", t.lost())
	return cut{data: append(append(head, mark...), rest...), short: true}, nil
}

// tail is a writer that keeps the last size bytes.
type tail struct {
	size int
	buf  []byte
	all  int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.all += int64(len(p))
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.size {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.size:]...)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte { return t.buf[max(0, len(t.buf)-t.size):] }

func (t *tail) lost() int64 { return t.all - int64(len(t.bytes())) }
