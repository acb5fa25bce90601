//go:build linux

package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// What is read back from {out}, at most: a hostile job must not fill our memory.
const (
	maxReport  = 64 << 20  // bytes of one file
	maxReports = 256 << 20 // bytes of all files
	maxEntries = 10_000
	maxDepth   = 16
)

// readCut returns the file's content, cut in the middle to max bytes with a mark.
func readCut(f *os.File, max int64) (data []byte, cut bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	size := info.Size()
	if size <= max {
		data, err = readAt(f, 0, size)
		return data, false, err
	}
	head, err := readAt(f, 0, max/2)
	if err != nil {
		return nil, false, err
	}
	tail, err := readAt(f, size-(max-max/2), max-max/2)
	if err != nil {
		return nil, false, err
	}
	mark := fmt.Sprintf("\n[… %d bytes cut …]\n", size-max)
	return append(append(head, mark...), tail...), true, nil
}

func readAt(f *os.File, off, n int64) ([]byte, error) {
	data := make([]byte, n)
	got, err := f.ReadAt(data, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:got], err
}

// collector reads the regular files below a folder. No process writes there any more, but what they left is hostile:
// links, pipes, huge files and endless folders are left out.
type collector struct {
	root    *os.Root
	files   map[string][]byte
	bytes   int64
	entries int
}

// collect reads what is below the folder dir of the folder parent; a link in its place that leads elsewhere is an error.
func collect(parent, dir string) (map[string][]byte, error) {
	above, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	root, err := above.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	c := &collector{root: root, files: map[string][]byte{}}
	if err := c.walk(".", 0); err != nil {
		return nil, err
	}
	return c.files, nil
}

func (c *collector) walk(dir string, depth int) error {
	d, err := c.root.Open(dir)
	if err != nil {
		return nil // a folder that its own maker closed holds no report
	}
	entries, err := d.ReadDir(maxEntries)
	d.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, e := range entries {
		if c.entries++; c.entries > maxEntries {
			return nil
		}
		if err := c.visit(path.Join(dir, e.Name()), e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) visit(name string, e fs.DirEntry, depth int) error {
	switch {
	case e.IsDir() && depth < maxDepth:
		return c.walk(name, depth+1)
	case e.Type().IsRegular():
		return c.read(name)
	}
	return nil
}

func (c *collector) read(name string) error {
	f, err := c.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// A second name may belong to a file outside, when there are no mounts that keep them apart.
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink != 1 || !info.Mode().IsRegular() || info.Size() > maxReport || c.bytes+info.Size() > maxReports {
		return nil
	}
	data, err := readAt(f, 0, info.Size())
	c.files[name] = data
	c.bytes += int64(len(data))
	return err
}
