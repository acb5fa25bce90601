package docker

import (
	"fmt"
	"regexp"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
)

// engineError says what we were doing when the engine refused, with the class of its refusal. Engines report a full
// disk and a registry's limits only in words.
func engineError(doing string, err error) error {
	msg := strings.ToLower(err.Error())
	if len(msg) > maxMessage {
		err = longError{err}
	}
	switch {
	case strings.Contains(msg, "no space left on device"):
		return fmt.Errorf("%s: %w: %w", doing, ErrNoSpace, err)
	case transient.MatchString(msg):
		return fmt.Errorf("%s: %w: %w", doing, ErrNetwork, err)
	case cerrdefs.IsNotFound(err) && strings.Contains(msg, "no such image"),
		strings.Contains(msg, "manifest unknown"), strings.Contains(msg, "pull access denied"):
		return fmt.Errorf("%s: %w: %w", doing, ErrNoImage, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// maxMessage is how much is said of one error: an engine may name a path of any length in it, which hostile code chose.
const maxMessage = 2 << 10

// longError is one whose message is cut in the middle.
type longError struct{ error }

func (e longError) Unwrap() error { return e.error }

func (e longError) Error() string {
	msg := e.error.Error()
	return strings.ToValidUTF8(msg[:maxMessage/2]+" … "+msg[len(msg)-maxMessage/2:], "")
}

// transient matches, in lower case, what package managers, git and engines say when the network is at fault.
var transient = regexp.MustCompile(strings.Join([]string{
	`temporary failure in name resolution`, `temporary failure resolving`, `could(n.t| not) resolve host`, `no such host`,
	`spurious network error`, `could(n.t| not) connect to server`,
	`name or service not known`, `server misbehaving`,
	`connection (reset|refused|timed out|aborted)`, `read timed out`, `network is unreachable`, `no route to host`,
	`tls handshake timeout`, `i/o timeout`, `client\.timeout exceeded`, `remote end closed connection`,
	`too ?many ?requests`, `\b429\b.{0,40}(error|client)`, `(http|error|status|server|response)\W.{0,20}\b429\b`,
	`\b50[234] (bad gateway|service|server error|gateway)`, `rpc failed; curl`, `early eof`,
}, "|"))

// tailBytes is how much of a failed step's output is looked at for its cause.
const tailBytes = 3 << 10

// installFault returns the infrastructure's error in what a failed install step printed last, or nil.
func installFault(stdout, stderr []byte) error {
	last := strings.ToLower(end(stdout) + "\n" + end(stderr))
	switch {
	case strings.Contains(last, "no space left on device"):
		return ErrNoSpace
	case transient.MatchString(last):
		return ErrNetwork
	}
	return nil
}

func end(b []byte) string { return string(b[max(0, len(b)-tailBytes):]) }
