// Package process names processes so that leftovers of dead ones can be told from work of living ones: in leases, folder names
// and container labels. It starts and kills nothing.
package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ID names a process for good: the start time tells it from a later process of the same number, the host name and the process
// namespace from one on another machine or in another container that shares the store.
type ID struct {
	Host      string
	Namespace uint64 // inode of the process namespace
	PID       int
	Start     uint64 // clock ticks since boot
}

// Self is the id of this process.
func Self() (ID, error) {
	host, err := os.Hostname()
	if err != nil {
		return ID{}, fmt.Errorf("naming this process: %w", err)
	}
	ns, err := namespace()
	if err != nil {
		return ID{}, fmt.Errorf("naming this process: %w", err)
	}
	start, err := startTime(os.Getpid())
	if err != nil {
		return ID{}, fmt.Errorf("naming this process: %w", err)
	}
	return ID{host, ns, os.Getpid(), start}, nil
}

// String is host:namespace:pid:start. Parse reads it.
func (id ID) String() string {
	return fmt.Sprintf("%s:%d:%d:%d", id.Host, id.Namespace, id.PID, id.Start)
}

// Parse reads what String wrote.
func Parse(s string) (ID, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 4 {
		return ID{}, fmt.Errorf("reading the process id %q: want host:namespace:pid:start", s)
	}
	ns, err1 := strconv.ParseUint(parts[1], 10, 64)
	pid, err2 := strconv.Atoi(parts[2])
	start, err3 := strconv.ParseUint(parts[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return ID{}, fmt.Errorf("reading the process id %q: want host:namespace:pid:start", s)
	}
	return ID{parts[0], ns, pid, start}, nil
}

// Dead reports whether the process is known to be gone. One of another host or namespace cannot be looked up: not dead.
func (id ID) Dead() bool {
	host, err := os.Hostname()
	if err != nil || host != id.Host {
		return false
	}
	if ns, err := namespace(); err != nil || ns != id.Namespace {
		return false
	}
	start, err := startTime(id.PID)
	if err != nil {
		return os.IsNotExist(err)
	}
	return start != id.Start
}

// DeadOwner is Dead for an id in its written form; what cannot be read is not dead.
func DeadOwner(s string) bool {
	id, err := Parse(s)
	return err == nil && id.Dead()
}

func namespace() (uint64, error) {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0, fmt.Errorf("reading the process namespace: %w", err)
	}
	return st.Ino, nil
}

// startTime reads when a process started. A zombie has ended for all that matters here.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // the command's name, in brackets, may hold anything
	if len(fields) < 20 || string(fields[0]) == "Z" {
		return 0, os.ErrNotExist
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
