package sanitise

import (
	"regexp"
	"strings"
)

// What can be missing from a text that was sanitised.
const (
	Empty     = "empty"      // no word is left
	TooShort  = "too-short"  // a title's worth of words
	NoSymptom = "no-symptom" // no symptom, no steps and no message that these rules can see: a person or a model has to look
)

// minWords is how many words a report needs, headings and comments of its template apart.
const minWords = 12

var (
	heading = regexp.MustCompile(`(?m)^\s*(?:#+\s.*|\*\*[^*\n]+\*\*:?\s*|[A-Z][\w ]{2,40}:\s*)$`)
	symptom = regexp.MustCompile(`(?i)\b(?:errors?|exceptions?|crash\w*|fail(?:s|ed|ing|ure|ures)?|wrong|incorrect\w*|unexpected\w*|expected|actual|instead|broken|breaks?|broke|` +
		`hangs?|hung|freez\w+|froze|stuck|slow\w*|slower|regress\w*|panic\w*|segfault\w*|assert\w*|traceback|stack ?trace|core dump\w*|leaks?|leaking|corrupt\w*|lost|` +
		`missing|disappear\w*|black screen|flicker\w*|stop(?:s|ped)? work\w*|no longer|not work\w*|(?:does|do|did|can|is|are|was|were|will|could)(?: ?not|n['’]t)|cannot|` +
		`invalid|undefined|null|nan|timeout|timed out|warnings?|used to|works? (?:in|with|on|fine|before)|bug|oops|killed|exit(?:s|ed)? (?:code|with))\b`)
	steps   = regexp.MustCompile(`(?im)^\s*(?:\d+[.)]\s+\S|steps? to reproduce|reproduc\w+|\$ \S|>>> )`)
	message = regexp.MustCompile("(?im)```|~~~|^(?: {4}|\t)\\S|\\w*(?:error|exception|warning|fatal|panic)\\w*:\\s")
)

// Remains says what a sanitised report lacks, "" for nothing.
func Remains(text string) string {
	words := len(strings.Fields(heading.ReplaceAllString(text, " ")))
	switch {
	case words == 0:
		return Empty
	case words < minWords:
		return TooShort
	case !symptom.MatchString(text) && !steps.MatchString(text) && !message.MatchString(text):
		return NoSymptom
	}
	return ""
}
