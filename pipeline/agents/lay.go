package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
)

// Lay is a tree with overlays laid over it, as a tree: installing sees them too, and they are part of its name.
func Lay(t replay.Tree, overlays ...replay.Overlay) replay.Tree {
	overlays = slices.DeleteFunc(slices.Clone(overlays), func(o replay.Overlay) bool { return len(o.Files)+len(o.Remove) == 0 })
	if len(overlays) == 0 {
		return t
	}
	l := laid{base: t, files: map[string]replay.File{}, hidden: map[string]bool{}, ancestors: map[string]bool{}}
	for _, o := range overlays {
		for _, p := range o.Remove {
			l.drop(p)
		}
		for _, f := range o.Files {
			l.drop(f.Path)
			for i, r := range f.Path {
				if r == '/' { // a file in a folder's place
					l.ancestors[f.Path[:i]] = true
					delete(l.files, f.Path[:i])
				}
			}
			l.files[f.Path] = f
		}
	}
	l.id = l.digest()
	return l
}

type laid struct {
	base      replay.Tree
	id        string
	files     map[string]replay.File
	hidden    map[string]bool // paths of which neither they nor what is below them comes from the base
	ancestors map[string]bool // paths that are folders now
}

func (l laid) drop(p string) {
	l.hidden[p] = true
	maps.DeleteFunc(l.files, func(k string, _ replay.File) bool { return k == p || strings.HasPrefix(k, p+"/") })
}

// digest names the tree by the base and by all that lies over it.
func (l laid) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", l.base.ID())
	for _, set := range []map[string]bool{l.hidden, l.ancestors} {
		fmt.Fprintf(h, "%q\n", slices.Sorted(maps.Keys(set)))
	}
	for _, p := range slices.Sorted(maps.Keys(l.files)) {
		e, _ := json.Marshal(replay.EntryOf(l.files[p]))
		fmt.Fprintf(h, "%q %s\n", p, e)
	}
	return "laid:" + hex.EncodeToString(h.Sum(nil))
}

// ID implements replay.Tree.
func (l laid) ID() string { return l.id }

// shows reports whether a path of the base is still there.
func (l laid) shows(p string) bool {
	if l.hidden[p] || l.ancestors[p] {
		return false
	}
	for i, r := range p {
		if r == '/' && l.hidden[p[:i]] {
			return false
		}
	}
	return true
}

// Each implements replay.Tree.
func (l laid) Each(ctx context.Context, f func(replay.File) error) error {
	return l.Select(ctx, func(replay.File) bool { return true }, f)
}

// Select implements replay.Tree.
func (l laid) Select(ctx context.Context, pick func(replay.File) bool, f func(replay.File) error) error {
	var over []string
	for _, p := range slices.Sorted(maps.Keys(l.files)) {
		if pick(replay.File{Path: p, Mode: l.files[p].Mode}) {
			over = append(over, p)
		}
	}
	before := func(p string) error {
		for len(over) > 0 && (p == "" || over[0] < p) {
			if err := f(l.files[over[0]]); err != nil {
				return err
			}
			over = over[1:]
		}
		return nil
	}
	err := l.base.Select(ctx, func(file replay.File) bool { return l.shows(file.Path) && pick(file) }, func(file replay.File) error {
		if err := before(file.Path); err != nil {
			return err
		}
		return f(file)
	})
	if err != nil {
		return err
	}
	return before("")
}

// ReadFile implements replay.Tree.
func (l laid) ReadFile(ctx context.Context, p string) ([]byte, error) {
	if f, ok := l.files[p]; ok {
		return f.Data, nil
	}
	if !l.shows(p) {
		return nil, fmt.Errorf("%q is not in the tree any more: %w", p, fs.ErrNotExist)
	}
	return l.base.ReadFile(ctx, p)
}

// File is one file that a session left otherwise than it found it, as evidence keeps it.
type File struct {
	Path    pipeline.Text `json:"path"`
	Data    []byte        `json:"data,omitempty"`
	Mode    uint32        `json:"mode,omitempty"` // now
	Was     uint32        `json:"was,omitempty"`  // the mode before; 0: it is new
	Deleted bool          `json:"deleted,omitempty"`
}

// Overlay lays such files over the tree in which they were found.
func Overlay(files []File) replay.Overlay {
	var o replay.Overlay
	for _, f := range files {
		if f.Deleted {
			o.Remove = append(o.Remove, string(f.Path))
		} else {
			o.Files = append(o.Files, replay.File{Path: string(f.Path), Mode: fs.FileMode(f.Mode), Data: f.Data})
		}
	}
	return o
}

// Keep makes a file of a change that has one: something special in a path's place has not.
func (c Changed) Keep() File {
	return File{Path: c.Path, Data: c.Data, Mode: uint32(c.Mode), Was: uint32(c.Was), Deleted: c.Kind == replay.Deleted}
}
