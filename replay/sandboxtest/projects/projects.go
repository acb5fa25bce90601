// Package projects holds that one recipe has byte-identical outcomes in all sandboxes: a tiny project for each test tool, with a test for each
// kind of outcome, is run in docker and in the local sandbox, and their reports must be one. It has tests only.
//
// A project is testdata/TOOL.txtar: its files, and a file "want" with the lines "id outcome kind" that both must say. A line "broken NAME" in
// it is what was not built or collected.
package projects
