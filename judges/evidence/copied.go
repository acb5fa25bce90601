package evidence

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	minCopied  = 24   // characters; shorter sentences can be the same by chance
	maxPlanted = 1000 // braces that are looked at in one piece of evidence
)

// Copied reports whether a text of some length stands word for word in the evidence: what a model took over is not its own reasoning.
func (s *Seen) Copied(text string) bool {
	folded := fold(text)
	if utf8.RuneCountInString(folded) < minCopied {
		return false
	}
	words := strings.FieldsFunc(folded, func(r rune) bool { return r == ' ' || r == '"' || r == '\\' })
	return s.some(
		func(run string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(run, w) })
		},
		func(run string) bool { return strings.Contains(fold(run), folded) })
}

// Planted reports whether the evidence holds that very JSON object: a finished answer that somebody laid there. Key is one of its
// keys, so that evidence without it need not be read.
func (s *Seen) Planted(object json.RawMessage, key string) bool {
	var want any
	if json.Unmarshal(object, &want) != nil {
		return false
	}
	return s.some(
		func(run string) bool { return strings.Contains(run, key) },
		func(run string) bool { return holdsObject(run, want) })
}

// some reports whether f is true of a run of evidence, as it was sent or as a model may have read it: a patch without its
// signs, a string literal without its escapes. Worth says quickly whether a run needs to be looked at.
func (s *Seen) some(worth, f func(run string) bool) bool {
	for _, one := range s.slots {
		for _, run := range one.runs {
			if worth(run) && (f(run) || f(unsigned(run)) || strings.Contains(run, `\"`) && f(unescaped.Replace(run))) {
				return true
			}
		}
	}
	return false
}

var unescaped = strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, "\t", `\\`, `\`)

func holdsObject(text string, want any) bool {
	for range maxPlanted {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			return false
		}
		var got any
		if strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\n"), `"`) &&
			json.NewDecoder(strings.NewReader(text[i:])).Decode(&got) == nil && reflect.DeepEqual(got, want) {
			return true
		}
		text = text[i+1:]
	}
	return false
}
