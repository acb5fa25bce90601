//go:build linux

package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// buildRoot assembles the mounts on the folder and makes it the root, in a mount namespace of its own. The old root is
// gone afterwards.
func buildRoot(root string, mounts []mount) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=755"); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("opening the root: %w", err)
	}
	defer inside.Close()
	for _, m := range mounts {
		if err := m.do(inside); err != nil {
			return fmt.Errorf("mounting %s %s: %w", m.Kind, m.Target, err)
		}
	}
	if err := setAttr(root, unix.MOUNT_ATTR_RDONLY, false); err != nil {
		return fmt.Errorf("making the root read-only: %w", err)
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	return os.Chdir("/")
}

// do performs the action. The target may lie below a folder that earlier steps could write to, so a link in its path that
// leaves the new root is an error.
func (m mount) do(root *os.Root) error {
	if err := m.makeTarget(root, strings.TrimPrefix(m.Target, "/")); err != nil {
		return err
	}
	target := filepath.Join(root.Name(), m.Target)
	const safe = unix.MS_NOSUID | unix.MS_NODEV
	switch m.Kind {
	case "ro":
		return bind(m.Source, target, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID)
	case "rw":
		return bind(m.Source, target, unix.MOUNT_ATTR_NOSUID)
	case "overlay":
		return unix.Mount("overlay", target, "overlay", safe, m.Data)
	case "tmpfs":
		return unix.Mount("tmpfs", target, "tmpfs", safe, m.Data)
	case "proc":
		// Read-only: to the kernel this is still root, who may write to /proc/sys.
		return unix.Mount("proc", target, "proc", safe|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	case "pts":
		return unix.Mount("devpts", target, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	}
	return nil
}

// makeTarget makes what the action needs to be there.
func (m mount) makeTarget(root *os.Root, target string) error {
	if err := root.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if m.Kind == "link" {
		return root.Symlink(m.Source, target)
	}
	if m.Kind != "ro" && m.Kind != "rw" {
		return root.MkdirAll(target, 0o755)
	}
	info, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return root.MkdirAll(target, 0o755)
	}
	if _, err := root.Lstat(target); err == nil {
		return nil
	}
	f, err := root.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// bind shows source with everything below it at target.
func bind(source, target string, attrs uint64) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return setAttr(target, attrs, true)
}

func setAttr(path string, attrs uint64, below bool) error {
	flags := uint(0)
	if below {
		flags = unix.AT_RECURSIVE
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attrs})
}

// loopbackUp brings up the only interface of a new network namespace: 127.0.0.1 and ::1.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(request)))
	if errno != 0 {
		return errno
	}
	return nil
}

// killChildren kills everything that descends from this process. The first process of a namespace may kill all others at
// once; elsewhere, orphans come to this process and are killed until no more come.
func killChildren() {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		for _, pid := range childrenOf(os.Getpid()) {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if !reap() {
			return
		}
		<-tick.C
	}
}

func childrenOf(parent int) []int {
	var pids []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
