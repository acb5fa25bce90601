package docker

import (
	"os"
	"testing"

	"sluice/replay"
	"sluice/replay/sandboxtest/hostile"
)

// programsImage has all that the programs are written in.
const programsImage = "sluice/node:trixie"

// TestHostilePrograms runs programs that attack the sandbox: a subset, or all with SLUICE_HOSTILE=all.
func TestHostilePrograms(t *testing.T) {
	s := newTest(t, Options{Total: hostile.MaxDisk})
	fingerprint := "hostile-" + randomName() // other runs on this engine have theirs
	t.Cleanup(func() {
		if err := s.Close(); err != nil { // what is too deep for the engine may be the last to go
			t.Error(err)
		}
		next := newTest(t, Options{})
		forget(t, next, fingerprint)
		_ = next.Close()
	})
	o := hostile.Options{All: os.Getenv(hostile.Variable) != "", Only: hostile.Only(os.Getenv(hostile.Variable))}
	o.Recipe = replay.Recipe{Image: programsImage, Fingerprint: fingerprint}
	t.Logf("\n%s", hostile.Exercise(t, s, o))
}
