package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Options says how a mirror is opened. The zero value is usable.
type Options struct {
	// Offline takes the mirror as it is, and fails with fs.ErrNotExist when there is none.
	Offline bool
	// Branch is taken for the default branch, whatever the source says.
	Branch string
}

// Mirror is a bare clone of a source. Its methods may be called from many goroutines.
type Mirror struct {
	source  source
	git     git
	branch  string
	objects *pool
}

// Open makes or refreshes the mirror of source (a path or a URL) below dir, and opens it. Only one process at a time writes to
// a mirror; the others wait. A mirror appears whole or not at all.
//
// Of a repository on this machine the objects and references are read and nothing else: no git process runs in it, and
// its configuration is never looked at.
//
// Errors: ErrNotRepository, ErrEmpty, ErrMissingObject (the tip of the default branch is not there).
func Open(ctx context.Context, source, dir string, o Options) (*Mirror, error) {
	src, err := parseSource(source)
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the mirror of %s: %w", src.shown, err)
	}
	g := git{dir: filepath.Join(dir, src.folder())}
	if err := prepare(ctx, src, g.dir, o.Offline); err != nil {
		return nil, fmt.Errorf("opening the mirror of %s: %w", src.shown, err)
	}
	return &Mirror{source: src, git: g, branch: o.Branch, objects: newPool(g)}, nil
}

// Close ends the mirror's child processes. The mirror may be used again after it.
func (m *Mirror) Close() error {
	m.objects.close()
	return nil
}

// Name is "owner/name" where the source tells it, else its last word.
func (m *Mirror) Name() string { return m.source.name() }

// Source is what the mirror was opened with, made absolute and without a password.
func (m *Mirror) Source() string { return m.source.shown }

// Dir is the bare repository's folder.
func (m *Mirror) Dir() string { return m.git.dir }

// Shallow says whether history is cut off somewhere: what landed before is not there, and a change at the border looks like a root.
func (m *Mirror) Shallow() bool { return exists(filepath.Join(m.git.dir, "shallow")) }

func prepare(ctx context.Context, src source, dir string, offline bool) error {
	if offline {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("working offline: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	held, err := lock(ctx, strings.TrimSuffix(dir, ".git")+".lock")
	if err != nil {
		return err
	}
	defer held.Close()
	if exists(dir) {
		return update(ctx, src, git{dir: dir, held: held})
	}
	return clone(ctx, src, git{dir: dir, held: held})
}

// clone fills a folder of another name and renames it at last: what a clone that was killed left is never taken for a mirror,
// and the next clone removes it.
func clone(ctx context.Context, src source, g git) error {
	dir, half := g.dir, strings.TrimSuffix(g.dir, ".git")+".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	g.dir = half
	if err := update(ctx, src, g); err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return os.Rename(half, dir)
}

func update(ctx context.Context, src source, g git) error {
	var err error
	if src.path != "" {
		err = copyLocal(ctx, src.path, g)
	} else {
		g.mask = strings.NewReplacer(src.url, src.shown)
		err = fetchRemote(ctx, src.url, g)
	}
	if err != nil {
		return err
	}
	return writeCommitGraph(ctx, g)
}

// initialise makes an empty bare repository unless there is one.
func initialise(ctx context.Context, g git, idLength int) error {
	if exists(filepath.Join(g.dir, "HEAD")) {
		return nil
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return err
	}
	format := "sha1"
	if idLength == 64 {
		format = "sha256"
	}
	_, err := g.output(ctx, nil, "init", "-q", "--bare", "--template=", "--object-format="+format, "--initial-branch=main")
	return err
}

// lock waits until no other process (and nobody else in this one) has the file locked. Closing the file unlocks, and so does
// the death of all that inherited it.
func lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	got := make(chan error, 1)
	go func() { got <- flock(f) }()
	select {
	case err = <-got:
	case <-ctx.Done():
		// Closing is left to the waiter: the descriptor must not be reused under it.
		go func() { <-got; f.Close() }()
		return nil, fmt.Errorf("locking %s: %w", path, context.Cause(ctx))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// isAbsent says that nothing is there, also where a part of the path is no folder.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
