package github

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// TokenVariables are the variables of the environment that hold tokens, in the order in which they count. The first one that is set is
// taken; SLUICE_GITHUB_TOKENS may hold several, separated by commas or white space.
var TokenVariables = []string{"SLUICE_GITHUB_TOKENS", "GITHUB_TOKEN", "GH_TOKEN"}

// EnvTokens reads the tokens of the environment.
func EnvTokens(getenv func(string) string) []string {
	for _, name := range TokenVariables {
		if tokens := splitTokens(getenv(name)); len(tokens) > 0 {
			return tokens
		}
	}
	return nil
}

// FileTokens reads a file with one token a line; blank lines and those that begin with # do not count. Its errors hold no byte of the
// file.
func FileTokens(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading tokens: %w", err)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			tokens = append(tokens, splitTokens(line)...)
		}
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("reading tokens: %s holds none", path)
	}
	if !slices.ContainsFunc(tokens, func(t string) bool { return !plausibleToken(t) }) {
		return tokens, nil
	}
	return nil, fmt.Errorf("reading tokens: %s: %w", path, errBadTokenBytes)
}

func splitTokens(s string) []string {
	tokens := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// plausibleToken refuses what could not go into a header, and what is so short that taking it out of answers would spoil them.
func plausibleToken(t string) bool {
	return len(t) >= 8 && len(t) < 4096 && strings.IndexFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// tokenKinds begin GitHub's tokens; the kind of a token is no secret, and words of texts begin like one.
var tokenKinds = regexp.MustCompile(`^(?:github_pat_|gh[a-z]_)`)

// secretPrefix is the part of a token that betrays it: its kind and four of its random bytes, eight in all at the least.
func secretPrefix(t string) string {
	return t[:min(len(t), max(8, len(tokenKinds.FindString(t))+4))]
}

// scrubber takes tokens, whole or cut, out of what a server sends back.
type scrubber struct{ prefixes [][]byte }

func newScrubber(tokens []string) scrubber {
	var s scrubber
	for _, t := range tokens {
		s.prefixes = append(s.prefixes, []byte(secretPrefix(t)))
	}
	return s
}

const redacted = "REDACTED"

func (s scrubber) bytes(b []byte) []byte {
	for _, prefix := range s.prefixes {
		for from := 0; ; {
			i := bytes.Index(b[from:], prefix)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(prefix)
			for end < len(b) && tokenByte(b[end]) {
				end++
			}
			b = slices.Concat(b[:start], []byte(redacted), b[end:])
			from = start + len(redacted)
		}
	}
	return b
}

func tokenByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func (s scrubber) header(h http.Header) {
	for name, values := range h {
		for i, v := range values {
			h[name][i] = string(s.bytes([]byte(v)))
		}
	}
}

// bearer adds a token to the requests that go to the API's own host, and to no other.
type bearer struct {
	token string
	host  string
	next  http.RoundTripper
}

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != b.host {
		return nil, fmt.Errorf("%w: to the host %q", ErrRedirect, req.URL.Host)
	}
	req = req.Clone(req.Context())
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(req)
}
