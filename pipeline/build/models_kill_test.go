package build

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/judges/judgestest"
	"sluice/judges/model"
	"sluice/pipeline/judging"
	"sluice/store"
)

// These tell the test binary to be a build with models that a test kills: the address that answers, the store's folder, the repository.
const (
	childModels = "SLUICE_TEST_MODELS"
	childStore  = "SLUICE_TEST_STORE"
	childSource = "SLUICE_TEST_SOURCE"
)

// twoAt is a configuration in which two models judge everything.
func twoAt(url string) judging.Config {
	c := modelsAt(url)
	c.Panels[judging.DefaultPanel] = judges.Panel{Models: []string{"a", "b"}}
	return c
}

// beVictim is a build with models in a process of its own.
func beVictim(ctx context.Context) error {
	_, err := buildJudged(ctx, os.Getenv(childStore), os.Getenv(childSource),
		&Models{Config: twoAt(os.Getenv(childModels)), Options: judging.Options{Clock: time.Now}})
	return err
}

// victim starts such a build.
func (j *judged) victim(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childSource+"="+j.source, childStore+"="+j.dir, childModels+"="+j.server.URL)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// killAsking starts a build and kills it some time after its first question has come to the server. False: it ended by itself.
func (j *judged) killAsking(t *testing.T, after time.Duration) bool {
	t.Helper()
	before := j.server.Requests()
	cmd := j.victim(t)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for j.server.Requests() == before {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(200 * time.Microsecond):
		}
	}
	select {
	case <-ended:
	case <-time.After(after):
		_ = cmd.Process.Kill()
		<-ended
	}
	return cmd.ProcessState.ExitCode() == -1 // by a signal
}

// TestKilledWhileModelsJudge kills a build with SIGKILL while models are being asked, and lets it go on, again and again. What the server
// saw, what the ledger says and what was paid agree; nothing was asked twice in silence; and the release has the bytes of an undisturbed
// build's. The sandbox runs come from the shared build, so that all kills hit the stages that ask. SLUICE_KILL_SEED repeats a run.
func TestKilledWhileModelsJudge(t *testing.T) {
	kills := 30
	if testing.Short() {
		kills = 5
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_KILL_SEED"), 10, 64); err == nil {
		seed = n
	}
	random := rand.New(rand.NewPCG(seed, 7))
	const latency = 30 * time.Millisecond
	obliging := judgestest.Model{Wait: latency}
	calm, rough := judgedBy(t, obliging), judgedBy(t, obliging)
	calm.config, rough.config = twoAt(calm.server.URL), twoAt(rough.server.URL)
	calm.must(t)
	hits := 0
	for range kills {
		if rough.killAsking(t, time.Duration(random.Int64N(int64(latency)*(1+random.Int64N(4))))) {
			hits++
		}
		check(t, rough.dir)
	}
	if hits < kills/2 {
		t.Errorf("only %d of %d kills hit a build that was asking: they show nothing", hits, kills)
	}
	if err := rough.victim(t).Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %d of %d kills hit; %s", seed, hits, kills, rough.account(t))
	sound(t, rough)
	if n := rough.stages(t); n["annotate"] != calm.stages(t)["annotate"] {
		t.Errorf("stages that ran: %v", n)
	}
	if a, b := calm.server.Requests(), len(rough.calls(t)[store.Settled]); a != b {
		t.Errorf("%d answers are stored, an undisturbed build asked %d questions", b, a)
	}
	if diff := cmp.Diff(frozen(t, filepath.Dir(calm.dir)), frozen(t, filepath.Dir(rough.dir))); diff != "" {
		t.Error("the releases differ:", diff)
	}
	asked := rough.server.Requests()
	if rep := rough.must(t); rep.Engine.Candidates > 0 || rough.server.Requests() != asked {
		t.Errorf("a build with nothing new looked at %d candidates and asked %d questions", rep.Engine.Candidates, rough.server.Requests()-asked)
	}
}

// account compares what the server saw with the ledger, question by question, and says how the numbers go together.
func (j *judged) account(t *testing.T) string {
	t.Helper()
	name, cost := j.questions(t)
	saw, seen := map[string]int{}, 0
	for _, s := range j.server.Seen() {
		var body struct {
			Model    string
			Messages []model.Message
		}
		if err := json.Unmarshal(s.Body, &body); err != nil {
			t.Fatal(err)
		}
		saw[told(t, body.Model, body.Messages)] += s.Times
		seen += s.Times
	}
	calls, lost := j.calls(t), map[string]int{}
	var paid, uncertain int64
	for _, c := range calls[store.Settled] {
		if c.MicroUSD != cost[c.Request] || c.MicroUSD == 0 {
			t.Errorf("a reply cost %d, its tokens make %d", c.MicroUSD, cost[c.Request])
		}
		paid += c.MicroUSD
	}
	for _, c := range calls[store.Uncertain] {
		if c.MicroUSD != c.Reserved || c.MicroUSD == 0 || name[c.Request] == "" {
			t.Errorf("an uncertain question counts %d of %d and was never answered: %q", c.MicroUSD, c.Reserved, c.Request)
		}
		lost[name[c.Request]]++
		uncertain += c.MicroUSD
	}
	unsent := 0
	for _, question := range name {
		left := 1 + lost[question] - saw[question]
		if left < 0 || saw[question] == 0 {
			t.Errorf("the server saw a question %d times, of which %d are uncertain: %.200s", saw[question], lost[question], question)
		}
		unsent += left
	}
	if len(saw) != len(name) || seen != len(name)+len(calls[store.Uncertain])-unsent {
		t.Errorf("%d requests of %d questions, %d answers", seen, len(saw), len(name))
	}
	costs, err := judging.ReadCosts(t.Context(), j.open(t), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := costs.Total; int64(got.Paid) != paid || int64(got.LostUSD) != uncertain || got.WayUSD != 0 || int64(got.Counted()) != paid+uncertain {
		t.Errorf("the ledger sums to %+v, its calls to %d paid and %d uncertain", got, paid, uncertain)
	}
	return fmt.Sprintf("the server saw %d requests = %d distinct keys + %d uncertain - %d that had not left; %d paid, %d uncertain (millionths)",
		seen, len(name), len(calls[store.Uncertain]), unsent, paid, uncertain)
}

// questions are the answered ones: by key what was asked, and what the reply costs by its tokens.
func (j *judged) questions(t *testing.T) (name map[string]string, cost map[string]int64) {
	t.Helper()
	s := j.open(t)
	name, cost = map[string]string{}, map[string]int64{}
	for _, c := range j.calls(t)[store.Settled] {
		b, err := s.Get(t.Context(), c.Exchange)
		if err != nil {
			t.Fatal(err)
		}
		var x model.Exchange
		if err := json.Unmarshal(b, &x); err != nil {
			t.Fatal(err)
		}
		name[c.Request] = told(t, x.Parameters.ID, x.Request.Messages)
		cost[c.Request] = x.Reply.Usage.Input + 2*x.Reply.Usage.Output
	}
	return name, cost
}

// told is all that a server is told of a question that tells it from others.
func told(t *testing.T, id string, messages []model.Message) string {
	t.Helper()
	b, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	return id + " " + string(b)
}
