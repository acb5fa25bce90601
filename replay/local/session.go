//go:build linux

package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice/replay"
)

// openState is a replay.Session: a state with a session of steps that goes on until Close.
type openState struct {
	se       *session
	baseline replay.Contents
	end      time.Time // wall limit
	closed   bool
}

var _ replay.Opener = (*Sandbox)(nil)

// Open implements replay.Opener. The folder of the environment that a session builds lies in its state and goes with it.
func (s *Sandbox) Open(ctx context.Context, spec replay.SessionSpec) (replay.Session, error) {
	o, err := s.openState(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("opening the session %s: %w", spec.Name, err)
	}
	return o, nil
}

func (s *Sandbox) openState(ctx context.Context, spec replay.SessionSpec) (*openState, error) {
	defaults := s.opts.Limits
	if spec.Build {
		defaults = s.opts.Install
	}
	limits := spec.Limits.Or(defaults)
	se, err := s.openSession(ctx, spec, limits)
	if err != nil {
		return nil, err
	}
	o := &openState{se: se}
	all := func(string) bool { return true }
	err = writeTree(ctx, se.view.state.path("tree"), spec.Tree, all, spec.Overlays)
	if err == nil {
		o.baseline, err = replay.Baseline(ctx, spec.Tree, spec.Overlays)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.end = s.opts.Clock().Add(limits.Wall)
	return o, nil
}

// openSession makes the walls and the environment's folder.
func (s *Sandbox) openSession(ctx context.Context, spec replay.SessionSpec, l replay.Limits) (*session, error) {
	if spec.Env != nil {
		env := s.envFolder(spec.Env.ID)
		if spec.Env.Sandbox != Name || !filepath.IsLocal(spec.Env.ID) || !env.complete() {
			return nil, fmt.Errorf("environment %q: %w", spec.Env.ID, ErrEnvironment)
		}
		se, err := s.open(view{env: env.content(), readOnly: spec.ReadOnly}, l)
		if err != nil {
			return nil, err
		}
		se.vars = []map[string]string{offline, l.CoreVars(), spec.Env.Recipe.Env}
		return se, nil
	}
	v, vars := view{readOnly: spec.ReadOnly}, offline
	if spec.Build {
		vars = s.opts.Network.vars()
		v.build, v.visible = true, files(vars)
	}
	se, err := s.open(v, l)
	if err != nil {
		return nil, err
	}
	se.vars, se.secrets = []map[string]string{vars, spec.Recipe.Env}, replay.SecretsOf(vars)
	se.view.env = se.view.state.path("env")
	se.places = se.view.places()
	err = os.MkdirAll(filepath.Join(se.view.env, "home"), 0o755)
	if err == nil && spec.Recipe.Base != nil {
		err = s.start(ctx, se.view.env, *spec.Recipe.Base, spec.Tree)
	}
	if err != nil {
		return nil, errors.Join(err, se.close())
	}
	return se, nil
}

// Exec implements replay.Session.
func (o *openState) Exec(ctx context.Context, step replay.Step) (replay.StepResult, error) {
	left := o.end.Sub(o.se.s.opts.Clock())
	if left <= 0 {
		return replay.StepResult{Name: step.Name, Stop: replay.Timeout, ExitCode: -1}, nil
	}
	if step.Timeout <= 0 || step.Timeout > left {
		step.Timeout = left
	}
	return o.se.step(ctx, step)
}

// Expand implements replay.Session.
func (o *openState) Expand(s string) string { return o.se.places.expand(s) }

// Close implements replay.Session.
func (o *openState) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	return o.se.close()
}

// Changes implements replay.Session.
func (o *openState) Changes(ctx context.Context) ([]replay.Change, error) {
	root, err := o.tree()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := treeReader{ctx: ctx, root: root, found: replay.Contents{}}
	if err := w.walk("."); err != nil {
		return nil, fmt.Errorf("looking for changes: %w", err)
	}
	return replay.Compare(o.baseline, w.found), nil
}

func (o *openState) tree() (*os.Root, error) {
	root, err := os.OpenRoot(o.se.view.state.path("tree"))
	if err != nil {
		return nil, fmt.Errorf("opening the tree: %w", err)
	}
	return root, nil
}

// Read implements replay.Session.
func (o *openState) Read(_ context.Context, name string) (replay.File, error) {
	f := replay.File{Path: name}
	if err := checkPath(name); err != nil {
		return f, fmt.Errorf("reading a file of the tree: %w", err)
	}
	root, err := o.tree()
	if err != nil {
		return f, err
	}
	defer root.Close()
	if err := o.readInto(root, &f); err != nil {
		return f, fmt.Errorf("reading a file of the tree: %w", err)
	}
	return f, nil
}

func (o *openState) readInto(root *os.Root, f *replay.File) error {
	for i := range f.Path {
		if f.Path[i] != '/' {
			continue
		}
		if info, err := root.Lstat(f.Path[:i]); err != nil || !info.IsDir() {
			return fmt.Errorf("%q: %w", f.Path, fs.ErrNotExist) // also behind a link
		}
	}
	info, err := root.Lstat(f.Path)
	if err != nil {
		return err
	}
	f.Mode = replay.PlainMode(info.Mode())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(f.Path)
		f.Data = []byte(target)
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is no regular file: %w", f.Path, fs.ErrNotExist)
	}
	in, err := root.OpenFile(f.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	f.Data, err = io.ReadAll(io.LimitReader(in, replay.MaxRead+1))
	if err == nil && len(f.Data) > replay.MaxRead {
		f.Data, err = nil, replay.ErrTooLarge
	}
	return err
}

// What of a session's tree is looked at to find its changes. No repository nests folders that deep.
const (
	maxDigested = 16 << 30 // bytes
	maxNesting  = 128
)

// treeReader digests a tree that hostile code has written: no link is followed, no pipe opened.
type treeReader struct {
	ctx   context.Context
	root  *os.Root
	found replay.Contents
	bytes int64
}

func (w *treeReader) walk(dir string) error {
	if strings.Count(dir, "/") > maxNesting {
		return replay.ErrTooLarge
	}
	d, err := w.root.Open(dir)
	if errors.Is(err, fs.ErrPermission) && dir != "." {
		w.found[dir] = replay.Entry{Mode: fs.ModeDir} // closed by its own maker: nobody can tell what is in it
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1000)
		for _, e := range entries {
			if err := w.visit(path.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := errors.Join(err, w.ctx.Err()); err != nil {
			return err
		}
	}
}

func (w *treeReader) visit(name string) error {
	info, err := w.root.Lstat(name)
	if err != nil {
		return err
	}
	if len(w.found) >= replay.MaxEntries {
		return replay.ErrTooLarge
	}
	switch {
	case info.IsDir():
		return w.walk(name)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := w.root.Readlink(name)
		w.found[name] = replay.EntryOf(replay.File{Mode: info.Mode(), Data: []byte(target)})
		return err
	case !info.Mode().IsRegular():
		w.found[name] = replay.Entry{Mode: info.Mode()}
		return nil
	}
	return w.digest(name, info)
}

func (w *treeReader) digest(name string, info fs.FileInfo) error {
	if w.bytes += info.Size(); w.bytes > maxDigested {
		return replay.ErrTooLarge
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, info.Size()))
	if err != nil {
		return err
	}
	w.found[name] = replay.Entry{Mode: replay.PlainMode(info.Mode()), Digest: "sha256:" + hex.EncodeToString(h.Sum(nil)), Size: n}
	return nil
}
