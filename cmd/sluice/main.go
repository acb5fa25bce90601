// Command sluice turns the history of real repositories into verified benchmark instances for coding agents.
//
// It reads flags, calls the pipeline and prints results. It decides nothing about a candidate, and it is the only part
// of the project that reads the machine's clock, environment and signals.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"sluice/pipeline/build"
)

func main() {
	build.Init()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	results := &sink{w: stdout}
	a := newApp(stdin, results, stderr)
	ctx, stop := interruptible(context.Background(), stderr)
	defer stop()
	root := newRoot(a)
	root.SetArgs(args)
	return int(a.finish(results.join(root.ExecuteContext(ctx))))
}

// interruptible returns a context that the first Ctrl-C (or SIGTERM, or the end of the terminal) cancels, for a clean stop. The second
// one ends the process at once.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(parent, signals...)
	unwatch := context.AfterFunc(ctx, func() {
		stop() // from now on signals do what they do by default
		fmt.Fprintln(stderr, "sluice: stopping; what is done stays done. Ctrl-C again aborts")
	})
	return ctx, func() { unwatch(); stop() }
}
