// Package model asks language models questions over any endpoint that speaks OpenAI's protocol, and sees to it that each question
// is paid once: answers are kept under the digest of all that decides them, money is reserved before a request leaves.
//
// It knows no judge, no prompt and no store (a Ledger is passed in), and it never guesses: a reply that is cut, filtered or out of
// protocol is an error with a name.
package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is one question, with everything of it that decides the answer.
type Request struct {
	Model    string          `json:"-"` // the configured name; the key holds what it stands for
	Prompt   string          `json:"prompt"`
	Version  int             `json:"version"` // of the prompt
	Messages []Message       `json:"messages"`
	Schema   json.RawMessage `json:"schema,omitempty"` // JSON schema of the reply; none: free text
	Sample   int             `json:"sample,omitempty"` // 0, 1, …: the same question asked again for another vote
}

// Parameters are the settings of a model that decide its answers.
type Parameters struct {
	ID          string  `json:"id"` // as the endpoint knows it
	Temperature float64 `json:"temperature"`
	MaxOutput   int     `json:"max_output"`      // tokens
	Extra       string  `json:"extra,omitempty"` // other fields of the request body, as canonical JSON
}

// Key is the digest under which the answer is kept: of the parameters, the prompt and its version, the messages, the schema and the
// number of the sample. How the endpoint is made to follow the schema is not part of it, nor where the endpoint is.
func (r Request) Key(p Parameters) (string, error) {
	b, err := json.Marshal(struct {
		Parameters
		Request
	}{p, r})
	if err != nil {
		return "", fmt.Errorf("keying a request of prompt %s: %w", r.Prompt, err)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Usage counts tokens as the endpoint reports them.
type Usage struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached,omitempty"` // of Input, read from the endpoint's own cache
	Output int64 `json:"output"`
}

// Reply is what a model said.
type Reply struct {
	Text   string `json:"text"`
	Finish string `json:"finish"` // "stop"; others are errors
	Model  string `json:"model"`  // as the endpoint names it in the reply
	Usage  Usage  `json:"usage"`
}

// Exchange is a request with its reply: what the ledger keeps as a blob, so that any answer can be looked at and asked again.
type Exchange struct {
	Parameters Parameters `json:"parameters"`
	Request    Request    `json:"request"`
	Structured string     `json:"structured,omitempty"` // how the schema was enforced: "schema", "object" or "prompt"
	Reply      Reply      `json:"reply"`
	Note       string     `json:"note,omitempty"` // what is odd about the reply's cost
}

// Answer is a reply and what it cost this time.
type Answer struct {
	Reply
	Key      string `json:"key"`
	Cached   bool   `json:"cached"`    // nothing was sent
	MicroUSD int64  `json:"micro_usd"` // millionths of a dollar; 0 when cached
}

// Charge says on whose account a question goes. Both may be empty.
type Charge struct {
	Candidate string
	Stage     string
}

// Asker answers questions. Errors wrap one of the errors below or ctx's.
type Asker interface {
	Ask(ctx context.Context, r Request, c Charge) (Answer, error)
}

// The ways in which a question can go unanswered. All but ErrBudget, ErrNotStored and ErrConfig concern one question only.
var (
	ErrTransient = errors.New("the model did not answer")                                          // after all retries: limits, 5xx, silence, broken replies
	ErrTooLong   = errors.New("the question or its reply is too long for the model")               // its context, or the reply hit the limit of output
	ErrFiltered  = errors.New("the model's content filter refused")                                //
	ErrRejected  = errors.New("the endpoint refused the request")                                  // another 4xx; another try would meet it again
	ErrConfig    = errors.New("models cannot be used as configured")                               // unknown model, wrong key: every question would meet it
	ErrBudget    = errors.New("the budget for models is used up")                                  //
	ErrBusy      = errors.New("another process is asking the same question")                       // transient
	ErrNotStored = errors.New("no stored reply to this question, and only stored ones are wanted") // --replay-only
)

// Reservation is money put aside before a request leaves.
type Reservation struct {
	Key      string
	Prompt   string
	Version  int
	Model    string // the configured name
	MicroUSD int64  // the most that it can cost
	Tokens   int64  // the most that it can use, both ways
	Charge   Charge
}

// Settlement closes a reservation with what came.
type Settlement struct {
	Exchange Exchange
	MicroUSD int64
	Latency  time.Duration
}

// Ledger keeps replies and money. It is safe for concurrent use.
//
// A reservation ends in one of three ways: settled (a reply came and is stored), released (the endpoint refused before it did any work:
// nothing is to pay), or uncertain (it may have been worked on and paid: time-outs, broken connections, a process that died).
// What is uncertain stays reserved: it counts as spent.
type Ledger interface {
	// Lookup returns the stored exchange of a key.
	Lookup(ctx context.Context, key string) (Exchange, bool, error)
	// Reserve puts money aside. ErrBudget when a budget would be exceeded; ErrBusy while a living process has a reservation of the
	// same key, and when its reply is stored already: look it up again. A reservation of that key whose process is dead becomes
	// uncertain, and the question may be asked anew.
	Reserve(ctx context.Context, r Reservation) (id int64, err error)
	// Settle stores the exchange and the cost in one step.
	Settle(ctx context.Context, id int64, s Settlement) error
	// Release gives the money back.
	Release(ctx context.Context, id int64, why string) error
	// Uncertain leaves the money reserved for good.
	Uncertain(ctx context.Context, id int64, why string) error
	// Hit notes that a stored reply was used.
	Hit(ctx context.Context, key string, c Charge) error
}
