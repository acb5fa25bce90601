package node

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay/tools/project"
)

var (
	nodeKey     = regexp.MustCompile(`(?i)^[\s-]*["']?(?:node|nodes|node_?js|node[-_]?js[-_]?versions?|node[-_]?versions?)["']?\s*:(.*)$`)
	nodeVersion = regexp.MustCompile(`(?:^|[\s\[,"'])[\^~>=v]*(?:(\d{1,2})(?:\.(?:\d+|[xX*]))*)(?:[\s\],"']|$)`)
	iojs        = regexp.MustCompile(`\biojs\b`)
)

// maxWorkflows bounds the files that are read for the versions that they name.
const maxWorkflows = 50

// testedOn lists the major versions of node that a project's continuous integration names, in no order. Which of its jobs run tests is
// not asked: one that runs none names a newer version more often than an older one, and those that are not older change nothing.
func testedOn(t *project.Tree, dirs []string) ([]int, error) {
	files := []string{".travis.yml", "appveyor.yml", ".appveyor.yml"}
	for _, d := range dirs {
		files = append(files, path.Join(d, ".travis.yml"))
	}
	var workflows []string
	for f := range t.Files() {
		if ext := path.Ext(f); path.Dir(f) == ".github/workflows" && (ext == ".yml" || ext == ".yaml") {
			workflows = append(workflows, f)
		}
	}
	slices.Sort(workflows)
	files = append(files, workflows[:min(len(workflows), maxWorkflows)]...)
	var list []int
	for _, f := range files {
		text, err := t.Read(f)
		if err != nil {
			return nil, err
		}
		list = append(list, matrix(text)...)
	}
	return list, nil
}

// matrix finds versions in the values of keys that are named for node, with the list's lines that follow.
func matrix(text string) []int {
	var list []int
	open := false
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\r\n\t "), " #")
		trimmed := strings.TrimSpace(line)
		if m := nodeKey.FindStringSubmatch(line); m != nil {
			list = append(list, majors(m[1])...)
			value := strings.TrimSpace(m[1])
			open = value == "" || strings.HasPrefix(value, "[") && !strings.Contains(value, "]")
			continue
		}
		item := strings.HasPrefix(trimmed, "-") && !strings.Contains(trimmed, ":") || strings.Trim(trimmed, "[]0123456789.xX*'\", ") == ""
		if open = open && item; open {
			list = append(list, majors(strings.TrimPrefix(trimmed, "-"))...)
			open = !strings.Contains(trimmed, "]")
		}
	}
	return list
}

func majors(value string) []int {
	var list []int
	if iojs.MatchString(value) {
		list = append(list, 3)
	}
	for _, m := range nodeVersion.FindAllStringSubmatch(strings.ReplaceAll(value, ",", " , "), -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			list = append(list, max(n, 1)) // 0.10 and the like are 1: older than all
		}
	}
	return list
}
