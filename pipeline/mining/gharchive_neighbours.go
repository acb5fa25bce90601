package mining

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/miners/gharchive"
	"sluice/store"
)

// neighbour remembers the events of the hour that was recorded last: the archive repeats some in the next one. It keeps them on disk
// too, so that a run that goes on counts as one that was never interrupted. Losing that file costs exact counts only: a lead
// that comes twice is one lead.
type neighbour struct {
	dir  string
	hour gharchive.Hour
	ids  []uint64
}

func (n *neighbour) file(h gharchive.Hour) string { return filepath.Join(n.dir, idsPrefix+h.String()) }

// idsPrefix begins the names of the files.
const idsPrefix = "ids-"

// before gives the events of the hour before another one, nil when they are not known.
func (n *neighbour) before(h gharchive.Hour) []uint64 {
	last := h.Before()
	if n.hour == last {
		return n.ids
	}
	data, err := os.ReadFile(n.file(last))
	if err != nil {
		return nil
	}
	ids, _ := gharchive.UnpackIDs(data)
	return ids
}

// keep remembers an hour besides the one before it, which is needed again if the hour cannot be recorded.
func (n *neighbour) keep(h gharchive.Hour, ids []uint64) error {
	err := os.MkdirAll(n.dir, 0o755)
	temp := n.file(h) + ".new"
	if err == nil {
		err = os.WriteFile(temp, gharchive.PackIDs(ids), 0o644)
	}
	if err == nil {
		err = os.Rename(temp, n.file(h))
	}
	if err != nil {
		return fmt.Errorf("keeping what the next hour needs: %w", err)
	}
	n.hour, n.ids = h, ids
	return nil
}

// forget removes what was kept of other hours than the last one.
func (n *neighbour) forget() error {
	all, err := os.ReadDir(n.dir)
	if err != nil {
		return fmt.Errorf("looking for what no hour needs any more: %w", err)
	}
	for _, e := range all {
		name := filepath.Join(n.dir, e.Name())
		if !strings.HasPrefix(e.Name(), idsPrefix) || name == n.file(n.hour) {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what no hour needs any more: %w", err)
		}
	}
	return nil
}

// volumes knows how many events the hours held, by their place in the week.
type volumes struct{ slots [7 * 24][]volume }

type volume struct {
	hour   gharchive.Hour
	events int
}

// An hour is compared with those of the same weekday and time within half a year, if enough are known.
const (
	volumeReach = 26 * 7 * 24 * time.Hour
	volumeKnown = 4
	volumeShare = 5 // a fifth
)

// learn takes an hour into account that was read whole.
func (v *volumes) learn(record store.Hour) {
	h, err := gharchive.ParseHour(record.Name)
	var c hourCounts
	if err != nil || record.State != string(gharchive.Done) || json.Unmarshal(record.Counts, &c) != nil {
		return
	}
	slot := &v.slots[h.Slot()]
	*slot = slices.DeleteFunc(*slot, func(o volume) bool { return o.hour == h })
	*slot = append(*slot, volume{h, c.Events + c.Outside})
}

// suspicion says why an hour holds too little, "" when it does not.
func (v *volumes) suspicion(h gharchive.Hour, events int) string {
	var known []int
	for _, o := range v.slots[h.Slot()] {
		if d := o.hour.Start().Sub(h.Start()).Abs(); o.hour != h && d <= volumeReach {
			known = append(known, o.events)
		}
	}
	if len(known) < volumeKnown {
		return ""
	}
	slices.Sort(known)
	if median := known[len(known)/2]; events*volumeShare < median {
		return fmt.Sprintf("%d events, where %d are usual at that time of the week", events, median)
	}
	return ""
}
