package python

import (
	"regexp"

	"sluice/replay"
)

// unbound are Python's words for a name or a parameter that the state does not have.
var unbound = regexp.MustCompile(`^(?:` +
	`ImportError: cannot import name |ModuleNotFoundError: |NameError: name '[^']*' is not defined|` +
	`AttributeError: (?:partially initialized )?module '[^']*' has no attribute |AttributeError: type object '[^']*' has no attribute |` +
	`TypeError: .*\(\) got an unexpected keyword argument |TypeError: .*\(\) takes .* positional arguments? but .* (?:was|were) given)`)

// Unbound reports whether a test failed only because it names what the state does not have. Where a compiler would have refused
// the test, Python fails when it comes to the name: neither says anything about the state's behaviour.
func (Project) Unbound(t replay.Test) bool {
	return t.Kind == replay.Exception && unbound.MatchString(t.Message)
}
