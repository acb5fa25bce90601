package main

import "sluice/pipeline"

// families returns every family, for their names, stages and reason codes.
func families() []*pipeline.Family {
	return nil
}
