package main

import (
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/judges/judgestest"
	"sluice/judges/model/modeltest"
)

// served is what a script's environment knows of its server of models.
type served struct{}

// fakeModels gives a script a server of models, MODELS, that answers all judges. The model "strict" finds every defect slight, "mute" gives
// no valid verdict, all others keep what they are shown.
func fakeModels(e *testscript.Env) {
	m := judgestest.Model{Choose: func(q judgestest.Question) (judgestest.Manner, bool) {
		switch {
		case q.Model == "mute":
			return judgestest.Manner{Never: true}, true
		case q.Model == "strict" && q.Prompt == "pair-eligibility":
			return judgestest.Manner{Code: "weak"}, true
		}
		return judgestest.Manner{}, false
	}}
	s, stop := modeltest.Start(m.Reply)
	e.Defer(stop)
	e.Setenv("MODELS", s.URL)
	e.Values[served{}] = s
}

// expand FILE… puts the values of variables into files of the script.
func expand(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// asked N wants that many requests to have come to the script's models since the last time.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(served{}).(*modeltest.Server)
	before, _ := strconv.Atoi(ts.Getenv("ASKED"))
	now := s.Requests()
	ts.Setenv("ASKED", strconv.Itoa(now))
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if (now-before == want) == neg {
		ts.Fatalf("%d requests came since the last time, want %s (or not: %v)", now-before, args[0], neg)
	}
}
