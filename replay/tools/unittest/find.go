package unittest

import (
	"path"
	"regexp"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
)

// Find takes a Python project whose tests are unittest's and where nothing speaks of pytest, which can run most of unittest's tests
// too: pytest in a list of requirements, in a configuration, in what the project's checks run, or tests that only it would find.
func (Tool) Find(t *project.Tree, paths []string) (string, error) {
	root, err := python.Root(t, paths)
	if err != nil {
		return "", err
	}
	for f := range t.Files() {
		if project.Within(root, f) && path.Base(f) == "conftest.py" {
			return "", project.ErrNoRecipe{Reason: "the project has a conftest.py of pytest's"}
		}
	}
	settings, err := python.Django(t, root)
	if err != nil {
		return "", err
	}
	s := signs{root: root, django: settings != ""}
	if err := t.Sources(func(p string) bool { return s.settings(p) || s.test(p) }, s.look); err != nil {
		return "", err
	}
	switch {
	case s.pytest != "":
		return "", project.ErrNoRecipe{Reason: "the project may use pytest: " + s.pytest}
	case !s.tests:
		return "", project.ErrNoRecipe{Reason: "the project has no tests"}
	case !s.unittest:
		return "", project.ErrNoRecipe{Reason: "nothing says that the tests are unittest's"}
	}
	return root, nil
}

// signs are what the files of a project tell about its tests.
type signs struct {
	root     string
	tests    bool
	unittest bool
	django   bool   // manage.py runs its tests, with a runner made of unittest's
	pytest   string // the first file that speaks of pytest
}

var (
	// settings are files that name test tools: requirements, configuration, checks.
	settings = regexp.MustCompile(`(?i)^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|\.?pytest\.(?:ini|toml)|noxfile\.py|pipfile|makefile|` +
		`.*requirements?.*\.(?:txt|in|pip)|environment.*\.ya?ml|\.travis\.yml|\.gitlab-ci\.yml|appveyor\.yml|azure-pipelines\.yml|\.cirrus\.yml)$`)
	checks = regexp.MustCompile(`^(?:\.github/workflows|\.circleci|requirements)/[^/]+$`)

	namesPytest   = regexp.MustCompile(`(?i)\bpy\.?test\b`)
	namesUnittest = regexp.MustCompile(`\bunittest\b|setup\.py[ "',]+test\b`)
	// needsPytest finds tests that unittest would not run; ofDjango those that it would not run as they are meant, since they want a database.
	needsPytest = regexp.MustCompile(`(?m)^(?:async )?def test_|^\s*(?:import pytest|from pytest)\b`)
	ofDjango    = regexp.MustCompile(`(?m)^\s*from django\.test\b`)
	derives     = regexp.MustCompile(`(?m)^\s*(?:import unittest|from unittest|from .* import .*\bTestCase\b)|^class .*\(.*TestCase\)`)
)

// settings says that a file may name the project's test tool.
func (s *signs) settings(p string) bool {
	return checks.MatchString(p) || checks.MatchString(strings.TrimPrefix(p, s.root+"/")) ||
		settings.MatchString(path.Base(p)) && (project.Within(s.root, p) || !strings.Contains(p, "/"))
}

// test says that a file is one of the project's tests, by its name.
func (s *signs) test(p string) bool {
	return project.Within(s.root, p) && strings.HasSuffix(p, ".py") && testFile(path.Base(p))
}

func (s *signs) look(f replay.File) error {
	switch {
	case s.pytest != "":
	case s.settings(f.Path):
		if namesPytest.Match(f.Data) {
			s.pytest = f.Path
		}
		s.unittest = s.unittest || namesUnittest.Match(f.Data)
	case s.test(f.Path):
		if needsPytest.Match(f.Data) || !s.django && ofDjango.Match(f.Data) {
			s.pytest = f.Path
		}
		s.tests = true
		s.unittest = s.unittest || derives.Match(f.Data)
	}
	return nil
}
