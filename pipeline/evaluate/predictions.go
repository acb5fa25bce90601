package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/pipeline"
	"sluice/pipeline/release"
)

// What may stand where a path of predictions is expected: the release's own answers.
const (
	Gold  = "gold"  // the patches that earn the most that is proven
	Task  = "task"  // the task's real patches: what the agent is asked to do better than
	Empty = "empty" // no change at all
)

// ErrPredictions says that predictions do not fit the release; the message says how.
var ErrPredictions = errors.New("the predictions do not fit the release")

// Predictions are one model's patches for a release.
type Predictions struct {
	Model string
	// Patches holds the patches by instance id. A model that gave none for an instance has an empty one; an instance
	// without prediction has no entry.
	Patches map[string][]byte
	Ignored []string // ids that the release does not have, sorted
}

// ReadOptions say what to let pass.
type ReadOptions struct {
	IgnoreUnknown bool // ids that the release does not have are listed instead of refused
}

// LoadPredictions reads a file of predictions, or takes the release's own answers for Gold, Task and Empty.
func LoadPredictions(path string, rel *release.Release, o ReadOptions) (Predictions, error) {
	switch path {
	case Gold:
		return GoldPredictions(rel), nil
	case Task:
		return ownPredictions(Task, rel, func(i pipeline.Instance) []byte { return i.Patch }), nil
	case Empty:
		return ownPredictions(Empty, rel, func(pipeline.Instance) []byte { return []byte{} }), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Predictions{}, fmt.Errorf("reading predictions: %w", err)
	}
	p, err := ReadPredictions(b, rel, o)
	if err != nil {
		return p, fmt.Errorf("reading predictions %s: %w", path, err)
	}
	return p, nil
}

// GoldPredictions are the patches that earn the most that is proven: the gold, or the task's real patch.
func GoldPredictions(rel *release.Release) Predictions { return ownPredictions(Gold, rel, goldOf) }

func ownPredictions(model string, rel *release.Release, patch func(pipeline.Instance) []byte) Predictions {
	p := Predictions{Model: model, Patches: map[string][]byte{}}
	for _, inst := range rel.Instances {
		p.Patches[inst.ID] = patch(inst)
	}
	return p
}

func goldOf(inst pipeline.Instance) []byte {
	if len(inst.Gold) > 0 {
		return inst.Gold
	}
	return inst.Patch
}

// ReadPredictions reads predictions in any of the shapes in use: a list of objects; one object per line, or objects one
// after the other; an object from instance ids to objects. Each object has an instance_id (or org, repo and number) and its
// patch as model_patch, patch or fix_patch. What does not fit the release is refused as a whole, with ErrPredictions:
// ids that it does not have, an id twice, two models, another data set, or nothing for any instance.
func ReadPredictions(b []byte, rel *release.Release, o ReadOptions) (Predictions, error) {
	if !utf8.Valid(b) {
		return Predictions{}, fmt.Errorf("%w: the file is not UTF-8", ErrPredictions)
	}
	r := newReader(rel)
	for rest := b; ; {
		rest = skipBlank(rest)
		if len(rest) == 0 {
			break
		}
		dec := json.NewDecoder(bytes.NewReader(rest))
		var doc json.RawMessage
		if err := dec.Decode(&doc); err != nil {
			line := 1 + bytes.Count(b[:len(b)-len(rest)], []byte("\n"))
			return Predictions{}, fmt.Errorf("%w: the JSON that begins on line %d: %w", ErrPredictions, line, err)
		}
		rest = rest[dec.InputOffset():]
		if err := r.document(doc); err != nil {
			return Predictions{}, fmt.Errorf("%w: %w", ErrPredictions, err)
		}
	}
	p, err := r.finish(o)
	if err != nil {
		return Predictions{}, fmt.Errorf("%w: %w", ErrPredictions, err)
	}
	return p, nil
}

// skipBlank drops white space and byte order marks.
func skipBlank(b []byte) []byte {
	for {
		t := bytes.TrimPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("\ufeff"))
		if len(t) == len(b) {
			return b
		}
		b = t
	}
}

// reader gathers predictions.
type reader struct {
	rel     *release.Release
	known   map[string]bool
	numbers map[string][]string // "owner/name#12" -> instance ids
	patches map[string][]byte
	models  map[string]bool
	unknown map[string]bool
}

func newReader(rel *release.Release) *reader {
	r := &reader{rel, map[string]bool{}, map[string][]string{}, map[string][]byte{}, map[string]bool{}, map[string]bool{}}
	for _, inst := range rel.Instances {
		r.known[inst.ID] = true
		if inst.Task.Number > 0 {
			k := numberKey(inst.Repo, inst.Task.Number)
			r.numbers[k] = append(r.numbers[k], inst.ID)
		}
	}
	return r
}

func numberKey(repo string, n int) string { return strings.ToLower(repo) + "#" + strconv.Itoa(n) }

// document reads one JSON value of the file.
func (r *reader) document(doc json.RawMessage) error {
	if len(doc) > 0 && doc[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(doc, &list); err != nil {
			return err
		}
		for i, raw := range list {
			f, _, err := object(raw)
			if err == nil {
				err = r.prediction("", f)
			}
			if err != nil {
				return fmt.Errorf("element %d: %w", i+1, err)
			}
		}
		return nil
	}
	f, keys, err := object(doc)
	if err != nil {
		return err
	}
	if _, ok := f["instance_id"]; ok || isNumbered(f) {
		return r.prediction("", f)
	}
	return r.byID(f, keys)
}

// byID reads an object from ids to predictions.
func (r *reader) byID(f map[string]json.RawMessage, keys []string) error {
	if len(keys) != len(f) {
		sort.Strings(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				return fmt.Errorf("%s has two predictions", keys[i])
			}
		}
	}
	for _, id := range keys {
		inner, _, err := object(f[id])
		if err == nil {
			err = r.prediction(id, inner)
		}
		if err != nil {
			return fmt.Errorf("under %q: %w", id, err)
		}
	}
	return nil
}

// object decodes a JSON object; keys has every key as often as it stands there.
func object(raw json.RawMessage) (fields map[string]json.RawMessage, keys []string, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.New("it is no JSON object")
	}
	fields = map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, nil, err
		}
		k := t.(string) // within an object, a key is next
		fields[k], keys = v, append(keys, k)
	}
	return fields, keys, nil
}

func isNumbered(f map[string]json.RawMessage) bool {
	return f["org"] != nil && f["repo"] != nil && f["number"] != nil
}

// prediction takes one in. key is the id under which it stands, if it stands under one.
func (r *reader) prediction(key string, f map[string]json.RawMessage) error {
	id, err := r.id(key, f)
	if err != nil {
		return err
	}
	patch, err := patchOf(f)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	for _, k := range []string{"model_name_or_path", "model_name", "model"} {
		if name, _ := text(f[k]); name != "" {
			r.models[name] = true
			break
		}
	}
	if d, _ := text(f["dataset_digest"]); d != "" && d != r.rel.Digest {
		return fmt.Errorf("%s was made for the data set %s, the release is %s", id, d, r.rel.Digest)
	}
	if !r.known[id] {
		r.unknown[id] = true
		return nil
	}
	if _, twice := r.patches[id]; twice {
		return fmt.Errorf("%s has two predictions", id)
	}
	r.patches[id] = patch
	return nil
}

// id finds out which instance a prediction is for.
func (r *reader) id(key string, f map[string]json.RawMessage) (string, error) {
	if raw, ok := f["instance_id"]; ok {
		id, ok := text(raw)
		if !ok || id == "" {
			return "", fmt.Errorf("instance_id %s is no id", clip(string(raw)))
		}
		if key != "" && id != key {
			return "", fmt.Errorf("it says that its instance_id is %q", id)
		}
		return id, nil
	}
	if key != "" {
		return key, nil
	}
	if !isNumbered(f) {
		return "", errors.New("it has no instance_id")
	}
	org, ok1 := text(f["org"])
	repo, ok2 := text(f["repo"])
	n, err := strconv.Atoi(strings.Trim(string(f["number"]), `"`))
	if !ok1 || !ok2 || err != nil {
		return "", errors.New("org, repo and number name no change")
	}
	k := numberKey(org+"/"+repo, n)
	switch ids := r.numbers[k]; len(ids) {
	case 0:
		return k, nil
	case 1:
		return ids[0], nil
	default:
		return "", fmt.Errorf("%s stands for several instances: %s", k, strings.Join(ids, ", "))
	}
}

// patchOf finds the patch. null is an empty one: the model gave none.
func patchOf(f map[string]json.RawMessage) ([]byte, error) {
	for _, k := range []string{"model_patch", "patch", "fix_patch"} {
		raw, ok := f[k]
		if !ok {
			continue
		}
		if string(raw) == "null" {
			return []byte{}, nil
		}
		var t pipeline.Text
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("its %s is neither text nor null", k)
		}
		return append([]byte{}, t...), nil
	}
	return nil, errors.New("it has no model_patch")
}

// finish checks the whole.
func (r *reader) finish(o ReadOptions) (Predictions, error) {
	p := Predictions{Patches: r.patches, Ignored: sorted(r.unknown)}
	switch models := sorted(r.models); len(models) {
	case 0:
	case 1:
		p.Model = models[0]
	default:
		return p, fmt.Errorf("they are of several models: %s", few(models))
	}
	if len(p.Ignored) > 0 && !o.IgnoreUnknown {
		return p, fmt.Errorf("the release has no instance %s", few(p.Ignored))
	}
	if len(p.Patches) == 0 {
		return p, errors.New("there is none for any of its instances")
	}
	return p, nil
}

// text decodes a JSON string.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// few lists names on one line.
func few(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
