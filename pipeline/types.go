// Package pipeline is the engine: it takes a family's candidates through its stages, with memo, resource pools, retries,
// budgets and crash safety, and keeps each step in the store.
//
// It joins the leaves (miners, judges, replay, store); it knows no family, and prints nothing.
package pipeline

import (
	"context"
	"errors"
	"syscall"

	"sluice/store"
)

// Pool is the resource that a stage uses; each is bounded.
type Pool string

// The pools.
const (
	CPU     Pool = "cpu"
	Git     Pool = "git"
	GitHub  Pool = "github"
	Model   Pool = "model"
	Sandbox Pool = "sandbox"
)

// Code is one reason that a stage may give; the list of a stage is closed. docs/rejections.md is generated from these.
type Code struct {
	Name string // "fix-tests-fail"
	Text string // what it means and what a user can do, one or two sentences
	Hold bool   // the code holds a candidate instead of rejecting it
}

// Outcome is what a stage decides.
type Outcome struct {
	kind   string
	Code   string
	Reason string
}

// Pass lets the candidate go on.
func Pass() Outcome { return Outcome{kind: outcomePass} }

// Reject ends the candidate with a code of the stage's list and one line that says why.
func Reject(code, reason string) Outcome { return Outcome{outcomeReject, code, reason} }

// Hold keeps the candidate for a person or a model.
func Hold(code, reason string) Outcome { return Outcome{outcomeHold, code, reason} }

// Stage is one named, versioned step of a family.
type Stage struct {
	Name    string
	Version int      // raise it when the stage's answer can change: it and what depends on it run again
	Reads   []string // evidence that it reads, made by earlier stages
	Makes   []string // evidence that it may make
	Pool    Pool
	// Settings are what the stage reads besides evidence; they are part of the memo key. Encoded as JSON.
	Settings any
	Codes    []Code
	Run      func(ctx context.Context, c *Case) (Outcome, error)
}

// Family is a kind of benchmark.
type Family struct {
	Name string
	// Stages run in order; New checks that each reads only what an earlier one makes.
	Stages []Stage
}

// permanent marks an error that no further run cures.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks err as one that another run would meet again: the candidate fails at once.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// IsPermanent reports whether err was marked by Permanent.
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}

// abort marks an error that no candidate is to blame for and that every other would meet too.
type abort struct{ error }

func (a abort) Unwrap() error { return a.error }

// Abort marks err as one that ends the run: no engine answers, the disk is full. Candidates stay where they are.
func Abort(err error) error {
	if err == nil {
		return nil
	}
	return abort{err}
}

// Aborts reports whether an error ends the run.
func Aborts(err error) bool {
	var a abort
	return errors.As(err, &a) || errors.Is(err, ErrBudget) || errors.Is(err, store.ErrNoSpace) || errors.Is(err, syscall.ENOSPC)
}
