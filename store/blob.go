package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Blobs keeps bytes by their digest. Store is one; another may keep them elsewhere.
type Blobs interface {
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
	Has(ctx context.Context, digest string) (bool, error)
}

var _ Blobs = (*Store)(nil)

const (
	digestPrefix = "sha256:"
	blobSuffix   = ".zst"
	tempFolder   = "tmp"
	maxBlob      = 1 << 30 // bytes, uncompressed; a decoder that trusts no header needs a bound
)

// Digest names bytes: "sha256:" and 64 hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// Put keeps data (at most 1 GiB) and returns its digest. When it returns, the bytes are on disk. What is already there is not
// written again, but GC's grace begins anew.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	digest := Digest(data)
	if err := s.blobs.put(digest, data); err != nil {
		return "", fmt.Errorf("writing blob %s: %w", digest, explainFile(err))
	}
	return digest, nil
}

// Get returns the bytes with that digest, verified: ErrMissing, ErrCorrupt.
func (s *Store) Get(ctx context.Context, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.blobs.get(digest)
}

// Has tells whether there is a blob with that digest; it does not verify it.
func (s *Store) Has(_ context.Context, digest string) (bool, error) {
	path, err := s.blobs.path(digest)
	if err != nil {
		return false, err
	}
	if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// blobs is the folder: ab/cdef….zst, and tmp/ for what is being written.
type blobs struct {
	dir    string
	clock  func() time.Time
	enc    *zstd.Encoder
	dec    *zstd.Decoder
	create func() (*os.File, error) // a new temporary file; tests make it fail
	// names is held while the folder of temporary files changes: there the kernel's own lock is waited for busily, which took a third
	// of the time of a process that asks models.
	names sync.Mutex
}

func openBlobs(dir string, clock func() time.Time) (*blobs, error) {
	b := &blobs{dir: filepath.Join(dir, "blobs"), clock: clock}
	b.create = func() (*os.File, error) {
		b.names.Lock()
		defer b.names.Unlock()
		return os.CreateTemp(filepath.Join(b.dir, tempFolder), "put-*")
	}
	if err := os.MkdirAll(filepath.Join(b.dir, tempFolder), 0o755); err != nil {
		return nil, err
	}
	var err error
	// One encoder goroutine and its state, reused: the bytes of a blob's file then depend on its content alone.
	if b.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, err
	}
	b.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlob))
	return b, err
}

func (b *blobs) close() {
	b.enc.Close() //nolint:errcheck // it holds nothing back: EncodeAll writes nowhere
	b.dec.Close()
}

func (b *blobs) path(digest string) (string, error) {
	name, ok := strings.CutPrefix(digest, digestPrefix)
	if !ok || !isHex(name) {
		return "", fmt.Errorf("not a digest: %q", digest)
	}
	return filepath.Join(b.dir, name[:2], name[2:]+blobSuffix), nil
}

func isHex(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (b *blobs) put(digest string, data []byte) error {
	if len(data) > maxBlob {
		return fmt.Errorf("%d bytes are more than the limit of %d", len(data), maxBlob)
	}
	err := b.pin(digest)
	if !errors.Is(err, ErrMissing) {
		return err
	}
	path, err := b.path(digest)
	if err != nil {
		return err
	}
	f, err := b.create()
	if err != nil {
		return err
	}
	err = b.fill(f, b.enc.EncodeAll(data, nil))
	if err == nil {
		err = b.publish(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// publish gives a finished file its name for good.
func (b *blobs) publish(temp, path string) error {
	folder := filepath.Dir(path)
	err := os.Mkdir(folder, 0o755)
	if err == nil {
		err = syncFolder(b.dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	b.names.Lock()
	err = os.Rename(temp, path)
	b.names.Unlock()
	if err != nil {
		return err
	}
	return syncFolder(folder)
}

// fill writes and closes a temporary file. Its time is the store's, so that GC compares like with like.
func (b *blobs) fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		now := b.clock()
		err = os.Chtimes(f.Name(), now, now)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (b *blobs) get(digest string) ([]byte, error) {
	path, err := b.path(digest)
	if err != nil {
		return nil, err
	}
	frame, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrMissing, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("reading blob %s: %w", digest, err)
	}
	data, err := b.dec.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, digest, err)
	}
	if got := Digest(data); got != digest {
		return nil, fmt.Errorf("%w: %s holds the bytes of %s", ErrCorrupt, digest, got)
	}
	return data, nil
}

// pin makes blobs young again, so that GC leaves them alone while a transaction that refers to them is on its way. The lock
// keeps GC from removing one between its look at the time and the removal.
func (b *blobs) pin(digests ...string) error {
	if len(digests) == 0 {
		return nil
	}
	unlock, err := b.lock(shared)
	if err != nil {
		return err
	}
	defer unlock()
	now := b.clock()
	for _, d := range digests {
		path, err := b.path(d)
		if err != nil {
			return err
		}
		err = os.Chtimes(path, now, now)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s", ErrMissing, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
