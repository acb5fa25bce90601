package gotest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

func TestCutShort(t *testing.T) {
	t.Parallel()
	tests := []replay.Test{
		{ID: "m/a::TestX", Outcome: replay.Error, Kind: replay.Exception},
		{ID: "m/a::TestY", Outcome: replay.Error, Kind: replay.Exception},
		{ID: "m/b::TestX", Outcome: replay.Fail, Kind: replay.Assertion},
		{ID: "m/c::TestX", Outcome: replay.TimedOut},
		{ID: "m/d::TestX", Outcome: replay.Error, Kind: replay.Crash},
		{ID: "m/e::TestX", Outcome: replay.Error, Kind: replay.Build},
	}
	if diff := cmp.Diff([]string{"m/a::", "m/c::", "m/d::"}, Tool{}.CutShort(tests)); diff != "" {
		t.Error(diff)
	}
}
