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

// Clock asks the virtual machine the time, from a program that it compiles: JDKs before 11 do not, and nothing is known of them.
func (Project) Clock(replay.Recipe) []string { return []string{"sh", "-c", clockProgram} }

const clockProgram = `d=$(mktemp -d) && echo 'class C { public static void main(String[] a) { System.out.println(System.currentTimeMillis() / 1000); } }' >"$d/C.java" &&
java "$d/C.java"`
