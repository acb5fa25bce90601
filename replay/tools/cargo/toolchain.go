package cargo

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// imageRust is the version of Rust in the image. Code that wants a newer one gets it in its environment; on a machine whose own is
// newer that costs a download and nothing else.
var imageRust = release{1, 85}

// release is a version of Rust; what is not said is 0.
type release [3]int

func (r release) compare(o release) int { return slices.Compare(r[:], o[:]) }

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

var releaseText = regexp.MustCompile(`^(\d{1,2})\.(\d{1,4})(?:\.(\d{1,3}))?$`)

func parseRelease(s string) (r release, ok bool) {
	m := releaseText.FindStringSubmatch(s)
	if m == nil {
		return r, false
	}
	for i := range r {
		r[i], _ = strconv.Atoi(m[i+1])
	}
	return r, true
}

// oldestRust is the first release whose cargo reads the registry's sparse index, without which the whole index would have to be
// cloned: https://blog.rust-lang.org/2023/06/01/Rust-1.70.0
var oldestRust = release{1, 70}

// tooOld says the same of a nightly.
func tooOld(channel string) bool {
	_, date, _ := strings.Cut(channel, "-")
	return date != "" && date < "2023-04-16"
}

// editions say since which release there is each: https://doc.rust-lang.org/edition-guide
var editions = map[string]release{"2018": {1, 31}, "2021": {1, 56}, "2024": {1, 85}}

// chosen is the toolchain that a recipe brings. No channel: the image's.
type chosen struct {
	Channel    string   `json:"channel"`
	Components []string `json:"components"`
	Needed     bool     `json:"needed"` // without it the code cannot be compiled
	note       string
}

var (
	channelText   = regexp.MustCompile(`^(?:nightly|beta)(?:-\d{4}-\d{2}-\d{2})?$`)
	componentText = regexp.MustCompile(`^[a-z][a-z0-9-]{1,40}$`)
)

// toolchain reads what a workspace's files ask for: its toolchain file, else the newest release that a member needs.
func toolchain(t *project.Tree, w *workspace) (chosen, error) {
	c, err := pinned(t, w.root)
	if err != nil || c.Channel != "" {
		return c, err
	}
	need := w.needs()
	switch {
	case !w.locked:
		// Dependencies of the day of the installation want the compiler of that day, and not all of them say so.
		c.Channel = "stable"
	case need.compare(imageRust) > 0:
		c.Channel, c.Needed = need.String(), true
	}
	return c, nil
}

// pinned reads the toolchain file of the folder or of the nearest above it.
func pinned(t *project.Tree, root string) (chosen, error) {
	for dir := root; ; dir = parent(dir) {
		for _, name := range []string{"rust-toolchain", "rust-toolchain.toml"} {
			text, err := t.Read(path.Join(dir, name))
			if err != nil {
				return chosen{}, err
			}
			if text != "" {
				return readPin(text), nil
			}
		}
		if dir == "" {
			return chosen{Components: []string{}}, nil
		}
	}
}

func readPin(text string) chosen {
	var file struct {
		Toolchain struct {
			Channel    string
			Components []string
		}
	}
	channel := strings.TrimSpace(text)
	if strings.ContainsAny(channel, "[=\n") {
		if err := project.DecodeTOML(text, &file); err != nil {
			return chosen{Components: []string{}, note: "the toolchain file cannot be read"}
		}
		channel = file.Toolchain.Channel
	}
	c := chosen{Components: []string{}}
	r, ok := parseRelease(channel)
	switch {
	case channel == "stable" || channel == "" || ok && r == imageRust:
		return c
	case ok && r.compare(oldestRust) < 0, channelText.MatchString(channel) && tooOld(channel):
		c.note = "the toolchain " + channel + " does not speak the registry's protocol of today; a newer one is used"
		return c
	case ok:
		c.Channel = r.String()
	case channelText.MatchString(channel):
		c.Channel = channel
		if !strings.Contains(channel, "-") {
			c.note = "the toolchain " + channel + " is that of the day of the installation"
		}
	default:
		c.note = fmt.Sprintf("the toolchain %q is not known", report80(channel))
		return c
	}
	for _, name := range file.Toolchain.Components[:min(len(file.Toolchain.Components), maxComponents)] {
		if componentText.MatchString(name) && !slices.Contains(c.Components, name) && !editorial[name] {
			c.Components = append(c.Components, name)
		}
	}
	slices.Sort(c.Components)
	return c
}

// maxComponents is more than rustup knows for one platform.
const maxComponents = 64

// editorial are components that nobody needs for a test.
var editorial = map[string]bool{"rustfmt": true, "clippy": true, "rust-analyzer": true, "rls": true, "rust-docs": true, "rustc": true, "cargo": true, "rust-std": true}

func report80(s string) string { return project.FirstLine(s[:min(len(s), 80)]) }

// base is the environment with the toolchain alone, which all states share that want the same one; nil for the image's.
func (c chosen) base() *replay.Recipe {
	if c.Channel == "" {
		return nil
	}
	return &replay.Recipe{Runner: Name, Install: []replay.Step{{
		Name: "toolchain", MustPass: true, Args: install("toolchain", c),
	}}}
}

// needs is the newest release that the members say they need, by their own words, their edition, or the lock file's format.
func (w *workspace) needs() release {
	need := release{}
	for _, m := range w.members {
		for _, r := range []release{m.rust, editions[m.edition]} {
			need = slices.MaxFunc([]release{need, r}, release.compare)
		}
	}
	if w.lockFormat >= 4 {
		need = slices.MaxFunc([]release{need, {1, 78}}, release.compare)
	}
	return need
}

func parent(dir string) string { return project.Dir(dir) }
