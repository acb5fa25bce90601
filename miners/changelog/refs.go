package changelog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What an entry may name.
var (
	pageRef   = regexp.MustCompile(`https?://[^\s()<>\[\]` + "`" + `]+?/(?:-/)?(pull|pulls|merge_requests|issues|work_items|ticket|commit|commits)/([0-9a-f]{1,40})\b`)
	roleRef   = regexp.MustCompile("(?i):(bug|feature|support|issue|issues|ticket|tickets|gh|pr|pull|ghpull|ghissue|pr_?number|ref):`#?([0-9, #]+)`")
	numberRef = regexp.MustCompile(`(?i)(\b(?:PR|pull request|MR|merge request|pull)\s*)?(?:[#!]|\bGH-)(\d{1,7})\b`)
	wordRef   = regexp.MustCompile(`(?i)\b(PR|pull request|issue|bug|ticket)s?[ :]+#?(\d{2,7})\b`)
	commitRef = regexp.MustCompile("(?:^|[\\s(\\[`])([0-9a-f]{7,40})(?:$|[\\s)\\]`:,.])")
	noteRef   = regexp.MustCompile(`\[(\d{1,4})\]`)
	footnote  = regexp.MustCompile(`(?m)^[ \t]*\[(\d{1,4})\](?: ?[=:] ?| +)(https?://\S+)[ \t]*\r?$`)
)

// footnotes are the addresses at the end of a plain text, by their number.
func footnotes(data []byte) map[string]string {
	notes := map[string]string{}
	for _, m := range footnote.FindAllSubmatch(data, 20000) {
		notes[string(m[1])] = string(m[2])
	}
	return notes
}

// refer collects the references of an entry.
func (p *parser) refer(e *Entry) {
	text := e.Text
	for _, m := range noteRef.FindAllStringSubmatch(e.Text, 50) {
		if url := p.footnotes[m[1]]; url != "" {
			text += " " + url
		}
	}
	for _, m := range pageRef.FindAllStringSubmatch(text, 200) {
		e.page(m[1], m[2])
	}
	text = pageRef.ReplaceAllString(text, " ")
	for _, m := range roleRef.FindAllStringSubmatch(text, 200) {
		for _, n := range strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(", #", r) }) {
			e.number(strings.ToLower(m[1]), n)
		}
	}
	text = roleRef.ReplaceAllString(text, " ")
	for _, m := range numberRef.FindAllStringSubmatchIndex(text, 200) {
		kind := ""
		if m[2] >= 0 || text[m[4]-1] == '!' {
			kind = "pr"
		}
		e.number(kind, text[m[4]:m[5]])
	}
	for _, m := range wordRef.FindAllStringSubmatch(text, 200) {
		e.number(strings.ToLower(m[1]), m[2])
	}
	for _, m := range commitRef.FindAllStringSubmatch(text, 200) {
		if len(m[1]) == 40 || strings.ContainsAny(m[1], "0123456789") && strings.ContainsAny(m[1], "abcdef") {
			e.Commits = add(e.Commits, m[1])
		}
	}
}

// page adds the reference that an address is.
func (e *Entry) page(kind, id string) {
	switch kind {
	case "commit", "commits":
		if len(id) >= 7 {
			e.Commits = add(e.Commits, id)
		}
	case "issues", "work_items", "ticket":
		e.number("issue", id)
	default:
		e.number("pr", id)
	}
}

func (e *Entry) number(kind, digits string) {
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 {
		return
	}
	switch kind {
	case "pr", "pull", "ghpull", "pull request", "prnumber", "pr_number":
		e.Requests = add(e.Requests, n)
	case "bug", "issue", "issues", "ticket", "tickets", "ghissue":
		e.Issues = add(e.Issues, n)
	default:
		if !slices.Contains(e.Requests, n) && !slices.Contains(e.Issues, n) {
			e.Numbers = add(e.Numbers, n)
		}
	}
}

func add[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
