package jvm

import "sluice/replay"

// Ends are what a run came to, as far as its phases go.
type Ends struct {
	Begun     bool // the build tool came as far as its projects
	Source    bool // some source did not build
	Tests     bool // some tests did not build
	Cut       bool // the run was ended, or a process of tests ended early
	Reported  bool // the outcome of a test is known
	Completed bool // tests ran to their end somewhere
}

// Phases puts a run's phases into its report, whose Broken is there already.
func (e Ends) Phases(rep *replay.Report) {
	if !e.Begun {
		rep.BuildSource = replay.Unknown
	}
	if e.Reported {
		rep.BuildTests = replay.OK
	}
	if e.Source {
		rep.BuildSource = replay.Failed
		if !e.Reported {
			rep.BuildTests = replay.NotRun
		}
	}
	if e.Tests {
		rep.BuildTests = replay.Failed
	}
	switch {
	case e.Cut:
		rep.RunTests = replay.Failed
	case e.Reported && e.Completed:
		rep.RunTests = replay.OK
	case len(rep.Broken) > 0:
		rep.RunTests = replay.NotRun
	}
}
