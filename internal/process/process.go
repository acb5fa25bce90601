// Package process names processes so that leftovers of dead ones can be told from work of living ones: in leases, folder names
// and container labels. It starts and kills nothing.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ID names a process for good: the start time tells it from a later process of the same number, the host's name and boot and
// the process namespace from one on another machine or in another container that shares the store, the folder or the engine.
type ID struct {
	Host      string
	Boot      string // random, new with each start of the machine: two machines may have one name
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
	boot, err := bootID()
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
	return ID{host, boot, ns, os.Getpid(), start}, nil
}

// String is host:boot:namespace:pid:start. Parse reads it.
func (id ID) String() string {
	return fmt.Sprintf("%s:%s:%d:%d:%d", id.Host, id.Boot, id.Namespace, id.PID, id.Start)
}

// Parse reads what String wrote.
func Parse(s string) (ID, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 5 {
		return ID{}, fmt.Errorf("reading the process id %q: want host:boot:namespace:pid:start", s)
	}
	ns, err1 := strconv.ParseUint(parts[2], 10, 64)
	pid, err2 := strconv.Atoi(parts[3])
	start, err3 := strconv.ParseUint(parts[4], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || pid < 1 {
		return ID{}, fmt.Errorf("reading the process id %q: want host:boot:namespace:pid:start", s)
	}
	return ID{parts[0], parts[1], ns, pid, start}, nil
}

// Dead reports whether the process is known to be gone. One of another host, boot or namespace cannot be looked up: not dead.
func (id ID) Dead() bool {
	me, err := Self()
	if err != nil || id.Host != me.Host || id.Boot != me.Boot || id.Namespace != me.Namespace {
		return false
	}
	start, err := startTime(id.PID)
	if err != nil {
		return os.IsNotExist(err) || errors.Is(err, syscall.ESRCH) // it ended while we looked
	}
	return start != id.Start
}

// EarlierBoot reports whether the process ran on a machine of this one's name before that was started the last time. It is gone,
// unless two machines share the name.
func (id ID) EarlierBoot() bool {
	me, err := Self()
	return err == nil && id.Host == me.Host && id.Boot != me.Boot
}

// DeadOwner reports whether an id in its written form holds a lease for nothing: its process is gone, also by a restart of
// the machine (the store's files are on one machine only). What cannot be read is not dead.
func DeadOwner(s string) bool {
	id, err := Parse(s)
	return err == nil && (id.Dead() || id.EarlierBoot())
}

func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

func namespace() (uint64, error) {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0, fmt.Errorf("reading the process namespace: %w", err)
	}
	return st.Ino, nil
}

// startTime reads when a process started.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStart(data)
}

// parseStart reads the start time, field 22 of /proc/<pid>/stat. A zombie has ended for all that matters here.
func parseStart(stat []byte) (uint64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the command's name, in brackets, may hold anything
	if len(fields) < 20 {
		return 0, fmt.Errorf("reading the start time of a process: %d fields", len(fields))
	}
	if string(fields[0]) == "Z" {
		return 0, os.ErrNotExist
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
