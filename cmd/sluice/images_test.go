package main

import (
	"testing"
	"time"

	"sluice/replay/docker/images"
)

// TestWhyLeft: what gc leaves although a mark or a run was given is explained, and nothing else is.
func TestWhyLeft(t *testing.T) {
	t.Parallel()
	list := []images.Image{{Own: 3e9, Run: "a"}, {Own: 2e9, Run: "b"}}
	for _, c := range []struct {
		name string
		gone []images.Image
		p    images.Policy
		want string
	}{
		{name: "below the mark", p: images.Policy{High: 6e9}},
		{name: "no mark", p: images.Policy{}},
		{name: "enough went", gone: list[:1], p: images.Policy{High: 4e9}},
		{"above the mark", nil, images.Policy{High: 4e9, Keep: time.Hour},
			"5.0 GB stay, more than --high: in use, used within --keep 1h0m0s, toolchains, or named by somebody"},
		{name: "a run's", gone: list[:1], p: images.Policy{High: 1e9, Run: "a"}},
		{"no such run", nil, images.Policy{Run: "c"}, `no image was added by a run "c": see sluice images ls`},
	} {
		if got := whyLeft(list, c.gone, c.p); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
