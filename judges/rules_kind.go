package judges

import (
	"regexp"
	"strings"

	"sluice/judges/leak"
)

var (
	revertTitle = regexp.MustCompile(`(?i)^(?:[\w()/.-]+:\s*)?(?:partial(?:ly)? )?(?:revert|back(?:ed|ing)? out|roll(?:ed|ing)? ?back)\b|^This reverts `)
	// taste are reasons that no foresight finds: somebody did not want it.
	taste = regexp.MustCompile(`(?i)\b(?:not? (?:longer )?(?:really |actually )?(?:wanted|want|desired|desirable|agreed|worth)|un(?:wanted|desired|popular)|controvers\w+|consensus|bikeshed\w*|prefer(?:red|ence|s)?|` +
		`decided (?:not to|against|to keep|to go)|polic(?:y|ies)|matter of (?:taste|style)|too (?:early|soon)|premature(?:ly)?|not ready|wasn't ready|user feedback|complain\w*|licen[cs]\w+|` +
		`postpone\w*|until (?:the )?(?:next|after|later)|discussion|needs? more (?:thought|discussion|review|time)|by (?:mistake|accident)|accidental(?:ly)?|wrong branch|unreviewed|without review)\b`)
	// objective are reasons that it did harm.
	objective = regexp.MustCompile(`(?i)\b(?:br(?:oke|eaks?|oken|eaking|eakage)|regress\w*|crash\w*|fail\w*|bugs?|wrong\w*|incorrect\w*|leak\w*|dead ?lock\w*|panic\w*|corrupt\w*|` +
		`CVE\S*|vulnerab\w*|slow\w*|errors?|hang\w*|infinite|flak\w+|problem\w*|issues?|cause[sd]?|race|doesn't work|does not work|not work\w*|invalid|los[ets]\w*|unsafe|unsound)\b`)
)

// tasteRevert: the fix takes a change back because somebody did not want it, and speaks of no harm. A revert for harm is for a judge.
func tasteRevert(p Pair) (Finding, bool) {
	if !revertTitle.MatchString(p.Fix.Title) && !strings.Contains(p.Fix.Body, "This reverts commit") {
		return Finding{}, false
	}
	// The title names the change that goes, whose words are no reason.
	reason := p.Fix.Body
	why := taste.FindString(reason)
	f := Finding{Judge: PairEligibility, Code: "unpredictable", Name: "revert-for-taste", Quote: lineWith(reason, why), Keeps: true}
	return f, why != "" && !objective.MatchString(reason)
}

// lineWith is the line of a text that holds some words.
func lineWith(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(words)
}

var (
	manifest = regexp.MustCompile(`(?i)(?:^|/)(?:go\.(?:mod|sum|work(?:\.sum)?)|package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.(?:toml|lock)|` +
		`requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|pipfile(?:\.lock)?|poetry\.lock|uv\.lock|pdm\.lock|pyproject\.toml|setup\.(?:cfg|py)|gemfile(?:\.lock)?|[\w-]+\.gemspec|composer\.(?:json|lock)|` +
		`pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|gradle\.properties|mix\.(?:exs|lock)|pubspec\.(?:yaml|lock)|podfile(?:\.lock)?|flake\.lock|\.gitmodules|[\w-]+\.csproj|directory\.packages\.props|vcpkg\.json|conanfile\.\w+|[\w.-]+\.wrap)$|(?:^|/)(?:vendor|third_party|node_modules)/`)
	bumpTitle = regexp.MustCompile(`(?i)\b(?:bump\w*|upgrad\w+|updat\w+|downgrad\w+|pin\w*|depend\w*|deps?|version|roll|vendor\w*|renovate|lockfile)\b`)
	docPath   = regexp.MustCompile(`(?i)\.(?:md|markdown|rst|adoc|asciidoc|tex|texi|pod|man|[1-8])$|(?:^|/)(?:docs?|documentation|man|newsfragments|\.changeset)/(?:[^/]*/)*[^/.]+(?:\.(?:txt|html|png|svg|jpe?g|gif|css))?$|` +
		`(?:^|/)(?:readme|changelog|changes|news|authors|contributing|licen[cs]e|copying|history|todo|release[_-]?notes)(?:\.(?:txt|html))?$`)
)

// allMatch reports whether every one of some paths fits.
func allMatch(paths []string, re *regexp.Regexp) bool {
	for _, p := range paths {
		if !re.MatchString(p) {
			return false
		}
	}
	return len(paths) > 0
}

// dependencyBump: the fix only moves versions of what the program is built with.
func dependencyBump(p Pair) (Finding, bool) {
	f := Finding{Judge: PairEligibility, Code: "not_a_bug", Name: "dependency-bump", Quote: p.Fix.Title, Keeps: true}
	return f, allMatch(p.Fix.SourcePaths, manifest) && bumpTitle.MatchString(p.Fix.Title)
}

// documentation: the fix changes only documents, or only comments.
func documentation(p Pair) (Finding, bool) {
	f := Finding{Judge: PairEligibility, Code: "not_a_bug", Name: "documentation-only", Keeps: true}
	if len(p.Fix.SourcePaths) > 0 {
		f.Quote = p.Fix.SourcePaths[0]
	}
	return f, allMatch(p.Fix.SourcePaths, docPath) || commentsOnly(p.Fix.SourcePatch)
}

// commentsOnly reports whether all lines that a patch adds and takes away are comments, in files of code.
func commentsOnly(patch string) bool {
	found := false
	for _, file := range leak.ReadPatch(patch) {
		if docPath.MatchString(file.Path) {
			continue
		}
		if len(file.Hunks) == 0 {
			return false // renamed, made executable, binary: something else happened
		}
		for _, h := range file.Hunks {
			n, ok := changedComments(file.Path, h)
			if !ok {
				return false
			}
			found = found || n > 0
		}
	}
	return found
}

// changedComments counts the comments that a hunk changes; not ok: it changes something else.
func changedComments(name string, h leak.Hunk) (n int, ok bool) {
	before, after := codeWords(name, h.Before), codeWords(name, h.After)
	if strings.Join(before, "\x00") != strings.Join(after, "\x00") {
		return 0, false
	}
	for _, t := range leak.Lex(name, h.After) {
		if t.Kind == leak.Comment && h.Added[t.Line] {
			n++
		}
	}
	for _, t := range leak.Lex(name, h.Before) {
		if t.Kind == leak.Comment && !strings.Contains(h.After, t.Text) {
			n++
		}
	}
	return n, true
}

// codeWords are the words of a piece of a file without its comments, with all marks between them.
func codeWords(name, text string) []string {
	var b strings.Builder
	last := 0
	for _, t := range leak.Lex(name, text) {
		if t.Kind == leak.Comment {
			b.WriteString(text[last:t.Start])
			b.WriteByte(' ')
			last = t.End
		}
	}
	b.WriteString(text[last:])
	return strings.Fields(b.String())
}

// formattingFix: the fix changes the layout of the source only.
func formattingFix(p Pair) (Finding, bool) {
	return Finding{Judge: PairEligibility, Code: "not_a_bug", Name: "formatting-only", Quote: p.Fix.Title, Keeps: true}, p.Fix.Formatting == Yes
}

// formattingTask: the change to blame only laid out anew what others wrote.
func formattingTask(p Pair) (Finding, bool) {
	return Finding{Judge: Attribution, Code: "C2", Name: "introducer-formats", Quote: p.Task.Title, Keeps: true}, p.Task.Formatting == Yes
}

// movedTask: the lines were moved or copied by the change to blame.
func movedTask(p Pair) (Finding, bool) {
	return Finding{Judge: Attribution, Code: "C2", Name: "introducer-moves", Quote: p.Task.Title, Keeps: true}, p.Moved == Yes
}

// A sweep touches very many files, each in few lines.
const (
	sweepFiles = 40
	sweepLines = 8 // a file, added and taken away
)

// sweepingTask: the change to blame goes over the whole tree with one small edit, as renames and new checkers' rules do.
func sweepingTask(p Pair) (Finding, bool) {
	f := Finding{Judge: Attribution, Code: "C2", Name: "introducer-sweeps", Quote: p.Task.Title, Keeps: true}
	return f, p.Task.Files >= sweepFiles && p.Task.Lines > 0 && p.Task.Lines <= sweepLines*p.Task.Files
}
