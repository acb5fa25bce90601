package main

import (
	"sluice/pipeline"
	"sluice/pipeline/build"
)

// families returns every family, for their names, stages and reason codes.
func families() []*pipeline.Family { return build.Families() }
