package replay

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Errors of the machinery that both sandboxes know. None says anything about a repository: what ended in one is tried again.
var (
	// ErrNetwork says that the network failed, or a registry refused for now: trying again later may help.
	ErrNetwork = errors.New("the network failed")
	// ErrNoSpace says that the disk that a sandbox works on is full.
	ErrNoSpace = errors.New("no space left on the sandbox's disk")
	// ErrInstallTime says that a step of Install was ended at its time limit: on a machine with less to do it may install.
	ErrInstallTime = errors.New("installing did not end within its time limit")
)

// FaultOf returns ErrNoSpace or ErrNetwork if that is what a tool's or an engine's words are about, else nil: neither has a code of its own.
func FaultOf(words string) error {
	words = strings.ToLower(words)
	switch {
	case strings.Contains(words, "no space left on device"):
		return ErrNoSpace
	case networkWords.MatchString(words):
		return ErrNetwork
	}
	return nil
}

// networkWords matches, in lower case, what package managers, git and engines say when the network is at fault. That a file is not there (404) is
// the repository's fault, or that of its day.
var networkWords = regexp.MustCompile(strings.Join([]string{
	// names, connections, certificates' time-outs
	`temporary failure in name resolution`, `temporary failure resolving`, `could(n.t| not) resolve (host|proxy)`, `no such host`,
	`name or service not known`, `server misbehaving`, `dns error`, `failed to lookup address`, `getaddrinfo (eai_again|enotfound)`,
	`could(n.t| not) connect to server`, `connection (reset|refused|timed out|aborted|closed by peer)`, `connect(ion)? ?timed out`, `read timed out`,
	`network is unreachable`, `no route to host`, `tls handshake timeout`, `i/o timeout`, `client\.timeout exceeded`, `remote end closed connection`,
	`failed to establish a new connection`, `max retries exceeded with url`, `rpc failed; curl`, `early eof`, `premature end of content-length`,
	// what servers answer for now
	`too ?many ?requests`, `\b429\b.{0,40}(error|client)`, `(http|error|status|status code|server|response)\W.{0,20}\b429\b`,
	`\b50[234] (bad gateway|service|server error|gateway)`, `(status code|http error|http status)\W{1,3}50[0234]\b`, `http status server error \(50[0234]`,
	// tools
	`sluice: the network or the index failed`,                                                        // our own installer of Python's packages
	`error sending request for url`, `tcp connect error`, `operation timed out`, `request timed out`, // uv
	`npm (err!|error) code (econn\w+|etimedout|eai_again|enotfound|esockettimedout|err_socket_timeout|e50[0234]|e429)\b`, `npm (err!|error) network `,
	`err_pnpm_(meta_fetch_fail|fetch_(429|50[0234]))`, `trouble with your network connection`, `request to \S+ failed, reason:`,
	`spurious network error`, `\[\d+\] (timeout was reached|couldn.t resolve host|couldn.t connect)`, // cargo
	`transfer failed for \S+ 50[0234]\b`, `stream error: .{0,60}internal_error`,
}, "|"))

// tailBytes is how much of a failed step's output is looked at for its cause.
const tailBytes = 3 << 10

// InstallFault returns the machinery's error in how a step of Install ended, or nil if its failure is the recipe's own.
func InstallFault(r StepResult) error {
	switch r.Stop {
	case Timeout:
		return fmt.Errorf("%w: step %q was ended after %v: %s", ErrInstallTime, r.Name, r.Duration, tail(r.Stderr))
	case Exited:
		if fault := FaultOf(tail(r.Stdout) + "\n" + tail(r.Stderr)); fault != nil {
			return fmt.Errorf("%w: step %q exited with code %d: %s", fault, r.Name, r.ExitCode, tail(r.Stderr))
		}
	}
	return nil
}

func tail(b []byte) string {
	return strings.ToValidUTF8(string(b[max(0, len(b)-tailBytes):]), "")
}
