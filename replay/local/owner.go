//go:build linux

package local

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"sluice/internal/process"
)

// newName is a fresh name for something that a process makes. The sandbox's folder is on one machine: the name leaves that out.
func newName(id process.ID) string { return nameOf(id) + "." + token() }

func nameOf(id process.ID) string { return fmt.Sprintf("%d-%d-%d", id.PID, id.Start, id.Namespace) }

// token is a name that nobody can guess.
func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return hex.EncodeToString(b[:])
}

// ownerOf reads from a name that newName made whose it is; me is a process of the same machine.
func ownerOf(name string, me process.ID) (process.ID, bool) {
	id, suffix, ok := strings.Cut(name, ".")
	if !ok || len(suffix) != 32 {
		return process.ID{}, false
	}
	o := process.ID{Host: me.Host, Boot: me.Boot}
	n, err := fmt.Sscanf(id, "%d-%d-%d", &o.PID, &o.Start, &o.Namespace)
	return o, err == nil && n == 3 && o.PID > 0 && nameOf(o) == id
}
