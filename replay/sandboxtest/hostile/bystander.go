package hostile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// escaped is what a program prints when it did what it must not be able to do.
const escaped = "ESCAPED"

// bystanders are what the host has and no program may reach: a secret in a folder, listeners on all kinds of sockets, a process.
type bystanders struct {
	dir, secret string
	env         map[string]string
	victim      *exec.Cmd
	calls       atomic.Int64 // of the listeners
}

func newBystanders(t *testing.T) *bystanders {
	t.Helper()
	b := &bystanders{secret: "secret-" + random()}
	var err error
	if b.dir, err = os.MkdirTemp("", "sluice-bystander-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(b.dir) })
	if err := os.WriteFile(filepath.Join(b.dir, "secret"), []byte(b.secret), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(b.dir, 0o777); err != nil { // nothing but the sandbox keeps the programs out
		t.Fatal(err)
	}
	b.victim = exec.Command("sleep", "3600")
	b.victim.Env = []string{}
	if err := b.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.victim.Process.Kill(); _ = b.victim.Wait() })
	abstract := "sluice-bystander-" + random()
	unix := filepath.Join(b.dir, "socket")
	b.env = map[string]string{
		"HOST_DIR": b.dir, "HOST_PID": strconv.Itoa(b.victim.Process.Pid), "HOST_UNIX": unix, "HOST_ABSTRACT": abstract,
		"HOST_TCP": port(b.listen(t, "tcp", "127.0.0.1:0")), "HOST_TCP6": port(b.listen(t, "tcp", "[::1]:0")), "HOST_UDP": port(b.packets(t)),
	}
	b.listen(t, "unix", unix)
	b.listen(t, "unix", "@"+abstract)
	return b
}

func random() string {
	var name [8]byte
	_, _ = rand.Read(name[:]) // it never fails
	return hex.EncodeToString(name[:])
}

func port(a net.Addr) string {
	if a == nil {
		return "1" // a host without IPv6
	}
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

func (b *bystanders) listen(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil && strings.HasPrefix(address, "[::1]") {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.calls.Add(1)
			c.Close()
		}
	}()
	return l.Addr()
}

func (b *bystanders) packets(t *testing.T) net.Addr {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		for buf := make([]byte, 16); ; {
			if _, _, err := c.ReadFrom(buf); err != nil {
				return
			}
			b.calls.Add(1)
		}
	}()
	return c.LocalAddr()
}

// harm says what was done to the host, or "".
func (b *bystanders) harm() string {
	data, err := os.ReadFile(filepath.Join(b.dir, "secret"))
	entries, _ := os.ReadDir(b.dir)
	switch {
	case err != nil || string(data) != b.secret || len(entries) != 2:
		return fmt.Sprintf("the host's folder was changed: %v, %d entries", err, len(entries))
	case b.calls.Load() > 0:
		return "a listener of the host was called"
	case !b.alive():
		return "a process of the host was stopped or killed"
	}
	return ""
}

func (b *bystanders) alive() bool {
	data, err := os.ReadFile("/proc/" + b.env["HOST_PID"] + "/stat")
	_, fields, ok := strings.Cut(string(data), ") ")
	return err == nil && ok && strings.HasPrefix(fields, "S") && b.victim.Process.Signal(syscall.Signal(0)) == nil
}

// leftovers lists the processes of this machine that have the mark in their environment.
func leftovers(mark string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if data, _ := os.ReadFile(f); strings.Contains(string(data), mark) {
			found = append(found, f)
		}
	}
	return found
}
