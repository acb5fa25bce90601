package maven

import (
	"sluice/replay"
	"sluice/replay/tools/jvm"
	"sluice/replay/tools/testid"
)

// Is reports whether a test is a method's own, or one of its invocations.
func (Tool) Is(_ replay.Recipe, f testid.Function, id string) bool { return jvm.Is(f, id) }
