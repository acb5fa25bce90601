//go:build linux

package local

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// owner names a process for good: the start time tells it from a later process of the same id, and the process
// namespace from one of another container that shares the folder.
type owner struct {
	pid       int
	start     uint64 // clock ticks since boot
	namespace uint64 // inode
}

// self is the owner of what this process makes.
func self() (owner, error) {
	start, err := startTime(os.Getpid())
	if err != nil {
		return owner{}, err
	}
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return owner{}, fmt.Errorf("reading the process namespace: %w", err)
	}
	return owner{pid: os.Getpid(), start: start, namespace: st.Ino}, nil
}

// startTime reads when the process was started.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The command's name, in brackets, may hold anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("reading the start time of process %d: %d fields", pid, len(fields))
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}

func (o owner) String() string {
	return fmt.Sprintf("%d-%d-%d", o.pid, o.start, o.namespace)
}

// newName is a fresh name for something that the owner makes.
func (o owner) newName() string { return o.String() + "." + token() }

// token is a name that nobody can guess.
func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return hex.EncodeToString(b[:])
}

// ownerOf reads the owner from a name that newName made.
func ownerOf(name string) (owner, bool) {
	id, suffix, ok := strings.Cut(name, ".")
	if !ok || len(suffix) != 32 {
		return owner{}, false
	}
	var o owner
	n, err := fmt.Sscanf(id, "%d-%d-%d", &o.pid, &o.start, &o.namespace)
	return o, err == nil && n == 3 && o.pid > 0 && o.String() == id
}

// deadFor says whether the owner is known to be dead: processes of another namespace cannot be seen from here.
func (o owner) deadFor(me owner) bool {
	if o.namespace != me.namespace {
		return false
	}
	start, err := startTime(o.pid)
	return err != nil && os.IsNotExist(err) || err == nil && start != o.start
}
