package images

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay/docker"
	"sluice/replay/tools"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestToolsHaveImages: what a test tool wants can be made.
func TestToolsHaveImages(t *testing.T) {
	t.Parallel()
	for _, want := range tools.Images() {
		if !slices.ContainsFunc(toolchains, func(c Toolchain) bool { return c.Image() == want }) {
			t.Errorf("a test tool wants %s, which nothing makes", want)
		}
	}
}

func TestToolchains(t *testing.T) {
	t.Parallel()
	digests := map[string]string{}
	for _, c := range toolchains {
		if other := digests[c.digest()]; other != "" {
			t.Errorf("%s and %s have one digest", c.Name, other)
		}
		digests[c.digest()] = c.Name
		if c.Bytes < 1e8 || len(c.Packages) == 0 || c.About == "" {
			t.Errorf("%s: incomplete: %+v", c.Name, c)
		}
		if c.From != "" && !slices.ContainsFunc(toolchains, func(b Toolchain) bool { return b.Name == c.From && b.suite() == c.suite() && b.From == "" }) {
			t.Errorf("%s is on %s, which is no new system of its release", c.Name, c.From)
		}
	}
	changed := toolchains[0]
	changed.Packages = append(slices.Clone(changed.Packages), "hello")
	if changed.digest() == toolchains[0].digest() {
		t.Error("another list of packages has the same digest")
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"base"}, "base"}, {[]string{"rust", "node", "rust"}, "base node rust"}, {[]string{"all"}, "base node rust jvm c python3.11 python3.9 jdk25 jdk17 jdk11"}, {[]string{"jdk11"}, "python3.9 jdk11"},
	} {
		list, err := Select(tt.names)
		var got []string
		for _, c := range list {
			got = append(got, c.Name)
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, %v", tt.names, got, err)
		}
	}
	if _, err := Select([]string{"cobol"}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `"cobol"; there are base, node`) {
		t.Errorf("got %v", err)
	}
}

// TestScript: it is written with line feeds only, and a shell can read it.
func TestScript(t *testing.T) {
	t.Parallel()
	if strings.ContainsRune(script, '\r') {
		t.Error("it has a carriage return")
	}
	if out, err := exec.Command("/bin/sh", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	base, layer := Toolchain{Name: "b", Bytes: 1e9}, Toolchain{Name: "l", From: "b", Bytes: 1e9}
	for _, tt := range []struct {
		t            Toolchain
		engine, temp uint64
		want         string
	}{
		{base, 2e9, 2e9, ""}, {base, 1e9, 3e9, "the engine's disk has 1.0 GB"}, {base, 3e9, 1e8, "temporary files has 100 MB"}, {layer, 2e9, 0, ""},
		{layer, 1e9, 9e9, "takes about 2.0 GB"},
	} {
		err := enough(tt.t, tt.engine, tt.temp)
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, docker.ErrNoSpace) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func env(name, layers string, size int64, age time.Duration) Image {
	return Image{Name: "sluice/env:" + name, ID: name, Kind: KindEnvironment, Size: size, layers: strings.Split(layers, ""), Used: now.Add(-age), Created: now.Add(-age)}
}

func toolchain(t Toolchain, layers string, size int64) Image {
	return Image{Name: t.Image(), ID: t.Name, Kind: KindToolchain, Size: size, layers: strings.Split(layers, ""), Used: now.Add(-9000 * time.Hour)}
}

// sample is a base, a toolchain on it, an environment that another one is built on, and two more.
func sample() []Image {
	list := []Image{
		toolchain(toolchains[0], "b", 700), toolchain(toolchains[1], "bn", 1000),
		env("lib", "bl", 800, 90*time.Hour), env("app", "bla", 850, 50*time.Hour), env("old", "bo", 720, 70*time.Hour),
		env("web", "bnw", 1100, 10*time.Hour), env("other", "xy", 500, 60*time.Hour),
	}
	own(list, []Image{{ID: "x", Size: 450, layers: []string{"x"}}})
	freshen(list)
	return list
}

func TestSizes(t *testing.T) {
	t.Parallel()
	got := map[string]int64{}
	for _, i := range sample() {
		got[i.ID] = i.Own
	}
	want := map[string]int64{"base": 700, "node": 300, "lib": 100, "app": 50, "old": 20, "web": 100, "other": 50}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if n := Total(sample()); n != 1320 {
		t.Errorf("together %d", n)
	}
	twice := []Image{env("a", "b", 7, 0), env("b", "b", 7, 0)}
	if own(twice, nil); Total(twice) != 7 {
		t.Errorf("two names of one file system count %d", Total(twice))
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	list := sample()
	if list[1].Stale {
		t.Error("a layer on the base of today is stale")
	}
	list[0].layers = []string{"c"} // the base was made anew
	freshen(list)
	if !list[1].Stale {
		t.Error("a layer on an earlier base is up to date")
	}
	var names []string
	for _, m := range Missing(list) {
		names = append(names, m.Name)
	}
	if d := cmp.Diff([]string{"node", "rust", "jvm", "c", "python3.11", "python3.9", "jdk25", "jdk17", "jdk11"}, names); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, tt := range []struct {
		name string
		p    Policy
		edit func([]Image)
		want string
	}{
		{"nothing is asked", Policy{}, nil, ""},
		{"age", Policy{Older: 65 * time.Hour}, nil, "old"},
		{"what something younger is built on is as young", Policy{Older: 55 * time.Hour}, nil, "old other"},
		{"what is built on it goes first", Policy{Older: 2 * day}, nil, "old other app lib"},
		{"below the mark", Policy{High: 1320, Low: 0}, nil, ""},
		{"above the mark", Policy{High: 1319, Low: 1260}, nil, "old other"},
		{"down to nothing", Policy{High: 1, Low: 1}, nil, "old other app lib web"},
		{"kept", Policy{High: 1, Low: 1, Keep: 55 * time.Hour}, nil, "old other"},
		{"in use", Policy{Older: time.Hour}, func(l []Image) { l[3].InUse = true }, "old other web"},
		{"named by somebody", Policy{Older: time.Hour}, func(l []Image) { l[4].foreign = true }, "other app lib web"},
		{"an old toolchain", Policy{Older: time.Hour}, func(l []Image) { l[1].Stale = true }, "old other app lib web node"},
		{"of one run", Policy{Run: "a"}, func(l []Image) { l[2].Run, l[4].Run, l[3].Run = "a", "a", "b" }, "old"},
		{"what another run built on stays", Policy{Run: "a", Keep: day}, func(l []Image) { l[2].Run, l[3].Run = "a", "b" }, ""},
		{"of one run, one built on the other", Policy{Run: "a", Keep: day}, func(l []Image) { l[2].Run, l[3].Run = "a", "a" }, "app lib"},
		{"of a run that added nothing", Policy{Run: "c", Older: time.Hour, High: 1}, func(l []Image) { l[2].Run = "a" }, ""},
		{"of one run, in use", Policy{Run: "a"}, func(l []Image) { l[4].Run, l[4].InUse = "a", true }, ""},
		{"a state goes first, however new", Policy{High: 1319, Low: 1280, Keep: 20 * time.Hour}, func(l []Image) { l[5].Kind, l[5].Name = KindState, "" }, "web"},
		{"a state that is used", Policy{High: 1319, Low: 1310}, func(l []Image) { l[5].Kind, l[5].Name, l[5].InUse = KindState, "", true }, "old"},
		{"an unnamed one", Policy{Older: 65 * time.Hour}, func(l []Image) { l[4].Kind, l[4].Name = KindUnnamed, "" }, "old"},
	} {
		list := sample()
		if tt.edit != nil {
			tt.edit(list)
		}
		var got []string
		for _, i := range Plan(list, tt.p, now) {
			got = append(got, i.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestPlanLaws: whatever the images and marks, nothing that must stay goes, nothing goes before what is built on it, and what
// remains is below the low mark unless the rest must stay.
func TestPlanLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []Image
		for n := range rapid.IntRange(0, 12).Draw(t, "images") {
			i := env(string(rune('A'+n)), rapid.StringMatching(`[ab]{1,4}`).Draw(t, "layers"), rapid.Int64Range(1, 100).Draw(t, "size"),
				time.Duration(rapid.IntRange(0, 100).Draw(t, "age"))*time.Hour)
			i.InUse, i.foreign = rapid.IntRange(0, 5).Draw(t, "use") == 0, rapid.IntRange(0, 5).Draw(t, "foreign") == 0
			list = append(list, i)
		}
		own(list, nil)
		freshen(list)
		p := Policy{
			Older: time.Duration(rapid.IntRange(0, 100).Draw(t, "older")) * time.Hour, Keep: time.Duration(rapid.IntRange(0, 100).Draw(t, "keep")) * time.Hour,
			High: rapid.Int64Range(0, 300).Draw(t, "high"), Low: rapid.Int64Range(0, 100).Draw(t, "low"),
		}
		gone := Plan(list, p, now)
		left := slices.DeleteFunc(slices.Clone(list), func(i Image) bool {
			return slices.ContainsFunc(gone, func(g Image) bool { return g.ID == i.ID })
		})
		for n, g := range gone {
			if g.InUse || g.foreign || g.Used.After(now.Add(-p.Keep)) {
				t.Fatalf("%+v goes", g)
			}
			for _, above := range slices.Concat(left, gone[n+1:]) {
				if on(above, g) {
					t.Fatalf("%s goes before %s, which is built on it", g.ID, above.ID)
				}
			}
		}
		if p.High > 0 && Total(list) > p.High && Total(left) > p.Low {
			for _, i := range left {
				if !p.held(i, list, now) {
					t.Fatalf("%d are left of at most %d, and %s stays", Total(left), p.Low, i.ID)
				}
			}
		}
	})
}

// TestMirrorsAreTriedAgain: what fails now and then is tried three times, what always fails is not tried for ever; see
// github.com/multi-swe-bench/multi-swe-bench/issues/50, where one code 100 of apt-get was the end of all.
func TestMirrorsAreTriedAgain(t *testing.T) {
	t.Parallel()
	_, rest, ok := strings.Cut(script, "\nretry() {")
	body, _, end := strings.Cut(rest, "\n}\n")
	if !ok || !end {
		t.Fatal("the script has no function of that name")
	}
	for fails, want := range map[int]string{0: "1 ok\n", 2: "1 2 3 ok\n", 3: "1 2 3 failed\n"} {
		text := `set -eu
			say() { :; }; sleep() { :; }; n=0
			mirror() { n=$((n + 1)); printf '%s ' "$n"; [ "$n" -gt "$1" ] || return 100; }
			retry() {` + body + "\n}\nif retry mirror " + strconv.Itoa(fails) + "; then echo ok; else echo failed; fi"
		cmd := exec.CommandContext(t.Context(), "sh", "-c", text)
		cmd.Env = []string{"IMAGE=x"}
		if out, err := cmd.CombinedOutput(); string(out) != want || err != nil {
			t.Errorf("with %d failures: %q, %v, want %q", fails, out, err, want)
		}
	}
}
