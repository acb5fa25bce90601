package judging

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/store"
)

// These name what this binary, run again, does until it is done or killed: the store's folder, the server, how many questions.
const (
	childStore     = "JUDGING_TEST_STORE"
	childServer    = "JUDGING_TEST_SERVER"
	childQuestions = "JUDGING_TEST_QUESTIONS"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		n, err := strconv.Atoi(os.Getenv(childQuestions))
		if err := errors.Join(err, askAll(context.Background(), dir, os.Getenv(childServer), n)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const atOnce = 8 // questions under way in a child

// priced is a configuration of one model that costs 1 dollar per million tokens of input and 2 of output.
func priced(url string) Config {
	return Config{Config: model.Config{
		Endpoints: []model.Endpoint{{Name: "e", URL: url, Concurrent: atOnce}},
		Models:    []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 50, InputUSD: "1", OutputUSD: "2"}},
	}}
}

// askAll asks n questions in an order that differs from process to process, and says when it begins.
func askAll(ctx context.Context, dir, url string, n int) error {
	s, err := store.OpenDir(ctx, dir, store.Options{MustExist: true})
	if err != nil {
		return err
	}
	d, err := Open(ctx, s, priced(url), Options{Clock: time.Now})
	if err != nil {
		return err
	}
	fmt.Println("begins")
	bench := d.Bench("a", "judge")
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, i := range rand.Perm(n) {
		g.Go(func() error {
			_, err := bench.Asker.Ask(ctx, model.Request{Model: "m", Prompt: "clarity", Version: 1,
				Messages: []model.Message{{Role: model.User, Content: fmt.Sprintf("question [%d]", i)}}}, bench.Charge)
			return err
		})
	}
	return errors.Join(g.Wait(), d.Close(ctx), s.Close())
}

// replyCosts is what an answer of script costs in millionths of a dollar, by priced.
const replyCosts = 10 + 2*5

// script answers after a moment.
func script(modeltest.Request) modeltest.Reply {
	return modeltest.Reply{Text: "yes", Input: 10, Output: 5, Wait: time.Duration(rand.IntN(4000)) * time.Microsecond}
}

var number = regexp.MustCompile(`question \[(\d+)\]`)

// saw returns how often the server saw each question.
func saw(server *modeltest.Server) map[string]int {
	each := map[string]int{}
	for _, s := range server.Seen() {
		each[number.FindStringSubmatch(string(s.Body))[1]] += s.Times
	}
	return each
}

func child(t *testing.T, dir, url string, n int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	ok(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childStore+"="+dir, childServer+"="+url, fmt.Sprintf("%s=%d", childQuestions, n))
	cmd.Stderr = os.Stderr
	return cmd
}

// kill starts a child and kills it some time after it has begun to ask. False: it was done before.
func kill(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the child said nothing")
	}
	time.Sleep(after)
	_ = cmd.Process.Kill() // a dead one shows below
	err = cmd.Wait()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatal(err)
	}
	return err != nil
}

// Killed at any instant, a process has each reply that was paid in the store, or the question is marked: none is paid twice in silence.
// SLUICE_KILL_SEED repeats a run.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, questions := 30, 900
	if testing.Short() {
		kills, questions = 5, 200
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_KILL_SEED"), 10, 64); err == nil {
		seed = n
	}
	random := rand.New(rand.NewPCG(seed, 4))
	server, dir, c := modeltest.New(t, script), t.TempDir(), newClock()
	s := openStore(t, dir, c)
	hits := 0
	for range kills {
		if kill(t, child(t, dir, server.URL, questions), time.Duration(random.IntN(60_000))*time.Microsecond) {
			hits++
		}
		sound(t, s)
	}
	if hits < kills/2 {
		t.Errorf("only %d of %d kills hit a child at work: they show nothing", hits, kills)
	}
	ok(t, child(t, dir, server.URL, questions).Run())
	b := readBooks(t, s, questions)
	saw, seen := saw(server), server.Requests()
	unsent := 0
	for i := range questions {
		q := strconv.Itoa(i)
		left := 1 + b.uncertain[q] - saw[q]
		if left < 0 || b.settled[q] != 1 || saw[q] == 0 {
			t.Errorf("question %s: the server saw it %d times, %d settled and %d uncertain", q, saw[q], b.settled[q], b.uncertain[q])
		}
		unsent += left
	}
	lost := seen + unsent - questions
	t.Logf("seed %d: %d of %d kills hit; the server saw %d requests = %d distinct keys + %d uncertain - %d that had not left",
		seed, hits, kills, seen, questions, lost, unsent)
	if lost >= 30 && unsent > lost/2 { // fewer are chance
		t.Errorf("%d of %d uncertain questions had not left: the time between putting aside and sending is too long", unsent, lost)
	}
	sum, _ := totals(t, s)
	same(t, "sum of the ledger", sum, int64(questions)*replyCosts+b.reserved)
	ok(t, child(t, dir, server.URL, questions).Run())
	same(t, "requests after another run", server.Requests(), seen)
	sound(t, s)
}

// books are the calls of a store, by question.
type books struct {
	settled, uncertain map[string]int
	reserved           int64 // for the uncertain ones
}

// readBooks reads all calls; none may be on its way any more.
func readBooks(t *testing.T, s *store.Store, questions int) books {
	t.Helper()
	name := map[string]string{} // by key
	for i := range questions {
		r := model.Request{Prompt: "clarity", Version: 1, Messages: []model.Message{{Role: model.User, Content: fmt.Sprintf("question [%d]", i)}}}
		p, err := priced("").Models[0].Parameters()
		ok(t, err)
		key, err := r.Key(p)
		ok(t, err)
		name[key] = strconv.Itoa(i)
	}
	calls, err := s.ModelCalls(t.Context(), "")
	ok(t, err)
	b := books{settled: map[string]int{}, uncertain: map[string]int{}}
	for _, c := range calls {
		switch q := name[c.Request]; {
		case q == "":
			t.Errorf("nobody asked %s", c.Request)
		case c.State == store.Settled:
			b.settled[q]++
			same(t, "cost of a reply", c.MicroUSD, replyCosts)
		case c.State == store.Uncertain:
			b.uncertain[q]++
			b.reserved += c.Reserved
		default:
			t.Errorf("question %s is %s", q, c.State)
		}
	}
	return b
}

// Two processes on one store share the work: each question is asked by one of them, and never by both.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const questions = 150
	server, dir := modeltest.New(t, script), t.TempDir()
	s := openStore(t, dir, newClock())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := child(t, dir, server.URL, questions).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, "requests", server.Requests(), questions)
	same(t, "questions", len(saw(server)), questions)
	b := readBooks(t, s, questions)
	same(t, "settled", len(b.settled), questions)
	same(t, "uncertain", len(b.uncertain), 0)
	costs, err := s.ModelCosts(t.Context(), "", "")
	ok(t, err)
	same(t, "what was paid", costs[0].SettledUSD, replyCosts*questions)
	sound(t, s)
}
