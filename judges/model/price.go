package model

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

const (
	million = 1_000_000
	// dearest is the highest price that can be configured, in dollars per million tokens.
	dearest = 1_000_000
)

// price is what a model costs, in millionths of a dollar per million tokens.
type price struct {
	input, cached, output uint64
}

// parseUSD reads decimal dollars as millionths of a dollar, exactly: no sign, no exponent, at most six decimals.
func parseUSD(text string) (uint64, error) {
	if text == "" {
		return 0, errors.New(`is missing; give dollars per million tokens as text, "0" if it costs nothing`)
	}
	whole, part, dot := strings.Cut(text, ".")
	if dot && part == "" || len(part) > 6 || strings.Trim(whole+part, "0123456789") != "" || whole == "" {
		return 0, fmt.Errorf(`%q is no price; write dollars per million tokens like "0.25", with six decimals at most`, text)
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil || n > dearest*million {
		return 0, fmt.Errorf("%q is more than any model costs (%d dollars per million tokens)", text, dearest)
	}
	return n, nil
}

func (s Spec) price() (p price, err error) {
	if p.input, err = parseUSD(s.InputUSD); err != nil {
		return p, fmt.Errorf("input_usd: %w", err)
	}
	if p.output, err = parseUSD(s.OutputUSD); err != nil {
		return p, fmt.Errorf("output_usd: %w", err)
	}
	p.cached = p.input
	if s.CachedUSD != "" {
		if p.cached, err = parseUSD(s.CachedUSD); err != nil {
			return p, fmt.Errorf("cached_usd: %w", err)
		}
	}
	return p, nil
}

// cost is the price of a use in millionths of a dollar, rounded up once. What does not fit is the largest number: it stops any budget.
func (p price) cost(u Usage) int64 {
	cached := min(max(u.Cached, 0), max(u.Input, 0))
	var high, low uint64
	for _, part := range []struct {
		tokens int64
		price  uint64
	}{{max(u.Input, 0) - cached, p.input}, {cached, p.cached}, {max(u.Output, 0), p.output}} {
		h, l := bits.Mul64(uint64(part.tokens), part.price)
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	if high >= million {
		return math.MaxInt64
	}
	q, rest := bits.Div64(high, low, million)
	if rest > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// Cost is what a use of the model costs, in millionths of a dollar, rounded up; 0 when its prices cannot be read (see Check).
func (s Spec) Cost(u Usage) int64 {
	p, err := s.price()
	if err != nil {
		return 0
	}
	return p.cost(u)
}

// The most that a question can use: a token is at least one byte of the text; templates add marks to every message and around all.
const (
	perMessage = 16
	perRequest = 64
	// longestToken is more bytes than a token of any vocabulary stands for (128 spaces are the longest of the common ones). A reply with
	// fewer tokens than its text needs is one whose usage cannot be right.
	longestToken = 256
	// shareSent is which part of a question's bound is surely text that was sent: the schema may not be, and marks are few.
	shareSent = 2
)

// bound is the most that a request can use. The endpoint may read the schema too, whatever it was told.
func bound(r Request, output int) Usage {
	input := perRequest + len(r.Schema) + perMessage*len(r.Messages)
	for _, m := range r.Messages {
		input += len(m.Role) + len(m.Content)
	}
	if len(r.Schema) > 0 {
		input += len(schemaIntroduction)
	}
	return Usage{Input: int64(input), Output: int64(output)}
}

// most is the cost of a bound: all of it at the dearer price of input.
func (p price) most(u Usage) int64 {
	p.cached = max(p.input, p.cached)
	p.input = p.cached
	return p.cost(u)
}

// absurd is how many times the bound no endpoint can mean: one such reply would close a store's budget for good.
const absurd = 16

// charge is what a reply costs, and a note where what the endpoint said of it cannot be right: then the bound is what it costs.
func (p price) charge(r Reply, most Usage) (int64, string) {
	u := r.Usage
	switch {
	case u.Input <= 0 && u.Output <= 0:
		return p.most(most), "no usage was reported: the cost is the most that it can be"
	case u.Input < max(1, most.Input/(shareSent*longestToken)) || u.Output <= 0 && r.Text != "" || u.Output < int64(len(r.Text)/longestToken):
		return max(p.most(most), p.cost(u)), "the reported usage is smaller than the text: the cost is the most that it can be"
	case u.Input/absurd > most.Input || u.Output/absurd > most.Output:
		return p.most(most), "the reported usage is absurd: the cost is the most that it can be"
	case u.Input > most.Input || u.Output > most.Output:
		return p.cost(u), "the reported usage is larger than the text and the limit allow"
	}
	return p.cost(u), ""
}
