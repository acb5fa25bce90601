package gitrepo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// notThere is what git and its helpers say of a URL without a repository.
var notThere = regexp.MustCompile(`(?i)repository .*not found|does not appear to be a git repository|not valid: is this a git`)

// fetchRemote fetches branches, tags and the heads of pull and merge requests. History that the source rewrote is taken over,
// references that it dropped are dropped.
func fetchRemote(ctx context.Context, url string, g git) error {
	net := g.overNetwork()
	// The folder may not be a repository yet.
	outside := net
	outside.dir = "/"
	advertised, err := outside.output(ctx, nil, "ls-remote", "--symref", "--", url)
	if err != nil && notThere.MatchString(err.Error()) {
		return fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	if err != nil {
		return err
	}
	head, offered := parseAdvertised(string(advertised))
	if len(offered.forMirror()) == 0 {
		return ErrEmpty
	}
	if err := initialise(ctx, g, idLength(offered)); err != nil {
		return err
	}
	_, err = net.output(ctx, nil, "fetch", "--quiet", "--prune", "--no-tags", "--force", "--no-write-fetch-head",
		"--no-recurse-submodules", "--", url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*",
		"+refs/pull/*/head:refs/pull/*/head", "+refs/merge-requests/*/head:refs/merge-requests/*/head")
	if err != nil {
		return err
	}
	return writeHead(g.dir, offered.defaultBranch(head))
}

// parseAdvertised reads `ls-remote --symref`: the branch that HEAD names, and the references.
func parseAdvertised(text string) (head string, offered refs) {
	offered = refs{}
	for line := range strings.Lines(text) {
		value, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if target, ok := strings.CutPrefix(value, "ref: "); ok && name == "HEAD" {
			head = target
		} else if objectID.MatchString(value) && !strings.HasSuffix(name, "^{}") {
			offered[name] = value
		}
	}
	return head, offered
}
