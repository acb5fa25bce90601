package docker

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"sluice/replay"
)

// clean reports whether p is a relative slash path without empty, "." or ".." parts. Its bytes need not be UTF-8.
func clean(p string) bool {
	if p == "" || strings.ContainsRune(p, 0) {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// parents calls f for every proper ancestor of p, the nearest first, until f returns false.
func parents(p string, f func(string) bool) {
	for {
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return
		}
		p = p[:i]
		if !f(p) {
			return
		}
	}
}

// plan is what a list of overlays does to a tree.
type plan struct {
	files  map[string]replay.File
	hidden map[string]bool // the tree's entry of that path, and everything below it, is gone
	dirs   map[string]bool // was made a folder: a file or symbolic link of the tree there is gone
}

func newPlan(overlays []replay.Overlay) (*plan, error) {
	p := &plan{files: map[string]replay.File{}, hidden: map[string]bool{}, dirs: map[string]bool{}}
	for _, o := range overlays {
		for _, r := range o.Remove {
			if !clean(r) {
				return nil, fmt.Errorf("the overlay removes %q, which is not a path inside the tree", r)
			}
			p.hide(r)
		}
		for _, f := range o.Files {
			if !clean(f.Path) {
				return nil, fmt.Errorf("the overlay has the file %q, which is not a path inside the tree", f.Path)
			}
			p.add(f)
		}
	}
	return p, nil
}

func (p *plan) hide(name string) {
	p.hidden[name] = true
	delete(p.files, name)
	maps.DeleteFunc(p.files, func(f string, _ replay.File) bool { return strings.HasPrefix(f, name+"/") })
}

// add lays a file over the tree: it takes the place of what is at its path, and of any file or link on the way there.
func (p *plan) add(f replay.File) {
	p.hide(f.Path)
	parents(f.Path, func(d string) bool {
		delete(p.files, d)
		p.dirs[d] = true
		return true
	})
	p.files[f.Path] = f
}

// keeps reports whether the tree's own file of that path survives.
func (p *plan) keeps(name string) bool {
	if p.dirs[name] || p.hidden[name] {
		return false
	}
	keep := true
	parents(name, func(d string) bool { keep = !p.hidden[d]; return keep })
	return keep
}

// epoch is the time of every file: fixed, and late enough for zip archives, which begin in 1980.
var epoch = time.Unix(1_000_000_000, 0)

// packer writes the files of a container as one tar stream that is unpacked at "/". It refuses what could make the
// unpacking write elsewhere: every path is clean, and none has a file or a symbolic link for a parent.
type packer struct {
	tw     *tar.Writer
	dirs   map[string]bool
	leaves map[string]bool
}

func newPacker(w io.Writer) *packer {
	return &packer{tw: tar.NewWriter(w), dirs: map[string]bool{}, leaves: map[string]bool{}}
}

// owner is a numeric user and group.
type owner struct{ uid, gid int }

// parseOwner reads "uid:gid".
func parseOwner(s string) (o owner, err error) {
	if n, err := fmt.Sscanf(s, "%d:%d", &o.uid, &o.gid); n != 2 || err != nil {
		return o, fmt.Errorf("the user %q is not of the form uid:gid, in numbers", s)
	}
	return o, nil
}

// dir writes one folder; a second call for it does nothing.
func (k *packer) dir(name string, mode int64, o owner) error {
	if k.dirs[name] {
		return nil
	}
	if k.leaves[name] {
		return fmt.Errorf("%q is a file and a folder", name)
	}
	k.dirs[name] = true
	return k.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode}, o)
}

func (k *packer) header(h *tar.Header, o owner) error {
	h.Uid, h.Gid, h.ModTime, h.Format = o.uid, o.gid, epoch, tar.FormatPAX
	if err := k.tw.WriteHeader(h); err != nil {
		return fmt.Errorf("packing %q: %w", h.Name, err)
	}
	return nil
}

// file writes f below root, with the folders between.
func (k *packer) file(root string, f replay.File, o owner) error {
	if !clean(f.Path) {
		return fmt.Errorf("the tree has the file %q, which is not a path inside it", f.Path)
	}
	if err := k.folders(root, f.Path, o); err != nil {
		return err
	}
	name := path.Join(root, f.Path)
	if k.dirs[name] || k.leaves[name] {
		return fmt.Errorf("the tree has %q twice", f.Path)
	}
	k.leaves[name] = true
	if f.Mode&fs.ModeSymlink != 0 {
		return k.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: string(f.Data), Mode: 0o777}, o)
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.Data)), Mode: 0o644}
	if f.Mode&0o111 != 0 {
		h.Mode = 0o755
	}
	if err := k.header(h, o); err != nil {
		return err
	}
	if _, err := k.tw.Write(f.Data); err != nil {
		return fmt.Errorf("packing %q: %w", f.Path, err)
	}
	return nil
}

func (k *packer) folders(root, p string, o owner) error {
	var missing []string
	parents(p, func(d string) bool {
		name := path.Join(root, d)
		if root == "" {
			return false // folders of the image keep their owners
		}
		if k.dirs[name] {
			return false
		}
		missing = append(missing, name)
		return true
	})
	slices.Reverse(missing)
	for _, d := range missing {
		if err := k.dir(d, 0o755, o); err != nil {
			return err
		}
	}
	return nil
}

// tree writes t with the overlays laid over it.
func (k *packer) tree(ctx context.Context, t replay.Tree, overlays []replay.Overlay, o owner) error {
	p, err := newPlan(overlays)
	if err != nil {
		return err
	}
	root := strings.TrimPrefix(treeDir, "/")
	if err := k.dir(root, 0o755, o); err != nil {
		return err
	}
	err = t.Each(ctx, func(f replay.File) error {
		if !p.keeps(f.Path) {
			return nil
		}
		return k.file(root, f, o)
	})
	if err != nil {
		return fmt.Errorf("reading the tree %s: %w", t.ID(), err)
	}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if err := k.file(root, p.files[name], o); err != nil {
			return err
		}
	}
	return nil
}

// places writes the folders of reports and logs, and an empty log for each stream of each step.
func (k *packer) places(p places, steps int, o owner) error {
	rel := func(s string) string { return strings.TrimPrefix(s, "/") }
	root := owner{}
	for _, d := range []struct {
		name  string
		mode  int64
		owner owner
	}{{ioRoot, 0o711, root}, {p.io, 0o711, root}, {p.log, 0o711, root}, {p.out, 0o755, o}} {
		if err := k.dir(rel(d.name), d.mode, d.owner); err != nil {
			return err
		}
	}
	for i := range steps {
		for _, s := range []string{"out", "err"} {
			f := replay.File{Path: path.Base(p.stream(i, s))}
			if err := k.file(rel(p.log), f, o); err != nil {
				return err
			}
		}
	}
	return nil
}
