package model

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"unicode"
)

// redacted stands where a key stood.
const redacted = "[key]"

// secret is a key. However it is printed, it does not show.
type secret struct{ value string }

func (secret) String() string               { return redacted }
func (secret) GoString() string             { return redacted }
func (secret) Format(f fmt.State, _ rune)   { fmt.Fprint(f, redacted) }
func (secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// maxKey bounds a key's file: a longer one is another file by mistake.
const maxKey = 16 << 10

// readKey fetches the endpoint's key; an endpoint without one has the empty secret.
func (e Endpoint) readKey(getenv func(string) string) (secret, error) {
	var key, where string
	switch {
	case e.KeyEnv != "":
		key, where = getenv(e.KeyEnv), "the environment variable "+e.KeyEnv
	case e.KeyFile != "":
		where = "the file " + e.KeyFile
		b, err := readBounded(e.KeyFile)
		if err != nil {
			return secret{}, fmt.Errorf("%w: reading the key of endpoint %s: %w", ErrConfig, e.Name, err)
		}
		if len(b) > maxKey {
			return secret{}, fmt.Errorf("%w: %s holds more than a key", ErrConfig, where)
		}
		key = string(b)
	default:
		return secret{}, nil
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return secret{}, fmt.Errorf("%w: the key of endpoint %s is missing: %s is empty", ErrConfig, e.Name, where)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) || r == ' ' }) {
		return secret{}, fmt.Errorf("%w: the key of endpoint %s has characters that no key has: look at %s", ErrConfig, e.Name, where)
	}
	return secret{key}, nil
}

// readBounded reads a file that may be a device without end, or a pipe that nobody writes to: such a pipe is empty.
func readBounded(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxKey+1))
}

// placeholder is the length below which a key is none: local servers are given "none" or "EMPTY", and a reply may hold such words.
const placeholder = 8

// hide takes the whole key out of a text that is kept.
func (s secret) hide(text string) string {
	if len(s.value) < placeholder {
		return text
	}
	return strings.ReplaceAll(text, s.value, redacted)
}

// fragment is how many bytes of a key in a row are too many in a message: servers quote wrong keys with their middle left out.
const fragment = 6

// scrub takes the key and pieces of it out of a message for people.
func (s secret) scrub(text string) string {
	text = s.hide(text)
	if len(s.value) < placeholder {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		n := 0
		for i+max(n+1, fragment) <= len(text) && strings.Contains(s.value, text[i:i+max(n+1, fragment)]) {
			n = max(n+1, fragment)
		}
		if n == 0 {
			out.WriteByte(text[i])
			i++
			continue
		}
		out.WriteString(redacted)
		i += n
	}
	return out.String()
}
