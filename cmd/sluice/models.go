package main

import (
	"sluice/pipeline/build"
	"sluice/pipeline/judging"
)

// models reads the configuration of models; nil for no file.
func (a *app) models(path string, replayOnly bool) (*build.Models, error) {
	if path == "" {
		return nil, nil
	}
	c, err := judging.Load(path)
	if err != nil {
		return nil, err
	}
	return &build.Models{Config: c, ReplayOnly: replayOnly, Options: judging.Options{Clock: a.clock, Getenv: a.getenv, Log: a.log}}, nil
}
