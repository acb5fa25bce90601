package gharchive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// State is what became of an hour's file.
type State string

// States of a file that was read. Hours without one have an Absence.
const (
	Done    State = "done"
	Partial State = "partial"  // the file is damaged or cut off; what came before that counts
	NotGzip State = "not_gzip" // a page of an error, or something else
	Suspect State = "suspect"  // it holds so little that something was lost
)

// FileResult is what reading a file gave.
type FileResult struct {
	Result
	State  State
	Reason string // one line; "" when done
	Digest string // SHA-256 of the file, "sha256:…"
	Size   int64  // of the file, in bytes
}

// readSize is how much of a file is read at a time.
const readSize = 256 << 10

// ScanFile reads one hour file. What is wrong with the file is in the result; an error is the machine's, the sink's or the
// context's.
//
// The unpacking is klauspost's: on the synthetic hour it takes 0.75 of the processor time of compress/gzip and 0.45 of that of
// the gzip program. pgzip only moves it to another thread, and there is a file for every core.
func ScanFile(ctx context.Context, path string, o Options) (FileResult, error) {
	f, err := os.Open(path)
	if err != nil {
		return FileResult{}, fmt.Errorf("opening an hour file: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	d := newDigester(f)
	res, err := scanPacked(ctx, bufio.NewReaderSize(d, readSize), strings.HasSuffix(path, ".json"), o)
	if err == nil && d.err == nil {
		_, err = io.Copy(io.Discard, d) // what a damaged file still holds belongs to its digest
	}
	if d.err != nil {
		err = d.err
	}
	if err != nil {
		return FileResult{}, fmt.Errorf("reading %s: %w", path, err)
	}
	res.Digest, res.Size = d.digest(), d.n
	return res, nil
}

// digester remembers the machine's errors apart from the file's.
type digester struct {
	src io.Reader
	sum hash.Hash
	n   int64
	err error
}

func newDigester(src io.Reader) *digester { return &digester{src: src, sum: sha256.New()} }

func (d *digester) digest() string { return "sha256:" + hex.EncodeToString(d.sum.Sum(nil)) }

func (d *digester) Read(p []byte) (int, error) {
	n, err := d.src.Read(p)
	d.sum.Write(p[:n])
	d.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		d.err = err
	}
	return n, err
}

func scanPacked(ctx context.Context, in *bufio.Reader, plain bool, o Options) (FileResult, error) {
	head, _ := in.Peek(2) // a shorter file, or an error, shows below
	switch {
	case len(head) == 0:
		return FileResult{State: Suspect, Reason: "the file is empty"}, nil
	case plain && head[0] != 0x1f:
		return scanState(ctx, in, o)
	case len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b:
		return FileResult{State: NotGzip, Reason: beginning(in)}, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return FileResult{State: Partial, Reason: "damaged at its beginning: " + err.Error()}, nil
	}
	defer z.Close() //nolint:errcheck // errors of the stream came with its reads
	return scanState(ctx, z, o)
}

// beginning says what a file is that is no gzip.
func beginning(in *bufio.Reader) string {
	head, _ := in.Peek(512)
	text := strings.ToLower(string(head))
	switch {
	case strings.Contains(text, "<?xml"), strings.Contains(text, "<html"), strings.Contains(text, "<!doctype"):
		return "it is a page of an error, not a gzip file"
	}
	return "it is not a gzip file"
}

// scanState reads the stream and tells an end from a break.
func scanState(ctx context.Context, in io.Reader, o Options) (FileResult, error) {
	res, err := Scan(ctx, in, o)
	out := FileResult{Result: res, State: Done}
	var broken *SourceError
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.As(err, &broken):
		out.State, out.Reason = Partial, broken.Error()
		return out, nil
	case err != nil:
		return out, err
	case res.Events+res.Outside <= 1:
		out.State, out.Reason = Suspect, "it holds at most one event"
	}
	return out, nil
}

// FileDigest is the digest of a file as ScanFile gives it.
func FileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("opening an hour file: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	d := newDigester(f)
	if _, err := io.Copy(io.Discard, d); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return d.digest(), nil
}
