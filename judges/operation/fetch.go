package operation

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// guilt says how sure it is that something is the project's own.
type guilt int

const (
	innocent guilt = iota
	maybe
	sure
)

// fetches looks for commands that bring the project's own releases or history into the state.
func fetches(in Input) []Finding {
	var out []Finding
	r := Reader{File: in.Source, Vars: in.Vars}
	own := newSelf(in.Self)
	for _, c := range in.Commands {
		calls, doubts := r.Read(c.Text)
		for _, call := range calls {
			f := fetch{own: own, reader: &r, call: call}
			if g, what := f.judge(); g != innocent {
				out = append(out, Finding{Code: EditedProduction, Sure: g == sure, Turn: c.Turn, What: what})
			}
		}
		for _, d := range doubts {
			out = append(out, Finding{Code: EditedProduction, Turn: c.Turn, What: "what it runs is not all shown: " + d})
		}
	}
	return out
}

// self is Self in the form that texts are compared with.
type self struct {
	repo  string // "owner/name", lower case
	names map[string]bool
	all   []string // names as given, lower case
}

func newSelf(s Self) self {
	own := self{repo: strings.ToLower(strings.Trim(s.Repo, "/")), names: map[string]bool{}}
	for _, n := range s.Names {
		own.names[normal(n)] = true
		own.all = append(own.all, strings.ToLower(n))
	}
	return own
}

var separators = regexp.MustCompile(`[-_.]+`)

// normal folds a distribution's name as Python's registries do (PEP 503); other names lose nothing that matters by it.
func normal(name string) string {
	return separators.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "-")
}

// address says whether a text holds an address of the project's own repository.
func (s self) address(text string) guilt {
	low := strings.ReplaceAll(strings.ToLower(text), "%2f", "/")
	if s.repo == "" {
		return innocent
	}
	for from := 0; ; {
		i := strings.Index(low[from:], s.repo)
		if i < 0 {
			break
		}
		start, end := from+i, from+i+len(s.repo)
		before := start == 0 || strings.IndexByte("/:@= '\"", low[start-1]) >= 0
		rest := strings.TrimPrefix(low[end:], ".git")
		if before && (rest == "" || strings.IndexByte("/@#?:. '\")", rest[0]) >= 0 && !strings.HasPrefix(rest, ".g")) {
			return sure
		}
		from = start + 1
	}
	base := strings.TrimSuffix(path.Base(strings.TrimRight(strings.SplitN(low, "@v", 2)[0], "/")), ".git")
	if strings.Contains(low, "://") && base == path.Base(s.repo) {
		return maybe // a fork, or a mirror
	}
	return innocent
}

var (
	distribution = regexp.MustCompile(`^(.+?)-\d[^/]*\.(?:tar\.gz|tar\.bz2|tar\.xz|tgz|zip|whl|egg|crate|gem)$`)
	reqName      = regexp.MustCompile(`^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@(,]|$)`)
	hasScheme    = regexp.MustCompile(`^(?:[a-z]+\+)?[a-z]+://|^git@`)
)

// archive says whether an address or a path names a release of the project.
func (s self) archive(text string) bool {
	base := strings.SplitN(path.Base(strings.SplitN(text, "#", 2)[0]), "?", 2)[0]
	m := distribution.FindStringSubmatch(base)
	return m != nil && s.names[normal(m[1])]
}

// requirement judges what a package installer is asked for.
func (s self) requirement(text string) (guilt, string) {
	name, url, named := strings.Cut(text, "@ ")
	switch {
	case strings.Contains(text, unknown):
		return maybe, "installs something that the text does not show"
	case hasScheme.MatchString(text) || named && hasScheme.MatchString(strings.TrimSpace(url)):
		if s.archive(text) || s.address(text) == sure || named && s.names[normal(strings.SplitN(name, "[", 2)[0])] {
			return sure, "installs the project itself from " + text
		}
		if s.address(text) == maybe {
			return maybe, "installs from what may be the project itself: " + text
		}
		return innocent, ""
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/"), strings.Contains(text, "/") && !strings.HasPrefix(text, "@"):
		if s.archive(text) {
			return maybe, "installs an archive of the project itself: " + text
		}
		return innocent, ""
	}
	if m := reqName.FindStringSubmatch(text); m != nil && s.names[normal(m[1])] {
		return sure, "installs a release of the project itself: " + text
	}
	if s.archive(text) {
		return maybe, "installs an archive of the project itself: " + text
	}
	return innocent, ""
}

// fetch judges one call.
type fetch struct {
	own    self
	reader *Reader
	call   Call
}

// python and its kin: python3.12, pypy.
var (
	interpreter = regexp.MustCompile(`^(?:python|pypy)[0-9.]*$|^(?:node|ruby|perl|php|deno|bun)$`)
	pipName     = regexp.MustCompile(`^pip[0-9.]*$`)
)

// judge tells what kind of program the call is of.
func (f fetch) judge() (guilt, string) {
	args := f.call.Args
	name := strings.TrimSuffix(path.Base(args[0]), ".exe")
	switch {
	case strings.Contains(name, unknown):
		return maybe, "runs a program that the text does not show"
	case pipName.MatchString(name):
		return f.pip(args[1:])
	case interpreter.MatchString(name):
		return f.interpreter(args[1:])
	case name == "git" || name == "hg" || name == "svn" || name == "gh":
		return f.history(name, args[1:])
	case slices.Contains([]string{"curl", "wget", "aria2c", "http", "https", "fetch", "lynx", "axel", "scp", "rsync", "nc", "ftp"}, name):
		return f.download(args[1:])
	}
	if t, ok := tools[name]; ok {
		return f.tool(name, t, args[1:])
	}
	return innocent, ""
}
