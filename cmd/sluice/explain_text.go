package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"sluice/pipeline/judging"
	"sluice/store"
)

// What is longer than this is cut unless --full is given.
const (
	maxLines = 30
	maxBytes = 4 << 10
)

// text prints an account for people.
func (e *explainer) text(ctx context.Context, acc account) error {
	e.head(acc.description)
	for _, at := range acc.attempts {
		e.say("")
		e.say("%s", attemptLine(at))
		for _, ev := range at.Evidence {
			heading := fmt.Sprintf("%s (%s, %s)", ev.Name, ev.MediaType, humanize.IBytes(uint64(ev.Size)))
			if err := e.blob(ctx, heading, ev.Digest); err != nil {
				return err
			}
		}
	}
	if len(acc.runs) > 0 {
		e.say("\nwork that first ran for this candidate:")
	}
	for _, r := range acc.runs {
		if err := e.run(ctx, r); err != nil {
			return err
		}
	}
	if err := e.models(ctx, acc); err != nil {
		return err
	}
	for _, r := range acc.reviews {
		e.say("\n%s", oneLine(fmt.Sprintf("review: %s by %s on %s: %s", r.Decision, r.By, r.At.UTC().Format(time.DateOnly), r.Note)))
	}
	return nil
}

// models prints what models cost for the candidate, and each question; with --full its words and the reply too.
func (e *explainer) models(ctx context.Context, acc account) error {
	if acc.cost == (judging.Cost{}) {
		return nil
	}
	e.say("\n%s", costLine(acc.cost))
	for i, c := range acc.calls {
		if i == maxLines && !e.full {
			e.say("  [cut here: %d more questions; --full prints all]", len(acc.calls)-i)
			break
		}
		if !e.full || c.Exchange == "" {
			e.say("  %s", callLine(c))
			continue
		}
		if err := e.blob(ctx, callLine(c), c.Exchange); err != nil {
			return err
		}
	}
	return nil
}

// run prints one piece of work: a line, and everything about it with --full.
func (e *explainer) run(ctx context.Context, r store.Run) error {
	heading := oneLine(fmt.Sprintf("%s %s, %s", r.Kind, r.Label, seconds(r.Started, r.Ended)))
	b, err := e.store.Get(ctx, r.Digest)
	if err != nil {
		return err
	}
	if tests, ok := readTestRun(b); ok {
		heading += ": " + oneLine(tests.summary())
		b = []byte(tests.text())
	}
	if !e.full {
		e.say("  %s", heading)
		return nil
	}
	e.content(heading, r.Digest, b)
	return nil
}

// head says what the candidate is and where it stands.
func (e *explainer) head(d description) {
	e.say("%s", oneLine(fmt.Sprintf("%s: %s candidate of %s", d.ID, d.Family, d.Repo)))
	place := string(d.State)
	if d.Stage != "" {
		place += " at stage " + d.Stage
	}
	if d.Code != "" {
		place += ": " + d.Code
	}
	e.say("  %s", oneLine(place))
	for _, line := range []struct{ name, text string }{
		{"reason", d.Reason}, {"fix", sideLine(d.Fixing)}, {"introduced by", sideLine(d.Introducing)},
		{"known by", d.Method}, {"quotation", d.Quote},
	} {
		if line.text != "" {
			e.say("  %s: %s", line.name, oneLine(line.text))
		}
	}
}

func sideLine(s *side) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s: %s", s.label(), s.Committed.Format(time.DateOnly), s.Title)
}

func attemptLine(at store.Attempt) string {
	line := fmt.Sprintf("%s v%d: %s", at.Stage, at.Version, at.Outcome)
	if at.Code != "" {
		line += " " + at.Code
	}
	line += ", " + seconds(at.Started, at.Ended)
	if at.Reason != "" {
		line += ": " + at.Reason
	}
	return oneLine(line)
}

func seconds(started, ended time.Time) string {
	return fmt.Sprintf("%.1f s", ended.Sub(started).Seconds())
}

// blob prints a heading and a blob's content.
func (e *explainer) blob(ctx context.Context, heading, digest string) error {
	b, err := e.store.Get(ctx, digest)
	if err != nil {
		return err
	}
	e.content(heading, digest, b)
	return nil
}

// content prints a heading and what a blob holds, indented, or where it stands already.
func (e *explainer) content(heading, digest string, b []byte) {
	if where, ok := e.shown[digest]; ok {
		e.say("  %s: the same as %s", heading, where)
		return
	}
	e.shown[digest] = heading
	e.say("  %s", heading)
	text := ""
	if s, ok := readSaid(b); ok { // what was said is read before the record of it
		if text = s.text(); e.full {
			text += "\n"
		}
	}
	if c, ok := readClimbs(b); ok {
		if text = c.text(); e.full {
			text += "\n"
		}
	}
	if d, ok := readDecisive(b); ok {
		if text = decisiveText(d); e.full {
			text += "\n"
		}
	}
	if text == "" || e.full {
		text += legible(b)
	}
	body, left := e.cut(text)
	for line := range strings.Lines(body) {
		e.say("    %s", strings.TrimRight(line, "\n"))
	}
	if left > 0 {
		e.say("    [cut here: %d more lines; --full prints all]", left)
	}
}

// legible makes a blob readable: JSON is laid out, and what is no text is only described.
func legible(b []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") == nil {
		return printable(out.String())
	}
	if bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) && bytes.Count(b, []byte("\n")) == 0 {
		return fmt.Sprintf("[%d bytes that are no text]", len(b))
	}
	return printable(string(b))
}

// cut shortens text to whole lines and says how many it left out.
func (e *explainer) cut(s string) (string, int) {
	if e.full {
		return s, 0
	}
	lines := strings.SplitAfter(strings.TrimRight(s, "\n"), "\n")
	kept, size := 0, 0
	for kept < len(lines) && kept < maxLines && size+len(lines[kept]) <= maxBytes {
		size += len(lines[kept])
		kept++
	}
	if kept == 0 { // one line that is too long
		text := lines[0][:maxBytes]
		return strings.ToValidUTF8(text, "") + "…", len(lines) - 1
	}
	return strings.Join(lines[:kept], ""), len(lines) - kept
}
