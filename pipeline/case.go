package pipeline

// Case is one candidate in the hands of a stage.
type Case struct{}
