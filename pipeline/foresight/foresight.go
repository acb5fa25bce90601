// Package foresight is the family of pairs in which an ordinary change (the task) introduced a defect that a later change
// (the fix) repaired: does an agent that does the task avoid the defect? Rules: the Foresight-SWE paper; spec "foresight".
//
// The matrix runs cheapest-first and stops when the verdict is certain, also between two repeats: further repeats only take tests out of
// lists. Repeats go round by round through the states. A test whose outcomes differ between runs of one state is flaky: it is quarantined
// by name, with what it did in each run, and leaves every list of each candidate that has such a run behind it. Runs are shared by all
// candidates, so that those with the same state, overlay and target agree; a candidate that runs the state otherwise decides by its own
// runs: else its end would hang on which other candidates there are, and in which order they came.
//
// It proposes candidates, takes them through its stages and makes the admitted record. It never runs code itself, never
// reads git itself, and never decides what only a model or a person can decide: that is held.
package foresight

import (
	"time"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
	"sluice/pipeline"
	"sluice/pipeline/calibration"
	"sluice/pipeline/history"
	"sluice/pipeline/judging"
	"sluice/replay"
)

// Name is the family's name in the store and on the command line.
const Name = "foresight"

// JudgeMode says who answers what only a model can decide.
type JudgeMode string

// With JudgeNone such candidates are held; JudgeRules admits them under the label judged=rules; JudgeModels asks the desk's models and
// admits what they keep under the label judged=models.
const (
	JudgeNone   JudgeMode = "none"
	JudgeRules  JudgeMode = "rules"
	JudgeModels JudgeMode = "models"
)

// Settings are what a user chooses; those that a stage reads are part of its memo key.
type Settings struct {
	Since, Until time.Time // both changes land inside; zero: no border
	Whole        bool      // no default window: the whole history
	Repeats      int       // runs of each decisive state; default 3
	MaxFiles     int       // a change of more files is too large; default 300
	AllRuns      bool      // run the whole matrix even when the verdict is certain
	Judge        JudgeMode
	Limits       replay.Limits
	IgnoreRevs   []string // commits that blame passes through
}

// WithDefaults fills the zero fields.
func (s Settings) WithDefaults() Settings {
	if s.Repeats == 0 {
		s.Repeats = 3
	}
	if s.MaxFiles == 0 {
		s.MaxFiles = 300
	}
	if s.Judge == "" {
		s.Judge = JudgeNone
	}
	return s
}

// Deps are what the stages work with. A nil Sandbox is enough for reading codes and stage names.
type Deps struct {
	History *history.History
	Sandbox replay.Sandbox
	Repo    string        // "owner/name", for references in texts
	Image   string        // base image of recipes
	Desk    *judging.Desk // where judges get their answers; nil: nobody is asked
	// Setup is asked for a recipe where no heuristic has one that runs tests. Nil: nobody is.
	Setup Installer
}

// family carries what the stages share.
type family struct {
	Deps
	set  Settings
	memo *szz.Memo
}

// New returns the family over one repository.
func New(d Deps, s Settings) *pipeline.Family {
	f := &family{Deps: d, set: s.WithDefaults(), memo: szz.NewMemo()}
	return &pipeline.Family{Name: Name, Stages: []pipeline.Stage{
		f.screen(), f.attribute(), f.screenPair(), f.statement(), f.dossier(), f.judgePair(), f.environment(),
		f.replayFix(), f.replayTask(), f.replayOrigin(), f.clock(), f.gold(), f.touched(), f.write(), f.annotate(), f.judge(),
	}}
}

// Proposal is a candidate's data: the change that may be a fix. What it fixes is found by the stages.
type Proposal struct {
	Fix gitrepo.Change `json:"fix"`
}

// Names of evidence, in the order in which the stages make it.
const (
	evSplit       = "split"                  // the fix's files by kind
	evLink        = calibration.EvidenceLink // which change introduced the defect, and how that is known
	evTaskSplit   = "task-split"             // the introducing change's files by kind
	evFindings    = "findings"               // of the rules judge
	evStatement   = "statement"              // the cleaned text
	evDossier     = "dossier"                // what judges read of the pair
	evPairRulings = "pair-rulings"
	evWritten     = "written-statement" // with all that was said about it
	evAnnotation  = "annotation"        // difficulty, severity, interfaces
	evEnvironment = "environment"       // recipe and environment of each state
	evClimbs      = "recipes"           // how recipes were found where heuristics were not enough
	evInstalled   = "installed"         // the images and versions that the states' environments have
	evSetups      = "setups"            // what an agent did to find recipes
	evFixRuns     = "fix-runs"          // runs 3, 4 and 5
	evTaskRuns    = "task-runs"         // runs 1 and 2
	evOriginRuns  = "origin-runs"       // runs 6 and 7
	evClockRuns   = "clock-runs"        // the decisive tests with the clock years ahead
	evGold        = "gold"              // the lists of tests
	evDecisive    = "decisive-tests"    // which of them the changes touched themselves
	evPatch       = "fix-diff"          // the fix's whole diff, for people
)
