package rank

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Model weighs the features. It is linear: the score of a candidate is the sum of weight times feature, and the scores of a fix's
// candidates become probabilities by softmax.
type Model struct {
	Version string             `json:"version"`
	Weights map[string]float64 `json:"weights"` // by the name of the feature; one that is not there weighs nothing
	// Slope and Offset turn the first candidate's log-odds into a confidence that holds on repositories which the model has not seen.
	Slope      float64    `json:"slope"`
	Offset     float64    `json:"offset"`
	Provenance Provenance `json:"provenance"`
}

// Provenance says what a model was learned from and how it did on repositories that were left out.
type Provenance struct {
	Method  string       `json:"method"`
	Rows    int          `json:"rows"`
	Covered int          `json:"covered,omitempty"` // rows whose introducing commit is among the candidates
	Repos   []RepoResult `json:"repos"`             // by name
	// Top1 and Top3 are shares of all rows, by models that had not seen the row's repository; absent when there is one repository alone.
	Top1 float64 `json:"left_out_top1,omitempty"`
	Top3 float64 `json:"left_out_top3,omitempty"`
}

// RepoResult is how a model did that was learned from all repositories but this one.
type RepoResult struct {
	Repo string `json:"repo"`
	Rows int    `json:"rows"`
	Top1 int    `json:"top1,omitempty"`
	Top3 int    `json:"top3,omitempty"`
}

//go:embed weights.json
var shipped []byte

// Shipped is the model that comes with sluice. docs/szz.md says how it was made.
func Shipped() (*Model, error) { return ReadModel(shipped) }

// ReadModel reads a model as Model is written in JSON.
func ReadModel(data []byte) (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("reading a model of weights: %w", err)
	}
	for name, w := range m.Weights {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("reading a model of weights: there is no feature %q; it was learned by another version", name)
		}
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("reading a model of weights: the weight of %q is no number", name)
		}
	}
	if len(m.Weights) == 0 || m.Version == "" {
		return nil, fmt.Errorf("reading a model of weights: want {\"version\", \"weights\": {…}}")
	}
	return m, nil
}

// vector is the weights in the order of the features.
func (m *Model) vector() []float64 {
	out := make([]float64, len(names))
	for i, name := range names {
		out[i] = m.Weights[name]
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// softmax turns scores into probabilities.
func softmax(scores []float64) []float64 {
	if len(scores) == 0 {
		return nil
	}
	top := slices.Max(scores)
	out := make([]float64, len(scores))
	sum := 0.0
	for i, s := range scores {
		out[i] = math.Exp(s - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// confidence is how likely the first candidate is right, where its probability is p.
func (m *Model) confidence(p float64) float64 { return sigmoid(m.Slope*logit(p) + m.Offset) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logit keeps away from certainty, which no model has.
func logit(p float64) float64 {
	const edge = 1e-4
	p = math.Min(math.Max(p, edge), 1-edge)
	return math.Log(p / (1 - p))
}
