// Package lang knows just enough of programming languages for mining: what kind of file a path names, which lines of a
// file hold code, and whether two versions of a file differ in more than comments and layout.
//
// Paths are judged by whole components and by the language of the file, never by a substring ("latest" is no test).
// The package reads no files, resolves no names and never runs anything.
package lang

import (
	"path"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// Kind is what a file is for.
type Kind string

// The kinds of files. Every path has exactly one.
const (
	Source    Kind = "source"    // what the project ships
	Test      Kind = "test"      // tests and all that only tests need: helpers, fixtures, snapshots
	Docs      Kind = "docs"      // prose, and the examples and settings of the documentation
	Generated Kind = "generated" // made by a tool from something else in the tree
	Vendored  Kind = "vendored"  // other projects' code
	Config    Kind = "config"    // dependencies, build files, settings, CI
	Other     Kind = "other"     // binaries and whatever has no known language
)

// Classify tells the kind of the file at a slash-separated path. The outermost folder that means something decides, except
// that a test's name counts also below documentation and settings; then the file's name, and last its language.
func Classify(name string) Kind {
	p := split(name)
	k := p.folder()
	switch {
	case k == Vendored || k == Test || k == Generated:
		return k
	case p.testName():
		return Test
	case k != "":
		return k
	case p.dependency():
		return Config
	case p.vendored():
		return Vendored
	case p.generated():
		return Generated
	}
	return p.byLanguage()
}

// Dependency tells whether the path names a manifest or a lock file: a list of the packages that the project needs.
func Dependency(name string) bool { return split(name).dependency() }

// parts is a path taken apart; all but name are in lower case.
type parts struct {
	name  string   // the last component, as it is written
	base  string   // the last component
	stem  string   // base up to its last dot
	ext   string   // from the last dot of base on
	dirs  []string // the components above
	exact []string // dirs as they are written
	lang  string
}

func split(name string) parts {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	all := strings.Split(name, "/")
	p := parts{name: all[len(all)-1], exact: all[:len(all)-1], lang: Language(name)}
	p.base = strings.ToLower(p.name)
	p.ext = path.Ext(p.base)
	p.stem = strings.TrimSuffix(p.base, p.ext)
	for _, d := range p.exact {
		p.dirs = append(p.dirs, strings.ToLower(d))
	}
	return p
}

// folder finds the outermost folder that says what is below it, "" when none does. Code in a "docs" folder that is not at
// the top is code.
func (p parts) folder() Kind {
	for i, d := range p.dirs {
		switch {
		case vendorDirs[d]:
			return Vendored
		case p.testDir(i):
			return Test
		case generatedDirs[d]:
			return Generated
		case settingDirs[d]:
			return Config
		case docsDirs[d] && (i == 0 || !p.isCode()), exampleDirs[d] && i == 0:
			return Docs
		}
	}
	return ""
}

func (p parts) dependency() bool {
	return dependencyFiles[p.base] || p.ext == ".lock" || p.ext == ".lockfile" || p.ext == ".gemspec" || p.requirements()
}

// requirements knows pip's lists: requirements.txt, requirements-dev.txt, dev-requirements.txt, requirements/dev.txt.
func (p parts) requirements() bool {
	if p.ext != ".txt" && p.ext != ".in" {
		return false
	}
	if len(p.dirs) > 0 && p.dirs[len(p.dirs)-1] == "requirements" {
		return true
	}
	words := strings.FieldsFunc(p.stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return len(words) > 0 && (words[0] == "requirements" || words[len(words)-1] == "requirements")
}

func (p parts) vendored() bool {
	script := p.ext == ".js" || p.ext == ".mjs" || p.ext == ".css"
	return vendorFiles[p.base] || script && (strings.HasSuffix(p.stem, ".min") || strings.HasSuffix(p.stem, "-min"))
}

func (p parts) generated() bool {
	for _, s := range generatedEnds {
		if strings.HasSuffix(p.base, s) {
			return true
		}
	}
	return enry.IsGenerated(p.name, nil)
}

func (p parts) byLanguage() Kind {
	kind := enry.GetLanguageType(p.lang)
	switch {
	case buildLanguages[p.lang] || buildFiles[p.base] || strings.HasPrefix(p.base, "."), p.toolSettings():
		return Config
	case p.lang == "SVG":
		return Other
	case kind == enry.Prose, kind == enry.Unknown && docsFiles[p.stem], proseMarkup[p.lang]:
		return Docs
	case kind == enry.Programming, kind == enry.Markup, interfaceLanguages[p.lang]:
		return Source
	case kind == enry.Data:
		return Config
	default:
		return Other
	}
}

// toolSettings knows vite.config.ts and its like; app.config.ts is a program's own file.
func (p parts) toolSettings() bool {
	tool, ok := strings.CutSuffix(p.stem, ".config")
	return ok && tools[tool]
}

func (p parts) isCode() bool {
	return enry.GetLanguageType(p.lang) == enry.Programming && !buildLanguages[p.lang]
}
