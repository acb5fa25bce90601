//go:build linux

package maven_test

import (
	"os"
	"testing"

	"sluice/replay/local"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}
