package docker

import (
	"cmp"
	"time"
)

// Timeouts bound what the engine and its registries may take; what is zero has the default. A job's own time is its limits' Wall.
type Timeouts struct {
	// Ping is for the engine's first answer; 10 s.
	Ping time.Duration `json:"ping_ns"`
	// Engine is what the engine may take beyond a job's wall limit to make, stop and read its container: an engine that hangs becomes an
	// error and not a hang of ours; 5 minutes.
	Engine time.Duration `json:"engine_ns"`
	// Pull is for one try to pull an image; 30 minutes.
	Pull time.Duration `json:"pull_ns"`
	// Cleanup is for removing one container, for all that dead processes left, and for all that is left at the end; 1 minute.
	Cleanup time.Duration `json:"cleanup_ns"`
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Ping: cmp.Or(t.Ping, 10*time.Second), Engine: cmp.Or(t.Engine, 5*time.Minute), Pull: cmp.Or(t.Pull, 30*time.Minute),
		Cleanup: cmp.Or(t.Cleanup, time.Minute),
	}
}
