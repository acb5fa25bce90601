package project

// Failure is what is known of a recipe that did not do, or not all: text that programs and the repository's code printed, and so hostile.
type Failure struct {
	Output string // the end of what installing, building or the tests printed, or what tests said that failed
	Step   string // the step of Install that failed, "" if all is installed
	Build  bool   // the project itself did not build
}
