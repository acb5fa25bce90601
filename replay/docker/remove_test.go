package docker

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

// leaving is a Sandbox with many containers, whose removal does what f does.
func leaving(t *testing.T, n int, f http.HandlerFunc) *Sandbox {
	t.Helper()
	var mu sync.Mutex
	var s *Sandbox
	answers := map[string]http.HandlerFunc{"GET /v1.41/containers/json": func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var list []container.Summary
		for i := range n {
			if s != nil {
				list = append(list, container.Summary{ID: "c" + strconv.Itoa(i), Names: []string{"/" + namePrefix + randomName()},
					Labels: map[string]string{LabelOurs: "1", labelOwner: s.owner, LabelRun: s.run}})
			}
		}
		say(list)(w, r)
	}}
	for i := range n {
		answers["DELETE /v1.41/containers/c"+strconv.Itoa(i)] = f
	}
	made := fakeEngine(t, answers)
	mu.Lock()
	s = made
	mu.Unlock()
	return made
}

// TestCloseHasADeadline: an engine that hangs does not hang us, and what is left is told; see github.com/UKGovernmentBEIS/inspect_ai/issues/509.
func TestCloseHasADeadline(t *testing.T) {
	t.Parallel()
	s := leaving(t, 20, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.o.Timeouts.Cleanup = 100 * time.Millisecond
	begun := time.Now()
	err := s.Close()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if err == nil || !strings.Contains(err.Error(), "removing c") {
		t.Errorf("got %v", err)
	}
}

// TestCloseRemovesSideBySide: many containers do not wait for each other, and do not all ask at once.
func TestCloseRemovesSideBySide(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most, all := 0, 0, 0
	s := leaving(t, 40, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		now, all = now+1, all+1
		most = max(most, now)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		w.WriteHeader(204)
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if all != 40 || most < 2 || most > parallelRemovals {
		t.Errorf("%d removals, %d at once", all, most)
	}
}
