package python

import "sluice/replay/tools/project"

// Project is what every test tool of Python knows. Tools embed it.
type Project struct{}

// Language is Python.
func (Project) Language() project.Language { return language }
