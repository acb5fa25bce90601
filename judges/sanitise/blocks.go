package sanitise

import (
	"regexp"
	"strings"
)

// prompt is what may stand before a line that was copied: a quotation's mark, a shell's prompt.
const prompt = `^\s*(?:> ?)*\s*(?:\S{0,60}[$#%] )?`

var (
	// bisectLine is a line that a bisection prints, logs or is told.
	bisectLine = regexp.MustCompile(prompt + `(?:(?:sudo )?git bisect\b.*|# (?:bad|good|skip|old|new|first bad commit|possible first bad commit|only skipped commits left|status)\b.*:.*|` +
		`Bisecting: .*|[0-9a-f]{7,40} is the first (?:bad|new|old) commit.*|running\b.*bisect.*|bisect run success.*|bisect found first (?:bad|new) commit.*|` +
		`There are only 'skip'ped commits left to test\..*|The first (?:bad|new) commit could be any of:.*|\[[0-9a-f]{7,40}\] .*)$`)
	// logLine is a commit as git log --oneline and its kin print it.
	logLine = regexp.MustCompile(prompt + `(?:[-*|/\\ ]+ )?(?:(?:pick|fixup|squash) |[A-Za-z][\w ]{0,20}: +)?([0-9a-f]{7,40}) (?:\([^)]*\) )?\S.*$`)
	// showHead begins a commit as git show prints it.
	showHead = regexp.MustCompile(prompt + `commit [0-9a-f]{7,40}(?: \([\w/>, :.-]*\))?$`)
	// showField, showText and showStat are the lines that follow.
	showField = regexp.MustCompile(prompt + `(?:Author|AuthorDate|Commit|CommitDate|Date|Merge|Refs|Reflog|gpg):.*$`)
	showText  = regexp.MustCompile(`^\s*(?:> ?)*(?: {2,}|\t)\S`)
	showStat  = regexp.MustCompile(prompt + `(?::\d{6} \d{6} .*|\S.* \| +(?:\d+|Bin).*|\d+ files? changed.*|(?:create|delete|rename) (?:mode )?.*)$`)
	letters   = regexp.MustCompile(`[A-Za-z]{3,}`)
)

// transcripts takes out what bisections print, and commits as git prints them.
func transcripts(d *Draft) {
	d.cutLines(Transcript, func(lines []string, i int) bool { return bisectLine.MatchString(bare(lines[i])) && !question(lines[i]) })
	inside := false
	d.cutLines(History, func(lines []string, i int) bool {
		l := bare(lines[i])
		switch {
		case showHead.MatchString(l):
			inside = true
		case showField.MatchString(l):
			// A field without its head may be one of a mail; with an id below or above it is a commit's.
			return inside
		case strings.TrimSpace(strings.Trim(l, "> ")) == "":
			return inside && follows(lines[i+1:])
		case inside && (showText.MatchString(l) || showStat.MatchString(l)):
		case oneLine(l) && stands(lines, i):
			inside = false
			return true
		default:
			inside = false
		}
		return inside
	})
}

// question: "git bisect" as a word of a person who asks or offers.
func question(line string) bool {
	return unbisected.MatchString(line) || strings.Contains(line, "?")
}

// follows reports whether after an empty line a commit's text goes on.
func follows(rest []string) bool {
	for _, l := range rest {
		if l = bare(l); strings.TrimSpace(strings.Trim(l, "> ")) != "" {
			return showText.MatchString(l) || showStat.MatchString(l) || showField.MatchString(l) || showHead.MatchString(l)
		}
	}
	return false
}

// oneLine: an id that begins a line, and a subject; not a dump, whose other words are hexadecimal too, nor a sentence that begins so.
func oneLine(l string) bool {
	m := logLine.FindStringSubmatchIndex(l)
	if m == nil || !looksLikeID(l[m[2]:m[3]]) {
		return false
	}
	return letters.MatchString(hexID.ReplaceAllString(l[m[3]:], "")) && !dumpLine.MatchString(l)
}

// stands reports whether a line is no part of a wrapped sentence: around it are ends of passages, or lines like it.
func stands(lines []string, i int) bool {
	if i > 0 {
		if l := strings.TrimSpace(bare(lines[i-1])); !passageEnd(l) && !strings.HasSuffix(l, ":") {
			return false
		}
	}
	return i+1 >= len(lines) || passageEnd(strings.TrimSpace(bare(lines[i+1])))
}

func passageEnd(l string) bool {
	return strings.Trim(l, "> ") == "" || fenceLine.MatchString(l) || oneLine(l)
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

var (
	gitHead  = regexp.MustCompile(prompt + `(?:diff --git a/.*|Index: \S+)$`)
	oldSide  = regexp.MustCompile(prompt + `--- (\S+.*)$`)
	newSide  = regexp.MustCompile(prompt + `\+\+\+ (\S+.*)$`)
	hunkMark = regexp.MustCompile(prompt + `@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*$`)
	headLine = regexp.MustCompile(prompt + `(?:index [0-9a-f]+\.\.[0-9a-f]+.*|(?:new|deleted) file mode \d+|(?:old|new) mode \d+|similarity index .*|(?:rename|copy) (?:from|to) .*|Binary files .*|={20,})$`)
	// compared are the names that test runners give to the two sides of a difference: a symptom, no patch.
	compared = regexp.MustCompile(`(?i)\b(?:expected|actual|received|got|want|wanted|before|after|left|right|stdout|stderr|output|snapshot|value)\b`)
)

// patches takes out unified diffs, headers and all. A difference between what a test expected and got is none.
func patches(d *Draft) {
	var in patchScan
	d.cutLines(Patch, func(lines []string, i int) bool { return in.line(lines, i) })
}

type patchScan struct {
	head bool // among the headers of a file
	hunk bool // in a hunk
	skip bool // in a difference that stays
}

func (p *patchScan) line(lines []string, i int) bool {
	l := bare(lines[i])
	switch {
	case gitHead.MatchString(l):
		*p = patchScan{head: true}
	case oldSide.MatchString(l) && !p.hunk && i+1 < len(lines) && newSide.MatchString(bare(lines[i+1])):
		*p = patchScan{head: true, skip: compared.MatchString(oldSide.FindStringSubmatch(l)[1])}
	case p.head && (newSide.MatchString(l) || headLine.MatchString(l)):
	case hunkMark.MatchString(l):
		p.head, p.hunk = false, true
	case p.hunk && content(l):
	case p.hunk && oldSide.MatchString(l):
	default:
		*p = patchScan{}
		return false
	}
	return !p.skip
}

// content reports whether a line can be one of a hunk. An empty line ends it: a hunk with one in it loses its rest only where that
// does not look like one.
func content(l string) bool {
	l = strings.TrimLeft(l, ">")
	return l != "" && strings.ContainsRune(" +-\\\t", rune(l[0]))
}

var fenceLine = regexp.MustCompile("^[ \t]*(?:```|~~~)")

// emptyFences takes out fences with nothing between them.
func emptyFences(d *Draft) {
	lines := strings.SplitAfter(d.text, "\n")
	drop := make([]bool, len(lines))
	open := -1
	filled := false
	for i, l := range lines {
		switch {
		case !fenceLine.MatchString(l):
			filled = filled || strings.TrimSpace(l) != ""
		case open < 0:
			open, filled = i, false
		default:
			drop[open], drop[i] = !filled, !filled
			open = -1
		}
	}
	d.cutLines(Hollow, func(_ []string, i int) bool { return drop[i] })
}
