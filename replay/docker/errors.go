package docker

import (
	"fmt"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"sluice/replay"
)

// engineError says what we were doing when the engine refused, with the class of its refusal. Engines report a full
// disk and a registry's limits only in words.
func engineError(doing string, err error) error {
	msg := strings.ToLower(err.Error())
	if len(msg) > maxMessage {
		err = longError{err}
	}
	fault := replay.FaultOf(msg)
	switch {
	case fault != nil:
		return fmt.Errorf("%s: %w: %w", doing, fault, err)
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
