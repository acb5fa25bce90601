package python

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// Things that a release of Python took away, and with them the last version that has them. They count only where a project names no
// version at all.
var removals = []struct {
	last version
	find *regexp.Regexp
}{
	{python2, regexp.MustCompile(`(?m)^\s*except\s+[\w.]+\s*,\s*\w+\s*:|^\s*print\s+["'][^"'\n]*["']\s*(?:%.*|,.*)?$|^\s*raise\s+\w+\s*,\s*["']`)},
	{309, regexp.MustCompile(`(?m)\bcollections\.(?:Mapping|MutableMapping|Iterable|Sequence|Callable|Set)\b|^from collections import .*\b(?:Mapping|Iterable|Sequence)\b|\bfractions\.gcd\b`)},
	{309, regexp.MustCompile(`\binspect\.getargspec\b|@asyncio\.coroutine\b`)},
	{311, regexp.MustCompile(`(?m)^\s*(?:import (?:imp|asyncore|asynchat|smtpd|distutils)\b|from (?:imp|asyncore|asynchat|smtpd|distutils)\b)|\bassertEquals\(|\bSafeConfigParser\b|\buse_2to3\b`)},
	{311, regexp.MustCompile(`(?m)^\s*(?:import|from) (?:cgi|crypt|telnetlib|pipes|imghdr|nntplib|lib2to3)\b`)},
}

// three finds what Python 2 does not understand.
var three = regexp.MustCompile(`(?m)^\s*async def |^\s*nonlocal |\bsuper\(\)|^\s*def .*\) *-> *.*:$|[=(,]\s*f["']`)

// asName finds "async" or "await" as a name, which they can be no longer from 3.7 on.
var asName = regexp.MustCompile(`(?m)[(,]\s*(?:async|await)\s*=[^=]|^\s+(?:async|await)\s*=[^=]|\bself\.(?:async|await)\b|\bdef (?:async|await)\(|^\s*from \.+async import\b`)

// lost are the versions that a project names where all of them but Python 2 are too old for any image, and its sources are no syntax for the
// images' Python 3: then it is run with Python 2.
func lost(t *project.Tree, root string, named []version) ([]version, error) {
	if !slices.Contains(named, python2) || slices.Max(named) >= 307 {
		return named, nil
	}
	found := false
	err := t.Sources(sourcesOf(root), func(f replay.File) error {
		found = found || asName.Match(f.Data)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at sources: %w", err)
	}
	if found {
		return []version{python2}, nil
	}
	return named, nil
}

// refusal is a package, or a setup.py, that ends under Python 2.
var refusal = regexp.MustCompile(`\bsys\.version_info(?:\[0\]|\[:\d\]|\.major)?\s*<\s*\(?\s*3\b(?:,\s*(\d{1,2})\b)?[^\n]*\n(?:[^\n]*\n){0,3}?\s*(?:sys\.exit\(|exit\(|raise (?:SystemExit|RuntimeError|ImportError|Exception)\()`)

// refuses tells which version a project asks for that names none but Python 2 and ends under it: what it names was forgotten. 0: it does not.
func refuses(t *project.Tree, root string, named []version) (version, error) {
	if len(named) == 0 || slices.Max(named) > python2 {
		return 0, nil
	}
	least := version(0)
	err := t.Sources(sourcesOf(root), func(f replay.File) error {
		inside, _ := strings.CutPrefix(f.Path, root+"/")
		top := inside == "setup.py" || path.Base(inside) == "__init__.py" && strings.Count(strings.TrimPrefix(inside, "src/"), "/") == 1
		if m := refusal.FindSubmatch(f.Data); top && m != nil {
			least = max(least, parseVersion("3."+cmp.Or(string(m[1]), "0")))
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("looking at sources: %w", err)
	}
	return least, nil
}

func sourcesOf(root string) func(string) bool {
	return func(p string) bool { return path.Ext(p) == ".py" && project.Within(root, p) }
}

// era is the last version that has what the project uses, 0 if nothing tells.
func era(t *project.Tree, root string) (version, error) {
	found := map[version]bool{}
	modern := false
	err := t.Sources(sourcesOf(root), func(f replay.File) error {
		modern = modern || three.Match(f.Data)
		for _, r := range removals {
			found[r.last] = found[r.last] || r.find.Match(f.Data)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("looking at sources: %w", err)
	}
	for _, r := range removals {
		if found[r.last] && !(modern && r.last == python2) {
			return r.last, nil
		}
	}
	return 0, nil
}
