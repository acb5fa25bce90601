package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"sluice/internal/progress"
	"sluice/store"
)

// app is what the commands share: streams, the machine's facts and the global flags.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	clock          func() time.Time
	getenv         func(string) string
	log            *slog.Logger
	opts           globals
	started        bool // cobra is done with arguments: from here on errors are not about usage
}

// globals are the flags that every command has.
type globals struct {
	store   string
	json    bool
	verbose bool
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		stdin: stdin, stdout: stdout, stderr: stderr, clock: time.Now, getenv: os.Getenv,
		log: slog.New(slog.DiscardHandler),
	}
}

// begin sets up what depends on the global flags.
func (a *app) begin() {
	a.started = true
	level := slog.LevelWarn
	if a.opts.verbose {
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level}
	if a.opts.json {
		a.log = slog.New(slog.NewJSONHandler(a.stderr, o))
		return
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, o))
}

// openStore opens the store that --store names. Commands that only look at one pass mustExist.
func (a *app) openStore(ctx context.Context, mustExist bool) (*store.Store, error) {
	s, err := store.OpenDir(ctx, a.opts.store, store.Options{Clock: a.clock, MustExist: mustExist})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, fail(exitStore, err, "run sluice build first, or name another folder with --store")
	case errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrNoSpace):
		return nil, err // the table of exits has better advice
	case err != nil:
		return nil, fail(exitStore, err, "see whether --store names a store, in a folder that you may write")
	}
	return s, nil
}

// withStore runs f over the store, which must exist, and closes it.
func (a *app) withStore(ctx context.Context, f func(*store.Store) error) error {
	s, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// newProgress returns what shows a run's progress on standard error.
func (a *app) newProgress() *progress.Reporter {
	mode := progress.Lines
	if f, ok := a.stderr.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		mode = progress.Bars
	}
	if a.opts.json {
		mode = progress.JSON
	}
	return progress.New(progress.Options{Out: a.stderr, Mode: mode, Clock: a.clock})
}

// finish prints the error, if there is one, and returns the exit code.
func (a *app) finish(err error) exitCode {
	if err == nil {
		return exitOK
	}
	f := classify(err)
	if !a.started {
		f = failure{exitUsage, err, "run it with --help"}
	}
	if a.opts.json {
		emitJSON(a.stderr, struct {
			Type  string   `json:"type"`
			Error string   `json:"error"`
			Hint  string   `json:"hint,omitempty"`
			Exit  exitCode `json:"exit"`
		}{"error", f.err.Error(), f.hint, f.code})
		return f.code
	}
	line := "sluice: " + oneLine(f.err.Error())
	if f.hint != "" {
		line += ": " + f.hint
	}
	fmt.Fprintln(a.stderr, line)
	return f.code
}
