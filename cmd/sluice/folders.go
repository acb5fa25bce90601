package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// repoFolders are the flags that say where repositories are.
type repoFolders struct {
	repos    []string
	template string
}

func (f *repoFolders) addFlags(cmd *cobra.Command, repo string) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.repos, "repo", nil, repo)
	flags.StringVar(&f.template, "repos", "", "where repositories are: a folder with {owner} and {name}")
}

// inTemplate is the folder that --repos has for a repository, "" when there is none.
func (f repoFolders) inTemplate(name string) string {
	owner, last, _ := strings.Cut(name, "/")
	dir := strings.NewReplacer("{owner}", owner, "{name}", last).Replace(f.template)
	if f.template == "" || strings.Contains("/"+name+"/", "/../") || !exists(dir) {
		return ""
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var ownerName = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// finder finds folders by names that are not known before; nil when no flag was given. key differs when it looks elsewhere.
func (f repoFolders) finder() (find func(name string) string, key string, err error) {
	if f.template == "" && len(f.repos) == 0 {
		return nil, "", nil
	}
	if f.template != "" && (!strings.Contains(f.template, "{owner}") || !strings.Contains(f.template, "{name}")) {
		return nil, "", errors.New("reading --repos: it must have {owner} and {name}, for a name alone is many repositories'")
	}
	named := map[string]string{}
	for _, r := range f.repos {
		name, dir, _ := strings.Cut(r, "=")
		switch {
		case !ownerName.MatchString(name) || dir == "":
			return nil, "", fmt.Errorf("reading --repo %q: write it as owner/name=DIR", r)
		case !exists(dir):
			return nil, "", fmt.Errorf("reading --repo: the folder %s does not exist", dir)
		}
		named[strings.ToLower(name)] = dir
	}
	find = func(name string) string {
		if dir := named[strings.ToLower(name)]; dir != "" {
			return dir
		}
		return f.inTemplate(name)
	}
	return find, f.key(named), nil
}

// key tells apart what is at hand: the folders named, and those that the template has now.
func (f repoFolders) key(named map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(named)) {
		fmt.Fprintf(sum, "%s=%s\n", name, named[name])
	}
	there, _ := filepath.Glob(strings.NewReplacer("{owner}", "*", "{name}", "*").Replace(f.template)) // a template that is no pattern lists none
	for _, dir := range there {
		fmt.Fprintln(sum, dir)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
