package jvm

import (
	"sluice/replay"
	"sluice/replay/tools/project"
)

// Project is what every test tool of the JVM knows. Tools embed it.
type Project struct{}

// Language is Java with its like.
func (Project) Language() project.Language { return Language }

// Image has JDKs and the build tools.
func (Project) Image() string { return Image }

// BlankEnv is what a recipe begins with whose steps somebody else finds.
func (Project) BlankEnv() map[string]string { return Env(0) }

// Unbound reports whether a test failed because it names what the state does not have.
func (Project) Unbound(t replay.Test) bool { return Unbound(t) }

// CutShort are the modules in which a virtual machine ended before its tests.
func (Project) CutShort(tests []replay.Test) []string { return CutShort(tests) }
