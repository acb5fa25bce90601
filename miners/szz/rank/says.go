package rank

import (
	"regexp"
	"sync/atomic"
)

// says is what kind of work a subject speaks of, as bits.
type says uint32

const (
	saysFix says = 1 << iota
	saysRefactor
	saysFeature
	saysRevert
	saysKnown // the subject was read
)

// Words of subjects, as people use them.
var (
	fixish      = regexp.MustCompile(`(?i)\b(?:fix|fixes|fixed|bug|bugfix|regression|crash|leak|avoid|prevent|correct)\b`)
	refactor    = regexp.MustCompile(`(?i)\b(?:refactor\w*|renam\w*|mov(?:e|ed|ing)|clean\w*|format\w*|style|lint\w*|white-?space|indent\w*|reindent|pep8|spell\w*|typos?|copyright|prettier|eslint|ruff|black|license|tidy|reorder|split|extract|consolidate|unify|simplif\w*)\b`)
	featureWord = regexp.MustCompile(`(?i)\b(?:add|adds|added|implement\w*|support\w*|introduc\w*|allow\w*|new|initial|enable\w*|use|make|rewrite|rework|convert|switch|port)\b`)
	revert      = regexp.MustCompile(`(?i)\brevert`)
	prefixForm  = regexp.MustCompile(`^([\w./\-]+(?:[,:][\w./\-]+)*):`)
)

// prefix is the part of a project that a subject begins with, as in "net/http: …".
func prefix(subject string) string {
	if m := prefixForm.FindStringSubmatch(subject); m != nil {
		return m[1]
	}
	return ""
}

// said remembers what subjects say: reading one costs more than all else that is asked of a candidate.
type said []atomic.Uint32

// says reads a commit's subject.
func (r *Ranker) says(commit int32) says {
	if known := says(r.said[commit].Load()); known != 0 {
		return known
	}
	subject, out := r.g.Commits[commit].Subject, saysKnown
	for bit, form := range map[says]*regexp.Regexp{saysFix: fixish, saysRefactor: refactor, saysFeature: featureWord, saysRevert: revert} {
		if form.MatchString(subject) {
			out |= bit
		}
	}
	r.said[commit].Store(uint32(out))
	return out
}
