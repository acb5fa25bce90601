package progress

import (
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bars shows one bar for the run and one for each stage that a candidate has reached.
type bars struct {
	box    *mpb.Progress
	whole  *mpb.Bar
	stages []*mpb.Bar
}

func newBars(w io.Writer) *bars {
	return &bars{box: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithAutoRefresh())}
}

func (b *bars) update(c *counts) {
	if !c.begun {
		return
	}
	if b.whole == nil {
		b.whole = b.add("candidates")
	}
	set(b.whole, c.done, c.total)
	for i, s := range c.stages {
		if i == len(b.stages) {
			b.stages = append(b.stages, b.add("  "+s.Name))
		}
		set(b.stages[i], s.Ended, c.expected(i))
	}
}

func (b *bars) add(name string) *mpb.Bar {
	return b.box.AddBar(0,
		mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d / %d", decor.WCSyncSpace)),
		mpb.AppendDecorators(
			decor.AverageSpeed(0, "%.1f/s", decor.WCSyncSpace),
			decor.Name(" left "), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace),
		))
}

// set never completes a bar: a later candidate may still raise its count.
func set(bar *mpb.Bar, current, total int) {
	bar.SetTotal(int64(total), false)
	bar.SetCurrent(int64(current))
}

func (b *bars) close(*counts) {
	for _, bar := range append(b.stages, b.whole) {
		if bar != nil {
			bar.Abort(false) // keeps what it shows
		}
	}
	b.box.Wait()
}
