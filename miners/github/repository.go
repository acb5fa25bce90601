package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Repository is what identifies a repository. Names change and are given again to others: the numeric id does not.
type Repository struct {
	Host          string          `json:"host,omitempty"` // of the API; "" is GitHub's own
	ID            int64           `json:"id"`
	Name          string          `json:"name"`              // owner/name, as the API writes it now
	Renamed       string          `json:"renamed,omitempty"` // the name that was asked for, when it is an old one
	DefaultBranch string          `json:"default_branch"`
	Raw           json.RawMessage `json:"raw,omitempty"`
}

var fullName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]+)?/[A-Za-z0-9._-]{1,100}$`)

// CheckName tells whether a text can be the name of a repository: owner/name.
func CheckName(name string) error {
	_, base, _ := strings.Cut(name, "/")
	if !fullName.MatchString(name) || base == "." || base == ".." {
		return fmt.Errorf("%q is not OWNER/NAME", short(name))
	}
	return nil
}

// Repository looks a repository up. One that has another name now is followed by its redirection, once.
func (c *Client) Repository(ctx context.Context, name string) (Repository, error) {
	if err := CheckName(name); err != nil {
		return Repository{}, err
	}
	pg, err := c.get(ctx, "repos/"+name)
	var status *StatusError
	if errors.As(err, &status) && gone(status.Status) {
		return Repository{}, fmt.Errorf("%w: %s (%w)", ErrUnknownRepo, name, err)
	}
	if err != nil {
		return Repository{}, fmt.Errorf("looking up %s: %w", name, err)
	}
	var r struct {
		ID            int64  `json:"id"`
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	}
	if err := json.Unmarshal(pg.body, &r); err != nil {
		return Repository{}, fmt.Errorf("looking up %s: %w: %w", name, ErrBadAnswer, err)
	}
	if r.ID <= 0 || CheckName(r.FullName) != nil {
		return Repository{}, fmt.Errorf("looking up %s: %w: no id or no name", name, ErrBadAnswer)
	}
	repo := Repository{Host: c.foreign(), ID: r.ID, Name: r.FullName, DefaultBranch: r.DefaultBranch, Raw: pg.body}
	if !strings.EqualFold(name, r.FullName) {
		repo.Renamed = name
	}
	return repo, nil
}

// gone: not found, gone for good, or not shown for legal reasons.
func gone(status int) bool {
	return status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnavailableForLegalReasons
}

func (r Repository) path(format string, args ...any) string {
	return "repos/" + r.Name + "/" + fmt.Sprintf(format, args...)
}
