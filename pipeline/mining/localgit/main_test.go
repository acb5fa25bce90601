package localgit_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "localgit-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	temp = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
