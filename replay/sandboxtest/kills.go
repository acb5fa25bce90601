package sandboxtest

import (
	"os"
	"strconv"
	"testing"
)

// killsVariable says how many processes the tests kill while they work.
const killsVariable = "SLUICE_TEST_KILLS"

// Kills is how many processes a test kills: SLUICE_TEST_KILLS, else the usual number.
func Kills(t testing.TB, usual int) int {
	t.Helper()
	s := os.Getenv(killsVariable)
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of kills", killsVariable, s)
	}
	return n
}
