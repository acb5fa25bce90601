package localgit_test

import (
	"os"
	"time"
)

var fixtureDay = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)

// temp is where histories are built to learn their ids; TestMain removes it.
var temp string

func mkdir() (string, error) { return os.MkdirTemp(temp, "ids") }
