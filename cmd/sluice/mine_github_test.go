package main

import (
	"net/http"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/miners/github/githubtest"
)

// fakeGitHub gives a script two fakes of the API, GITHUB_API and GITHUB_API_CLOSED: the second accepts one token only. Both have the
// repository octo/clock; octo/broken has a pull request that cannot be read at first, and old/clock is an older name of octo/clock.
func fakeGitHub(e *testscript.Env) {
	for name, token := range map[string]string{"GITHUB_API": "", "GITHUB_API_CLOSED": "ghp_GoodGoodGood"} {
		s := githubtest.New()
		e.Defer(s.Close)
		s.Clock()
		s.Repo("octo/broken", 8)
		s.Pull("octo/broken", githubtest.Merged(3, "main", "Fix", "Introduced in 89abcdef by mistake", 5), githubtest.Commit(githubtest.SHA('a'), "x"))
		s.Fault("/repos/octo/broken/pulls/3/reviews", 1, githubtest.Echo(http.StatusForbidden))
		s.Put("repositories/7", githubtest.Object{"id": 7, "full_name": "octo/clock", "default_branch": "main"})
		s.Fault("/repos/old/clock", 100, githubtest.Redirect(http.StatusMovedPermanently, s.URL+"/repositories/7"))
		if token != "" {
			s.Token(token, githubtest.Quota{Limit: 5000, Remaining: 5000, Reset: time.Now().Add(time.Hour)})
		}
		e.Setenv(name, s.URL)
	}
}
