package gharchive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// receive writes what comes behind the first from bytes of the part. The note about the file is written first: a part without one is
// worth nothing.
func (d *download) receive(p part, from int64, body io.Reader) (n int64, err error) {
	note, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(d.f.Dir, 0o755); err != nil {
		return 0, err
	}
	flags := os.O_WRONLY | os.O_CREATE
	if from == 0 {
		flags |= os.O_TRUNC
	}
	out, err := os.OpenFile(d.partFile(), flags, 0o644)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := os.WriteFile(d.noteFile(), note, 0o644); err != nil {
		return 0, err
	}
	if _, err := out.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	if p.Size >= 0 && from >= p.Size {
		return 0, nil // nothing is missing; see judge
	}
	return io.Copy(out, body)
}

// finish gives a whole file its name.
func (d *download) finish(p part, size int64) (Fetched, error) {
	if p.Size >= 0 && size != p.Size {
		return Fetched{}, fmt.Errorf("%w: %d of %d bytes", ErrServer, size, p.Size)
	}
	if err := os.Rename(d.partFile(), d.path); err != nil {
		return Fetched{}, err
	}
	if err := os.Remove(d.noteFile()); err != nil {
		return Fetched{}, err
	}
	return Fetched{Path: d.path, ETag: p.ETag, Size: size, New: d.came}, nil
}

// Discard removes the file of an hour, so that Fetch gets it again.
func (f *Fetcher) Discard(h Hour) error {
	err := os.Remove(filepath.Join(f.Dir, h.String()+".json.gz"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("discarding an hour file: %w", err)
	}
	return nil
}

// Changed asks the server whether the file of an hour is another one than that with the ETag and the size. What the server does not
// tell is no change; one that does not answer is ErrServer.
func (f *Fetcher) Changed(ctx context.Context, h Hour, etag string, size int64) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, f.stall())
	defer cancel()
	address := expand(f.Template, h)
	req, err := http.NewRequestWithContext(limited, http.MethodHead, address, nil)
	if err != nil {
		return false, fmt.Errorf("asking for %s: %w", redact(address), err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := f.Client.Do(req)
	if err != nil && ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return false, fmt.Errorf("asking for %s: %w", redact(address), ErrServer)
	}
	_ = resp.Body.Close()
	now := resp.Header.Get("ETag")
	return resp.StatusCode == http.StatusOK && (etag != "" && now != "" && now != etag || resp.ContentLength > 0 && resp.ContentLength != size), nil
}
