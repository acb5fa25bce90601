package gitrepo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// source is where a mirror's objects come from: a path on this machine or a URL.
type source struct {
	path  string // absolute; "" for a URL
	url   string // may hold a password: for git only
	shown string // without secrets; other sources have another
}

var (
	scheme    = regexp.MustCompile(`^([a-z][a-z0-9+.-]*)://`)
	helper    = regexp.MustCompile(`^[A-Za-z0-9+.-]+::`)
	scpLike   = regexp.MustCompile(`^(?:[\w.-]+@)?[\w.-]+:[^/\\]`)
	slugChars = regexp.MustCompile(`[^A-Za-z0-9._+-]+`)
)

// parseSource tells paths from URLs, and refuses what git would take for an option or for a program to run.
func parseSource(text string) (source, error) {
	switch {
	case text == "":
		return source{}, fmt.Errorf("reading the source: %w: the address is empty", ErrNotRepository)
	case strings.HasPrefix(text, "-"), strings.Contains(text, "\n") && !exists(text), strings.Contains(text, "\x00"), helper.MatchString(text):
		return source{}, fmt.Errorf("reading the source %q: %w: only paths and https, http, ssh and git URLs are taken", text, ErrNotRepository)
	case scheme.MatchString(text):
		return parseURL(text)
	case scpLike.MatchString(text) && !exists(text):
		return source{url: text, shown: text}, nil
	}
	return localSource(text)
}

func parseURL(text string) (source, error) {
	u, err := url.Parse(text)
	if err != nil {
		return source{}, fmt.Errorf("reading the source: %w: the URL is not well-formed", ErrNotRepository)
	}
	switch u.Scheme {
	case "file":
		return localSource(u.Path)
	case "https", "http", "ssh", "git":
	default:
		return source{}, fmt.Errorf("reading the source: %w: %s URLs are not taken, only https, http, ssh and git", ErrNotRepository, u.Scheme)
	}
	if u.Host == "" || strings.HasPrefix(u.Host, "-") {
		return source{}, fmt.Errorf("reading the source: %w: the URL has no host", ErrNotRepository)
	}
	return source{url: text, shown: masked(*u)}, nil
}

// hidden stands for a secret, as git writes it.
const hidden = "xxxxx"

// masked is an address without what may be a secret: a password, a name alone (hosts take tokens for one) but where ssh wants it, a query. Of
// a query a digest is left, since it may also name the repository.
func masked(u url.URL) string {
	if _, both := u.User.Password(); u.User != nil && !both && u.Scheme != "ssh" {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" && !strings.HasPrefix(u.RawQuery, hidden) {
		sum := sha256.Sum256([]byte(u.RawQuery))
		u.RawQuery = hidden + "-" + hex.EncodeToString(sum[:4])
	}
	return u.Redacted()
}

// Shown is what Source says today of an address that an earlier version may have written down with a secret.
func Shown(source string) string {
	if s, err := parseSource(source); err == nil {
		return s.shown
	}
	return source
}

func localSource(path string) (source, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return source{}, fmt.Errorf("reading the source %q: %w", path, err)
	}
	return source{path: abs, shown: abs}, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// name is "owner/name" where the source tells it, else its last word. Of a path, the owner is known only in the two usual
// layouts: host/owner/name (with a dot in host) and owner+name.
func (s source) name() string {
	parts := strings.FieldsFunc(strings.TrimSuffix(s.trimmed(), ".git"), func(r rune) bool { return r == '/' || r == ':' })
	for len(parts) > 1 && (parts[len(parts)-1] == ".git" || parts[len(parts)-1] == "repo") {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return "repository"
	}
	n := len(parts) - 1
	last := strings.TrimSuffix(parts[n], ".git")
	switch {
	case s.path == "" && n > 0:
		return parts[n-1] + "/" + last
	case s.path != "" && strings.Count(last, "+") == 1 && !strings.HasPrefix(last, "+") && !strings.HasSuffix(last, "+"):
		return strings.Replace(last, "+", "/", 1)
	case s.path != "" && n > 1 && strings.Contains(strings.Trim(parts[n-2], "."), "."):
		return parts[n-1] + "/" + last
	}
	return last
}

// trimmed is the source's path without scheme, user, host, query and final slashes.
func (s source) trimmed() string {
	text := s.shown
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		text = u.Path
	} else if _, after, ok := strings.Cut(text, ":"); ok && s.path == "" {
		text = after
	}
	return strings.TrimRight(text, "/")
}

// folder is the mirror's folder name: readable, and different for sources of the same name.
func (s source) folder() string {
	sum := sha256.Sum256([]byte(s.shown))
	name := slugChars.ReplaceAllString(strings.ReplaceAll(s.name(), "/", "+"), "_")
	return strings.TrimLeft(name, ".-") + "-" + hex.EncodeToString(sum[:4]) + ".git"
}
