package gharchive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"unicode/utf8"
)

// Names of the counts that a reader makes.
const (
	cNULRuns   = "nul_runs"       // runs of NUL bytes between events
	cSpliced   = "spliced"        // events cut off by the beginning of another one
	cJoined    = "joined"         // events that follow another one on its line
	cTruncated = "truncated_tail" // an event cut off by the end of the file
	cBadUTF8   = "bad_utf8"       // events with bytes that are no UTF-8
	cLong      = "long_lines"     // lines beyond the limit, skipped
	cBroken    = "broken"         // lines, or what is left of them, that hold no event
)

const (
	bufferSize = 1 << 20
	maxLine    = 64 << 20 // bytes; the longest event known to have been archived is far below
	// maxResyncs and maxWaste bound the work on a hostile line that breaks off again and again.
	maxResyncs = 64
	maxWaste   = 4 // times its length
)

// big lends the one buffer that long lines are read into: two files with such lines must not take twice the memory. It lies outside
// of the garbage collector's heap, which would otherwise let as much garbage again pile up, and takes memory only where it was written.
var big struct {
	sync.Mutex
	buf []byte
}

// reader takes a stream apart into events.
type reader struct {
	src    io.Reader
	counts Counts
	limit  int // of a line
	// event is called with every event, which is only valid during the call. scan tells where its members are.
	event func(b []byte, s *scanner) error

	scan  scanner
	begun bool
	lines int
}

// run reads to the end. An error of the source comes after the events before it; what the source broke off is counted.
func (r *reader) run() (err error) {
	in := &stretch{buf: make([]byte, min(bufferSize, r.limit))}
	defer func() {
		if serr := in.shrink(); serr != nil {
			err = errors.Join(err, serr)
		}
	}()
	for skipping := false; ; {
		fresh := in.end
		n, rerr := r.src.Read(in.buf[in.end:])
		in.end += n
		for {
			at := bytes.IndexByte(in.buf[fresh:in.end], '\n')
			if at < 0 {
				break
			}
			if !skipping {
				if err := r.line(in.buf[in.start:fresh+at], false); err != nil {
					return err
				}
			}
			skipping = false
			fresh += at + 1
			in.start = fresh
		}
		if skipping {
			in.start = in.end
		}
		if rerr != nil {
			return r.finish(in.buf[in.start:in.end], rerr)
		}
		full, err := in.room(r.limit)
		if err != nil {
			return err
		}
		if full {
			r.counts.add(cLong, 1)
			skipping, in.end = true, 0
		}
	}
}

// stretch is the part of the stream that is in memory.
type stretch struct {
	buf        []byte
	start, end int // what was read and not yet used
	small      []byte
}

// room makes place for the next read. full: the line has reached the limit.
func (w *stretch) room(limit int) (full bool, err error) {
	if w.start > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
		if w.small != nil && w.end <= len(w.small)/2 {
			return false, w.shrink()
		}
		return false, nil
	}
	switch {
	case w.end < len(w.buf):
		return false, nil
	case w.small != nil || limit <= len(w.buf):
		return true, nil
	}
	large, err := borrow(w.buf, limit)
	if err != nil {
		return false, err
	}
	w.buf, w.small = large, w.buf
	return false, nil
}

// shrink goes back to the buffer of its own.
func (w *stretch) shrink() error {
	if w.small == nil {
		return nil
	}
	w.end = copy(w.small, w.buf[w.start:w.end])
	w.buf, w.small, w.start = w.small, nil, 0
	return giveBack()
}

// borrow copies what was read into the big buffer, until giveBack.
func borrow(buf []byte, limit int) ([]byte, error) {
	big.Lock()
	b, err := syscall.Mmap(-1, 0, limit, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		big.Unlock()
		return nil, fmt.Errorf("getting memory for a long line: %w", err)
	}
	copy(b, buf)
	big.buf = b
	return b, nil
}

func giveBack() error {
	defer big.Unlock()
	if err := syscall.Munmap(big.buf); err != nil {
		return fmt.Errorf("giving back the memory of a long line: %w", err)
	}
	return nil
}

// finish handles what stands after the last line break.
func (r *reader) finish(rest []byte, err error) error {
	if len(rest) > 0 {
		if err := r.line(rest, true); err != nil {
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return &SourceError{err}
}

// SourceError wraps an error of the source: the file is damaged, or its reading was interrupted.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return fmt.Sprintf("after the last whole event: %v", e.Err) }
func (e *SourceError) Unwrap() error { return e.Err }

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	eventStart    = []byte(`{"id":"`)
)

// line takes one line apart. last: no line break follows.
func (r *reader) line(b []byte, last bool) error {
	if !r.begun {
		r.begun = true
		b = bytes.TrimPrefix(b, byteOrderMark)
	}
	r.lines++
	seen, waste, resyncs, most := 0, 0, 0, maxWaste*len(b)+bufferSize
	for {
		b = r.between(b)
		if len(b) == 0 {
			return nil
		}
		n := r.scan.object(b)
		if n >= 0 {
			if seen++; seen == 2 {
				r.counts.add(cJoined, 1)
			}
			if r.scan.high && !utf8.Valid(b[:n]) {
				r.counts.add(cBadUTF8, 1)
			}
			if err := r.event(b[:n], &r.scan); err != nil {
				return err
			}
			b = b[n:]
			continue
		}
		next := resync(b)
		waste += len(b)
		if resyncs++; next < 0 || resyncs > maxResyncs || waste > most {
			r.lost(last)
			return nil
		}
		r.counts.add(cSpliced, 1)
		b = b[next:]
	}
}

func (r *reader) lost(last bool) {
	if last {
		r.counts.add(cTruncated, 1)
		return
	}
	r.counts.add(cBroken, 1)
}

// between drops white space and NUL bytes in front of an event.
func (r *reader) between(b []byte) []byte {
	for i, run := 0, false; ; i++ {
		if i == len(b) {
			return nil
		}
		switch b[i] {
		case 0:
			if !run {
				r.counts.add(cNULRuns, 1)
			}
			run = true
		case ' ', '\t', '\r':
			run = false
		default:
			return b[i:]
		}
	}
}

// resync finds the place where another event begins inside of one that broke off.
func resync(b []byte) int {
	for i := 1; ; {
		at := bytes.Index(b[i:], eventStart)
		if at < 0 {
			return -1
		}
		i += at
		end := digits(b, i+len(eventStart))
		if end > i+len(eventStart) && end < len(b) && b[end] == '"' {
			return i
		}
		i++
	}
}
