// Package links reads what people wrote about changes: which issues a text closes, which earlier change it blames, and what it
// reverts.
//
// Its functions are pure and take time linear in the text. They report what a text claims, with the words that say so, and never
// decide whether the claim is true: numbers and commit ids are not looked up anywhere.
package links

import (
	"net/url"
	"strings"
)

// Repo is the repository that a text belongs to. References to it are local, all others external.
type Repo struct {
	Host  string `json:"host,omitempty"` // "" means github.com
	Owner string `json:"owner"`          // may have several components on hosts with nested groups
	Name  string `json:"name"`
}

// ParseRepo reads "owner/name" or the URL of a repository. A text of another form gives a Repo that matches nothing.
func ParseRepo(s string) Repo {
	host := ""
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		host, s = strings.ToLower(u.Hostname()), u.Path
	} else if at, path, ok := strings.Cut(s, ":"); ok && strings.Contains(at, "@") {
		host, s = at[strings.Index(at, "@")+1:], path
	}
	s = strings.TrimSuffix(strings.Trim(s, "/"), ".git")
	i := strings.LastIndex(s, "/")
	if i < 0 {
		return Repo{Host: host}
	}
	if host == "github.com" {
		host = ""
	}
	return Repo{Host: host, Owner: s[:i], Name: s[i+1:]}
}

func (r Repo) host() string {
	if r.Host == "" {
		return "github.com"
	}
	return strings.ToLower(r.Host)
}

// owns tells whether owner and name mean this repository; hosts compare them without case.
func (r Repo) owns(host, owner, name string) bool {
	return r.Name != "" && host == r.host() && strings.EqualFold(owner, r.Owner) && strings.EqualFold(name, r.Name)
}

// label names another repository, with its host where it is not this one's.
func (r Repo) label(host, owner, name string) string {
	if host == r.host() {
		return owner + "/" + name
	}
	return host + "/" + owner + "/" + name
}
