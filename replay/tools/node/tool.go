package node

import (
	"sluice/replay"
	"sluice/replay/tools/project"
)

// Package is what every test tool of JavaScript packages knows. Tools embed it.
type Package struct{}

// Language is JavaScript.
func (Package) Language() project.Language { return Language }

// Image has node and a compiler for packages that bring sources.
func (Package) Image() string { return Image }

// Names are the names of the package and of its workspace.
func (Package) Names(t *project.Tree, paths []string) ([]string, error) { return Names(t, paths) }

// BlankEnv tells tools that nobody watches.
func (Package) BlankEnv() map[string]string { return BlankEnv() }

// Unbound reports whether a test failed because it names what the state does not have.
func (Package) Unbound(t replay.Test) bool { return Unbound(t) }
