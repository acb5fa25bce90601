package ci

import (
	"go.yaml.in/yaml/v3"
)

// maxNodes bounds how many nodes of one document are looked at: aliases make small documents large.
const maxNodes = 20000

// bytesOfNode is how much text counts as a node: an alias may stand for a long text, too.
const bytesOfNode = 256

// doc is a document that nobody has checked. What is not there, or of another kind, is empty.
type doc struct {
	left    int
	scripts int // bytes of scripts that may be read yet: an alias may stand for one a thousand times
	root    *yaml.Node
}

// parse reads the first document of a text; one that is none says nothing.
func parse(text string) (d *doc) {
	d = &doc{left: maxNodes, scripts: maxText}
	defer func() { // a panic of the parser says no more than an error of it
		if recover() != nil {
			d.root = nil
		}
	}()
	var n yaml.Node
	if yaml.Unmarshal([]byte(text), &n) == nil && n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		d.root = n.Content[0]
	}
	return d
}

// real follows aliases. Nothing is left when too much was looked at.
func (d *doc) real(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode && d.left > 0 {
		d.left--
		n = n.Alias
	}
	if d.left--; d.left <= 0 {
		return nil
	}
	return n
}

// pair is an entry of a mapping.
type pair struct {
	key   string
	value *yaml.Node
}

// pairs are the entries of a mapping, in order; those that it merges come last.
func (d *doc) pairs(n *yaml.Node) []pair { return d.merged(n, 4) }

func (d *doc) merged(n *yaml.Node, depth int) []pair {
	if n = d.real(n); n == nil || n.Kind != yaml.MappingNode || depth == 0 {
		return nil
	}
	var out, more []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		if d.left--; d.left <= 0 {
			return out
		}
		k, v := n.Content[i], n.Content[i+1]
		if k.Value != "<<" {
			out = append(out, pair{k.Value, v})
			continue
		}
		for _, m := range d.items(v) {
			more = append(more, d.merged(m, depth-1)...)
		}
	}
	return append(out, more...)
}

// get is the value of a key, or nil.
func (d *doc) get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var found *yaml.Node
		for _, p := range d.pairs(n) {
			if p.key == key {
				found = p.value
				break
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

// items are the elements of a list, or a lone value as a list.
func (d *doc) items(n *yaml.Node) []*yaml.Node {
	n = d.real(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content[:min(len(n.Content), d.left)]
	}
	return []*yaml.Node{n}
}

// str is a scalar's text as it stands, "" of anything else.
func (d *doc) str(n *yaml.Node) string {
	if n = d.real(n); n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	if d.left -= len(n.Value) / bytesOfNode; d.left <= 0 {
		return ""
	}
	return n.Value
}

// strs are the scalars of a list, or a lone one.
func (d *doc) strs(n *yaml.Node) []string {
	var out []string
	for _, it := range d.items(n) {
		if s := d.str(it); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// script reads one of the document's scripts.
func (d *doc) script(f *found, text string) {
	if d.scripts -= len(text); d.scripts >= 0 {
		f.script(text)
	}
}
