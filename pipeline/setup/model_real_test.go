package setup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
)

// TestRealModelSetup leads sessions with a real model in the local sandbox: freely, and with a grammar that lets it choose among a few
// commands (llama.cpp's own field of a request), so that even a weak model acts. Each accepts a recipe or says why not, and asks nothing
// twice.
func TestRealModelSetup(t *testing.T) {
	r := modeltest.NewReal(t)
	for name, grammar := range map[string]string{"free": "", "grammar": choices(t)} {
		t.Run(name, func(t *testing.T) { realSetup{Real: r, grammar: grammar}.run(t) })
	}
	t.Log(r.Summary())
}

// choices is a grammar of replies: one of a few commands, or a report of some of them.
func choices(t *testing.T) string {
	s, _ := newSetup(t, agentstest.Local(t, ""), sh("{acceptance}"), "enough", "enough")
	got, err := s.Find(t.Context(), request(t, agentstest.NewMemo()))
	if err != nil {
		t.Fatal(err)
	}
	acceptance := got.Session.Transcript.Turns[0].Command
	var shell, listed []string
	for _, c := range []string{"cat requirements.txt", "ls wheelhouse", "ls tests", "false", acceptance, makeVenv, install} {
		shell = append(shell, fmt.Sprintf("%q", c))
		listed = append(listed, fmt.Sprintf("%q", fmt.Sprintf("%q", c)))
	}
	return fmt.Sprintf("root ::= \"```sh\\n\" command \"\\n```\" | \"```json\\n{\\\"reasoning\\\":\\\"\" text \"\\\",\\\"install\\\":[\" listed (\",\" listed)? \"],\\\"build\\\":[],\\\"quote\\\":\\\"\" quote \"\\\"}\\n```\"\n"+
		"text ::= [a-zA-Z ,.]{20,80}\nquote ::= text | \"=== 1 failed, 1 passed in 0.01s ===\"\ncommand ::= %s\nlisted ::= %s\n",
		strings.Join(shell, " | "), strings.Join(listed, " | "))
}

// realSetup is one session over one ledger.
type realSetup struct {
	*modeltest.Real
	grammar string
}

const realTurns = 6

func (rs realSetup) run(t *testing.T) {
	box, before := agentstest.Local(t, ""), rs.Requests()
	config := rs.Config(160)
	config.Endpoints[0].Stream = true
	config.Models[0].Temperature = 0.6
	if rs.grammar != "" { // as near to chance as the server can: at less, this model says the same again and again
		config.Models[0].Temperature = 2
		config.Models[0].Extra = model.Extra{"grammar": rs.grammar, "min_p": 0, "top_p": 1}
	}
	ledger, memo := model.NewMemory(0), agentstest.NewMemo()
	find := func(m *agentstest.Memo, replayOnly bool) Result {
		client, err := model.New(config, model.Options{Ledger: ledger, ReplayOnly: replayOnly})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Deps{
			Crew: agents.Crew{Sandbox: box, Asker: client, Model: "m", Command: time.Minute, Price: config.Models[0].Cost,
				Limits: agent.Limits{Turns: realTurns, Tokens: 60_000, Output: 2000}},
			Limits: replay.Limits{Wall: 2 * time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Find(t.Context(), request(t, m))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := find(memo, false)
	checkEnd(t, first)
	asked := rs.Requests() - before
	if entries := ledger.Entries(); asked == 0 || len(entries) != asked || first.Spent.Calls != asked || first.Spent.MicroUSD != ledger.Spent() {
		t.Errorf("%d requests, spent %+v, and the ledger has %+v", asked, first.Spent, entries)
	}
	again := find(memo, true) // from what is kept alone
	if d := cmp.Diff(first.Session, again.Session); d != "" || again.Reason != first.Reason || rs.Requests()-before != asked {
		t.Errorf("a second run made %d requests and ended with %q\n%s", rs.Requests()-before-asked, again.Reason, d)
	}
	anew := find(agentstest.NewMemo(), false) // commands run again; what they print may differ in a time or a name
	t.Logf("anew over the same ledger: %d requests, %d stored replies; %s", rs.Requests()-before-asked, anew.Spent.Cached, anew.Reason)
	if anew.Spent.Cached == 0 {
		t.Error("a new session asked its first question again")
	}
}

// checkEnd holds the rules of an end, and shows the session.
func checkEnd(t *testing.T, got Result) {
	t.Helper()
	session := got.Session.Transcript
	for _, turn := range session.Turns {
		out := agent.Output{}
		if turn.Output != nil {
			out = *turn.Output
		}
		t.Logf("turn %d, %s: %+q %s; code %d %+q", turn.N, turn.Kind, turn.Reply, turn.Said, out.ExitCode, out.Text)
	}
	t.Logf("accepted: %v, %s; the session ended with %q", got.Accepted, got.Reason, session.End)
	switch n := len(got.Trials); {
	case got.Accepted && (n == 0 || !got.Trials[n-1].OK || got.Recipe.Fingerprint == ""):
		t.Errorf("accepted without a trial: %+v", got)
	case !got.Accepted && (got.Reason == "" || got.Recipe.Fingerprint != "" && n == 0):
		t.Errorf("not accepted without a reason: %+v", got)
	case session.End == "", (session.End == agent.Reported) != (session.Report != nil), len(session.Turns) > realTurns:
		t.Errorf("the session ended with %q after %d turns", session.End, len(session.Turns))
	}
}
