package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/build"
	"sluice/pipeline/calibration/measure"
	"sluice/pipeline/evaluate"
	"sluice/pipeline/history"
	"sluice/pipeline/judging"
	"sluice/pipeline/mining"
	"sluice/pipeline/mining/imports"
	"sluice/pipeline/release"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/store"
)

// exitCode is what the process returns.
type exitCode int

// The exit codes; exitMeanings says what each means.
const (
	exitOK          exitCode = 0
	exitInternal    exitCode = 1
	exitUsage       exitCode = 2
	exitInput       exitCode = 3
	exitNothing     exitCode = 4
	exitIncomplete  exitCode = 5
	exitEnvironment exitCode = 6
	exitStore       exitCode = 7
	exitInterrupted exitCode = 130
)

// exitMeanings is the one table of exit codes; help and docs/cli.md are made from it.
var exitMeanings = []struct {
	code exitCode
	text string
}{
	{exitOK, "done"},
	{exitInternal, "unexpected error; what was done is stored"},
	{exitUsage, "wrong flag, argument or command"},
	{exitInput, "bad input: not a repository, no such candidate or release, unreadable predictions"},
	{exitNothing, "done, but nothing came out: no candidate was admitted or held, or none fits the selection"},
	{exitIncomplete, "done in part: candidates failed, a budget was reached, something could not be fetched, or predictions are missing"},
	{exitEnvironment, "something on this machine is missing: git, Docker, an image, disk space, the network, a token (see sluice doctor); or results cannot be written"},
	{exitStore, "the store is absent, broken, in use, or was written by a newer sluice"},
	{exitInterrupted, "interrupted; the next run goes on from there"},
}

// exitText returns the table for help texts.
func exitText() string {
	var b strings.Builder
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", m.code, m.text)
	}
	return b.String()
}

// failure is an error with its exit code and what the user can do.
type failure struct {
	code exitCode
	err  error
	hint string
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// fail gives err a code and a hint ("" for none).
func fail(code exitCode, err error, hint string) error {
	return failure{code, err, hint}
}

// classes maps the errors of other packages to codes and hints; the first that fits counts.
var classes = []struct {
	err  error
	code exitCode
	hint string
}{
	{context.Canceled, exitInterrupted, "run the same command again to go on"},
	{pipeline.ErrBudget, exitIncomplete, "run the same command again to go on"},
	{store.ErrNewer, exitStore, "install a newer sluice, or name another folder with --store"},
	{store.ErrLeased, exitStore, "wait until the other process ends; a dead one's lease expires in minutes"},
	{store.ErrCorrupt, exitStore, "run sluice store check"},
	{store.ErrMissing, exitStore, "run sluice store check"},
	{store.ErrNoSpace, exitEnvironment, "free some disk space; sluice store gc may help"},
	{build.ErrUnknownFamily, exitUsage, "give one of them with --family"},
	{build.ErrUnknownSandbox, exitUsage, "give one of them with --sandbox"},
	{imports.ErrSchema, exitInput, "see sluice mine list --help for the names of columns and fields"},
	{history.ErrNameTaken, exitInput, "or use another store"},
	{build.ErrNoSource, exitInput, "say where with --source owner/name=PATH"},
	{release.ErrName, exitUsage, "letters, digits, and _ . - after the first"},
	{release.ErrEmpty, exitNothing, "see sluice status, and sluice list --held"},
	{release.ErrExists, exitInput, "give this one another name"},
	{syscall.ENOSPC, exitEnvironment, "free some disk space; sluice store gc may help"},
	{store.ErrNotFound, exitInput, "run sluice list to see what there is"},
	{store.ErrAmbiguous, exitInput, "give more of the id"},
	{gitrepo.ErrNotRepository, exitInput, "name a folder or address of a git repository"},
	{gitrepo.ErrEmpty, exitInput, "there is nothing to mine yet"},
	{gitrepo.ErrNoDefaultBranch, exitInput, "name the branch with --branch"},
	{gitrepo.ErrMissingObject, exitInput, "give the full repository: git fetch --unshallow"},
	{mining.ErrHourWindow, exitUsage, "give --since and --until"},
	{mining.ErrHourSource, exitInput, "name hour files, a folder of them, or an address with {hour} in it"},
	{mining.ErrUnreachable, exitEnvironment, "see whether the network and the address work; the next run goes on from there"},
	{mining.ErrGitHubUnknown, exitInput, "see whether it exists and whether the token may see it"},
	{mining.ErrGitHubUnauthorized, exitEnvironment, "see whether the token is whole and has not expired"},
	{mining.ErrGitHubNetwork, exitEnvironment, "see whether the network works; the next run goes on from there"},
	{mining.ErrGitHubNotRecorded, exitInput, "record a run with the same flags and an empty store"},
	{mining.ErrGitHubLimited, exitIncomplete, "run it again later, or with more tokens: it goes on from there"},
	{judging.ErrConfig, exitInput, "see the file given with --models, and the page on judging for what it may hold"},
	{judging.ErrNotStored, exitInput, "run once without --replay-only: replies are kept from then on"},
	{measure.ErrLabels, exitInput, "see sluice judge bench --help for what a row is"},
	{measure.ErrReview, exitUsage, "sluice judge list shows judges and codes"},
	{docker.ErrNoEngine, exitEnvironment, "start Docker, or run sluice doctor"},
	{docker.ErrNoImage, exitEnvironment, "or pull it, if it is yours; sluice images ls shows what there is"},
	{docker.ErrPlatform, exitEnvironment, "use an image for this machine"},
	{docker.ErrNoSpace, exitEnvironment, "free some space on that disk; of docker's, sluice images gc frees some, and docker system df shows what is used"},
	{docker.ErrNoRuntime, exitEnvironment, "name one of them with --docker-runtime, or add it to the engine's configuration"},
	{docker.ErrSecurity, exitUsage, "see --docker-security"},
	{docker.ErrNetwork, exitEnvironment, "see whether the network works and try again"},
	{replay.ErrInstallTime, exitEnvironment, "run it again when the machine has less to do, or give it more with --install-timeout"},
}

// unwritable gives a folder that cannot be written its own code, and names the flag that chooses another.
func unwritable(err error, flag string) error {
	for _, e := range []error{fs.ErrPermission, syscall.EROFS, syscall.ENOTDIR} {
		if errors.Is(err, e) {
			return fail(exitInput, err, "name a folder that you may write with "+flag)
		}
	}
	return err
}

// classify returns the error with its code and hint.
func classify(err error) failure {
	var f failure
	if errors.As(err, &f) {
		f.err = err // with everything that wraps it
		return f
	}
	if evaluate.IsPreflight(err) {
		return failure{exitInput, err, "no score was made; the logs are in the output folder"}
	}
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return failure{c.code, err, c.hint}
		}
	}
	return failure{exitInternal, err, ""}
}
