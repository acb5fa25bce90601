package changelog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/links"
)

var self = links.Repo{Owner: "o", Name: "r"}

// brief writes an entry on one line.
func brief(e Entry) string {
	s := fmt.Sprintf("%d %s|%s|", e.Line, e.Version, e.Section)
	if e.Fix {
		s += "fix"
	}
	if len(e.Requests) > 0 {
		s += fmt.Sprint(" pr", e.Requests)
	}
	if len(e.Issues) > 0 {
		s += fmt.Sprint(" issue", e.Issues)
	}
	if len(e.Numbers) > 0 {
		s += fmt.Sprint(" n", e.Numbers)
	}
	if len(e.Commits) > 0 {
		s += fmt.Sprint(" sha", e.Commits)
	}
	for _, o := range e.Origins {
		s += fmt.Sprintf(" <- %s %s", o.Cue, o.Version+o.Claim.SHA)
		if o.Claim.Number > 0 {
			s += fmt.Sprint("#", o.Claim.Number)
		}
	}
	return s
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, text string
		want       []string
	}{
		"Keep a Changelog": {"CHANGELOG.md", `# Changelog

## [Unreleased]
### Fixed
- Reader no longer crashes, a regression from #12 (#15).
## [1.2.0] - 2024-01-01
### Added
- A new reader
  that reads ([#10](https://github.com/o/r/pull/10))
### Bug fixes
* Broken since 1.1.0: writes ([abc1234](https://github.com/o/r/commit/abc1234)), closes [#9](https://github.com/o/r/issues/9)
* Works with 1.3.0 regression in 1.9
`, []string{
			"5 |Fixed|fix n[12 15] <- regression #12",
			"8 1.2.0|Added| pr[10]",
			"11 1.2.0|Bug fixes|fix issue[9] sha[abc1234] <- broken 1.1.0",
			"12 1.2.0|Bug fixes|fix",
		}},
		"Sphinx": {"doc/changelog/changelog_20.rst", `=============
2.0 Changelog
=============

.. changelog::
    :version: 2.0.3
    :released: February 9, 2023

    .. change::
        :tags: bug, orm
        :tickets: 9232, 9233

        Fixed regression in version 2.0.0 where x
        fails:

        * one
        * two

    .. change::
        :tags: feature, sql

        Added y.
`, []string{"9 2.0.3|bug, orm|fix issue[9232 9233] <- regression 2.0.0", "19 2.0.3|feature, sql|"}},
		"releases for Sphinx": {"docs/changelog.rst", "Changelog\n=========\n\n- :release:`1.2.3 <2024-01-01>`\n- :bug:`12` Fix the thing introduced in 1.2.0\n", []string{
			"4 ||", "5 ||fix issue[12] <- introduced 1.2.0",
		}},
		"NEWS": {"NEWS", "48.1\n====\n* Fix crash on start [Ann; !12, #34]\n* Misc. bug fixes and cleanups [Bo; !13]\n\nContributors:\n  Ann, Bo\n", []string{
			"3 48.1||fix pr[12] n[34]", "4 48.1|| pr[13]",
		}},
		"release notes with footnotes": {"RELEASE-NOTES", "curl and libcurl 8.1.0\n\nThis release includes the following bugfixes:\n\n o url: stop it from crashing [7]\n   when empty\n\n [7] = https://curl.se/bug/?i=123\n [8] = https://github.com/o/r/issues/9\n", []string{
			"5 |This release includes the following bugfixes|fix",
		}},
		"a fragment":           {"newsfragments/1234.bugfix.rst", "Fixed a regression in 3.1\nof the reader.\n", []string{"1 |bugfix|fix n[1234] <- regression 3.1"}},
		"a fragment of a name": {"changelog.d/+x.added.md", "Added z to y\n", []string{"1 |added|"}},
		"a change set":         {".changeset/brave-cats-sit.md", "---\n'svelte': patch\n---\n\nfix: prevent a crash introduced in #12\n", []string{"5 ||fix n[12] <- introduced #12"}},
		"GNU": {"ChangeLog", "2024-01-02  Ann  <a@x.org>\n\n\tPR other/123\n\t* a.c (f): Fix crash.\n\t* b.c: New.\n", []string{
			"4 ||fix", "5 ||",
		}},
		"whose version": {"NEWS", "2.0\n===\n* Fixed a regression in Python 1.7\n* Fixed a regression in R 1.6\n* Fix a regression from :pr:`5` in version 1.5\n", []string{
			"3 2.0||fix", "4 2.0||fix <- regression 1.6", "5 2.0||fix pr[5] <- regression 1.5",
		}},
		"none":  {"main.go", "## 1.0\n- Fixed #1 again\n", nil},
		"empty": {"CHANGES", "", nil},
	} {
		var got []string
		for _, e := range Parse(tt.path, []byte(tt.text), self) {
			got = append(got, brief(e))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{
		"CHANGELOG.md": Sections, "CHANGES.rst": Sections, "docs/HISTORY.txt": Sections, "NEWS": Sections, "RELEASE-NOTES": Sections,
		"packages/svelte/CHANGELOG.md": Sections, "doc/build/changelog/changelog_20.rst": Sections, "CHANGELOG-2.x.md": Sections,
		"doc/build/changelog/unreleased_20/1234.rst": Fragment, "newsfragments/12.bugfix": Fragment, "changes/12.fix.md": Fragment,
		".changeset/a-b.md": Fragment, ".changeset/README.md": Unknown, "ChangeLog": GNU, "ChangeLog.2": GNU,
		"node_modules/x/CHANGELOG.md": Unknown, "vendor/a/b/CHANGELOG.md": Unknown, "changes.go": Unknown, "src/history.py": Unknown,
		"history/a.bug.c": Unknown, "12.bugfix": Unknown,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("KindOf(%q) = %v, want %v", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"CHANGES.md", "changes/1.bugfix.rst", "ChangeLog", "unreleased_1/2.rst"} {
		f.Add(name, "# 1.2\n## Fixed\n- a b (#1)\n\n.. change::\n   :tags: bug\n   :tickets: 1\n\n   regression in 1.1\n2024-01-01  A  <b>\n\n\t* x: fix.\n[1] https://x/pull/1\n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, e := range Parse(name, []byte(text), self) {
			if e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || strings.Contains(e.Text, "\n") && !strings.Contains(text, "\r") {
				t.Errorf("entry %+v of %q", e, text)
			}
			for _, o := range e.Origins {
				if o.Version == "" && o.Claim == (links.Claim{}) {
					t.Errorf("an origin of nothing: %+v", e)
				}
			}
		}
	})
}
