package cargo

import (
	"regexp"

	"sluice/replay"
)

var (
	compilerError = regexp.MustCompile(`(?m)^error(\[E\d{4}\])?: (.*)$`)
	// unboundCodes are the compiler's of a name, a field, a method or a parameter that the state does not have:
	// https://doc.rust-lang.org/error_codes/error-index.html
	unboundCodes = map[string]bool{
		"[E0026]": true, "[E0061]": true, "[E0107]": true, "[E0405]": true, "[E0407]": true, "[E0412]": true, "[E0422]": true,
		"[E0423]": true, "[E0425]": true, "[E0432]": true, "[E0433]": true, "[E0437]": true, "[E0438]": true, "[E0531]": true, "[E0532]": true,
		"[E0559]": true, "[E0560]": true, "[E0574]": true, "[E0576]": true, "[E0599]": true, "[E0603]": true, "[E0609]": true, "[E0624]": true,
	}
	closing = regexp.MustCompile(`^(?:aborting due to |could not compile )`)
	noMacro = regexp.MustCompile("^cannot find (?:macro|attribute|derive macro) `")
)

// Unbound reports whether an example in the documentation does not compile only because it names what the state does not have. Other
// tests that do so are part of a target that does not compile, and have no end of their own.
func (Tool) Unbound(t replay.Test) bool {
	if t.Kind != replay.Build {
		return false
	}
	found := false
	for _, m := range compilerError.FindAllStringSubmatch(t.Message, -1) {
		code, words := m[1], m[2]
		switch {
		case code == "" && closing.MatchString(words):
		case unboundCodes[code], code == "" && noMacro.MatchString(words):
			found = true
		default:
			return false
		}
	}
	return found
}
