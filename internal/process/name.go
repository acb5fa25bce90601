package process

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// NewName is a fresh name for something that a process makes on its own machine, such as a folder: it leaves the machine out. Nobody can
// guess it, and OwnerOf reads it.
func (id ID) NewName() string { return id.prefix() + "." + Token() }

func (id ID) prefix() string { return fmt.Sprintf("%d-%d-%d", id.PID, id.Start, id.Namespace) }

// Token is a name of 32 hexadecimal digits that nobody can guess.
func Token() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails
	return hex.EncodeToString(b[:])
}

// OwnerOf reads from a name that NewName made whose it is; me is a process of the same machine.
func OwnerOf(name string, me ID) (ID, bool) {
	id, suffix, ok := strings.Cut(name, ".")
	if !ok || len(suffix) != 32 {
		return ID{}, false
	}
	o := ID{Host: me.Host, Boot: me.Boot}
	n, err := fmt.Sscanf(id, "%d-%d-%d", &o.PID, &o.Start, &o.Namespace)
	return o, err == nil && n == 3 && o.PID > 0 && o.prefix() == id
}
