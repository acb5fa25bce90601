//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"sluice/replay"
)

// errPath says that a tree or overlay names something that is not a file below its root.
var errPath = errors.New("unsafe path")

// writer writes files below a folder. It never follows a link: a link where a file or folder has to be is replaced, as
// git does. os.Root stands behind that, so that no mistake here reaches what is outside.
type writer struct {
	root *os.Root
	dirs map[string]bool // known to be real folders
}

func newWriter(dir string) (*writer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &writer{root: root, dirs: map[string]bool{".": true}}, nil
}

func (w *writer) close() error { return w.root.Close() }

// writeTree writes the tree's files that keep accepts, then the overlays.
func writeTree(ctx context.Context, dir string, t replay.Tree, keep func(string) bool, overlays []replay.Overlay) error {
	w, err := newWriter(dir)
	if err != nil {
		return err
	}
	defer w.close()
	err = t.Each(ctx, func(f replay.File) error {
		if !keep(f.Path) {
			return nil
		}
		return w.write(f)
	})
	if err != nil {
		return fmt.Errorf("writing the tree: %w", err)
	}
	for _, o := range overlays {
		if err := w.apply(o); err != nil {
			return fmt.Errorf("writing an overlay: %w", err)
		}
	}
	return nil
}

func (w *writer) apply(o replay.Overlay) error {
	for _, p := range o.Remove {
		if err := w.remove(p); err != nil {
			return err
		}
	}
	for _, f := range o.Files {
		if err := w.write(f); err != nil {
			return err
		}
	}
	return nil
}

// checkPath accepts clean relative paths of any bytes but NUL.
func checkPath(p string) error {
	if p == "" || p == "." || path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) ||
		p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("%w %q", errPath, p)
	}
	return nil
}

func (w *writer) write(f replay.File) error {
	if err := checkPath(f.Path); err != nil {
		return err
	}
	if err := w.mkdir(path.Dir(f.Path)); err != nil {
		return err
	}
	if err := w.clear(f.Path); err != nil {
		return err
	}
	if f.Mode&fs.ModeSymlink != 0 {
		return w.root.Symlink(string(f.Data), f.Path)
	}
	out, err := w.root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	if err == nil {
		err = out.Chmod(fileMode(f.Mode)) // the umask must not decide
	}
	return errors.Join(err, out.Close())
}

func fileMode(m fs.FileMode) fs.FileMode {
	if m&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// mkdir makes the folder and its parents; what is in their way and not a folder goes.
func (w *writer) mkdir(dir string) error {
	if w.dirs[dir] {
		return nil
	}
	if err := w.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	info, err := w.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = w.root.Remove(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info == nil || !info.IsDir() {
		if err := w.root.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := w.root.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	w.dirs[dir] = true
	return nil
}

// clear makes way for a file at p; its parents are real folders.
func (w *writer) clear(p string) error {
	info, err := w.root.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		w.dirs = map[string]bool{".": true}
		return w.root.RemoveAll(p)
	}
	return w.root.Remove(p)
}

// remove removes p unless a parent is missing or not a real folder: then there is no such file.
func (w *writer) remove(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		info, err := w.root.Lstat(path.Join(parts[:i]...))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return w.clear(p)
}
