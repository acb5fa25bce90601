package python

import (
	"testing"

	"sluice/replay"
)

func TestUnbound(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"AttributeError: module 'm' has no attribute 'dft'":                true,
		"AttributeError: type object 'C' has no attribute 'make'":          true,
		"ImportError: cannot import name 'x' from 'm' (m.py)":              true,
		"ModuleNotFoundError: No module named 'm.new'":                     true,
		"NameError: name 'later' is not defined":                           true,
		"TypeError: batched() got an unexpected keyword argument 'strict'": true,
		"TypeError: C.f() takes 2 positional arguments but 3 were given":   true,
		"AttributeError: 'NoneType' object has no attribute 'group'":       false,
		"TypeError: unsupported operand type(s) for +: 'int' and 'str'":    false,
		"ValueError: NameError: name 'x' is not defined":                   false,
		"assert 1 == 2": false,
	} {
		if got := (Project{}).Unbound(replay.Test{Kind: replay.Exception, Message: message}); got != want {
			t.Errorf("%s: %v", message, got)
		}
	}
	panicked := replay.Test{Kind: replay.Exception, Message: "NameError: name 'x' is not defined"}
	panicked.Kind = replay.Assertion
	if (Project{}).Unbound(panicked) {
		t.Error("an assertion was reached")
	}
}
