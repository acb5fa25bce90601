package mining

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"sluice/miners/gharchive/synth"
	"sluice/store"
)

// childEnv makes this test binary mine hour files instead of running tests: store, folder of downloads and source, one a line.
const childEnv = "SLUICE_TEST_MINE_GHARCHIVE"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(mineAsChild(strings.Split(job, "\n")))
	}
	os.Exit(m.Run())
}

func mineAsChild(job []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := store.OpenDir(ctx, job[0], store.Options{})
	if err == nil {
		o := GHArchiveOptions{Store: s, Dir: job[1], Sources: job[2:3], Workers: 2, Client: http.DefaultClient, Clock: time.Now}
		if strings.Contains(job[2], "{") {
			o.Since, o.Until = archiveDay, archiveDay.Add(12*time.Hour)
		}
		_, err = MineGHArchive(ctx, o)
		err = errors.Join(err, s.Close())
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println(strings.Fields(peak)[0]) // in KiB; getrusage would tell what the parent had when it forked
	switch {
	case errors.Is(err, context.Canceled):
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func child(t *testing.T, job ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(job, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilledRunsEndAlike ends runs with SIGKILL and with an interrupt at random moments, over a folder and over a server that brings the
// bytes slowly: in the end there are the leads of a run that nobody disturbed.
func TestKilledRunsEndAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	dir := synthFolder(t, 12)
	s := openLedger(t)
	mine(t, archiveOptions(t, s, dir))
	want := leadsOf(t, s)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.URL.Path)))
		if err != nil {
			t.Error(err)
			return
		}
		w.Header().Set("ETag", `"`+r.URL.Path+`"`)
		http.ServeContent(&slowly{w}, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(srv.Close)
	for _, source := range []string{dir, srv.URL + "/{hour}.json.gz"} {
		for _, how := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
			job := []string{t.TempDir(), filepath.Join(t.TempDir(), "d"), source}
			killed, within := 0, 250
			r := rand.New(rand.NewPCG(1, uint64(len(source))))
			for range 60 {
				cmd := child(t, job...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(time.Duration(1+within/8+r.IntN(within))*time.Millisecond, func() { _ = cmd.Process.Signal(how) })
				err := cmd.Wait()
				timer.Stop()
				if err == nil && killed == 0 && within > 1 { // the machine was quicker than the timer: anew, and sooner
					job[0], job[1], within = t.TempDir(), filepath.Join(t.TempDir(), "d"), within/2
					continue
				}
				if err == nil {
					break
				}
				if code := cmd.ProcessState.ExitCode(); code != -1 && code != 130 {
					t.Fatalf("exit code %d", code)
				}
				killed++
			}
			if err := child(t, job...).Run(); err != nil {
				t.Fatal(err)
			}
			s, err := store.OpenDir(t.Context(), job[0], store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, leadsOf(t, s)); diff != "" || killed == 0 {
				t.Errorf("%s, %s, killed %d times: %s", source, how, killed, diff)
			}
			if problems, err := s.Check(t.Context()); err != nil || hasHarm(problems) {
				t.Errorf("%v %v", problems, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func hasHarm(problems []store.Problem) bool {
	for _, p := range problems {
		if !p.Harmless {
			return true
		}
	}
	return false
}

// leadsOf is what dump gives, without what only a download knows.
func leadsOf(t *testing.T, s *store.Store) []string {
	t.Helper()
	var out []string
	for _, l := range dump(t, s) {
		if before, after, ok := strings.Cut(l, `,"etag":"`); ok {
			_, after, _ = strings.Cut(after, `",`)
			l = before + "," + after
		}
		if before, _, ok := strings.Cut(l, `,"since":`); ok {
			l = before + "}"
		}
		out = append(out, l)
	}
	return out
}

// slowly pauses between writes.
type slowly struct{ http.ResponseWriter }

func (s *slowly) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), 8<<10)]
		var k int
		k, err = s.ResponseWriter.Write(part)
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		n, p = n+k, p[len(part):]
		time.Sleep(2 * time.Millisecond)
	}
	return n, err
}

// TestMemory: two workers stay below 300 MB, whatever the files hold: much, lines as long as they may be, longer ones, very many
// short strings, deep nesting, and many leads.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	for i := range 4 {
		h := archiveDay.Add(time.Duration(i) * time.Hour)
		f, err := os.Create(filepath.Join(dir, hourName(h)+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
		if _, err := synth.Write(z, synth.Config{Seed: uint64(i), Bytes: 48 << 20, Era: synth.Events2015, Start: h, Leads: 200}); err != nil {
			t.Fatal(err)
		}
		writeLongLines(t, z, h, i)
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child(t, t.TempDir(), filepath.Join(t.TempDir(), "d"), dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	peak >>= 10
	t.Logf("peak of %d MB", peak)
	if peak >= 300 {
		t.Errorf("peak of %d MB", peak)
	}
}

// writeLongLines appends events that are hard to hold.
func writeLongLines(t *testing.T, z *gzip.Writer, h time.Time, seed int) {
	t.Helper()
	const limit = 64 << 20
	event := func(id int, body string) {
		_, err := fmt.Fprintf(z, `{"id":"%d","type":"IssuesEvent","repo":{"id":1,"name":"o/r"},"created_at":"%s","payload":{"issue":{"number":1,"body":%s}}}`+"\n",
			seed*100+id, h.Format(time.RFC3339), body)
		if err != nil {
			t.Fatal(err)
		}
	}
	x := strings.Repeat("x", 1<<20)
	event(1, `"bisected to 0123abcd. `+strings.Repeat(x, 60)+`"`)
	event(2, `"bisected to 0123abcd. `+strings.Repeat(x, 15)+`"`)
	event(3, `"`+strings.Repeat(x, 2*limit>>20)+`"`)
	event(4, `[`+strings.Repeat(`"a b",`, 9<<20)+`0]`)
	event(5, strings.Repeat("[", 9000)+strings.Repeat("]", 9000))
	event(6, `"bisected to 0123abcd. `+strings.Repeat(`\n`, 7<<20)+`"`)
	var spliced bytes.Buffer
	for range 4 << 20 {
		spliced.WriteString(`{"id":"1","a":[`)
	}
	_, _ = z.Write(append(spliced.Bytes(), '\n'))
}
