package sluice_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFindings: each test that docs/findings.md names is in the folder that it names.
func TestFindings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what ") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) != 3 || !strings.Contains(cells[1], "](https://") {
			t.Errorf("no row of three, with a link: %s", line)
			continue
		}
		named := 0
		for _, m := range regexp.MustCompile("`(?:([a-z/]+)[.])?((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`").FindAllStringSubmatch(cells[2], -1) {
			named++
			if !holds(t, m[1], "_test.go", "func "+m[2]+"(") {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
		for _, m := range regexp.MustCompile("`([a-z/]+): ([a-z ]+)`").FindAllStringSubmatch(cells[2], -1) {
			named++
			if !holds(t, m[1], ".go", `{name: "`+m[2]+`"`) {
				t.Errorf("%s has no check %q", m[1], m[2])
			}
		}
		if named == 0 {
			t.Errorf("no test in %s", line)
		}
	}
	if rows < 30 {
		t.Errorf("%d rows", rows)
	}
}

// holds reports whether a source of a folder has the text.
func holds(t *testing.T, folder, end, text string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*"+end))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if data, err := os.ReadFile(name); err != nil || strings.Contains(string(data), text) {
			return err == nil
		}
	}
	return false
}
