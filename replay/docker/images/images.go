// Package images makes, lists and removes the images of a Docker engine that sluice works with: one for each toolchain, of
// Debian's own packages, and the environments that the docker sandbox prepared on them.
//
// No registry is needed. The images of toolchains are layers on one base, so that an engine holds that once. What made an image is
// in its label as a digest: one that is up to date is not made again. The package never touches an image that does not carry
// sluice's label, that somebody else gave a name of his own, or that a container uses; and it starts no code of a repository.
package images

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"sluice/replay/docker"
)

// Releases of Debian. Most images are of the newest one; each has one version of Python 3, which is why there are others.
const (
	trixie   = "trixie"
	bookworm = "bookworm"
	bullseye = "bullseye" // the last one that has Python 2
)

//go:embed image.sh
var script string

// Toolchain is an image for the projects of some languages.
type Toolchain struct {
	Name     string   // what sluice images build takes
	About    string   // who needs it
	From     string   // toolchain of the same release that it is a layer on; "" is none
	Suite    string   // Debian's release; "" is trixie
	Packages []string // Debian's; one with a hyphen at its end is kept out, as apt has it: the default JRE is what mvn would run on
	// Programs are Debian packages that cannot be installed beside Packages: of each, only the program of its name is taken.
	Programs []string
	Bytes    int64 // about what it takes of the engine's disk beside From, as measured
}

// Image is the name of the toolchain's image.
func (t Toolchain) Image() string { return "sluice/" + t.Name + ":" + t.suite() }

func (t Toolchain) suite() string { return cmp.Or(t.Suite, trixie) }

// Base is the toolchain that the others are layers on.
const Base = "base"

// What most projects need to be built and to be tested. netbase and tzdata: tests look up ports and time zones.
// libfaketime (150 kB): runs whose clock is ahead.
const (
	builders = "ca-certificates git gcc g++ libc6-dev make patch pkg-config "
	python   = "python3 python3-venv python3-pip python3-dev netbase procps tzdata libfaketime "
)

var toolchains = []Toolchain{
	{Name: Base, About: "Go and Python", Packages: strings.Fields(builders + "golang-go " + python), Bytes: 770e6},
	{Name: "node", About: "JavaScript and TypeScript", From: Base, Packages: strings.Fields("nodejs npm"), Bytes: 210e6},
	{Name: "rust", About: "Rust", From: Base, Packages: strings.Fields("cargo rustc libssl-dev libcurl4t64"), Programs: []string{"rustup"}, Bytes: 490e6},
	{Name: "jvm", About: "Java and Kotlin", From: Base, Packages: strings.Fields("openjdk-21-jdk-headless maven gradle"), Bytes: 440e6},
	{Name: "c", About: "C and C++", From: Base, Packages: strings.Fields("cmake ninja-build meson autoconf automake libtool libgtest-dev " +
		"libgmock-dev libssl-dev zlib1g-dev"), Bytes: 120e6},
	{Name: "python3.11", About: "Python up to 3.12", Suite: bookworm, Packages: strings.Fields(builders + python), Bytes: 500e6},
	{Name: "python3.9", About: "Python up to 3.10, and Python 2", Suite: bullseye, Packages: strings.Fields(builders + python + "python2-dev virtualenv"), Bytes: 500e6},
	{Name: "jdk25", About: "Java of JDK 22 to 25", From: Base, Packages: strings.Fields("openjdk-25-jdk-headless maven gradle default-jre-headless-"), Bytes: 950e6},
	{Name: "jdk17", About: "Java that JDK 21 is too new for, up to JDK 17", From: "python3.11", Suite: bookworm, Packages: strings.Fields("openjdk-17-jdk-headless maven gradle"), Bytes: 440e6},
	{Name: "jdk11", About: "Java that JDK 17 is too new for", From: "python3.9", Suite: bullseye, Packages: strings.Fields("openjdk-11-jdk-headless maven gradle"), Bytes: 440e6},
}

// Toolchains are all toolchains, one that others are layers on before those.
func Toolchains() []Toolchain { return slices.Clone(toolchains) }

// ErrUnknown says that there is no toolchain of that name.
var ErrUnknown = errors.New("no such toolchain")

// Names are the names of all toolchains, for messages.
func Names() string {
	var names []string
	for _, t := range toolchains {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Select returns the named toolchains with those that they are layers on, in the order in which they can be made; "all" names all.
func Select(names []string) ([]Toolchain, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		if name == "all" {
			return Toolchains(), nil
		}
		i := slices.IndexFunc(toolchains, func(t Toolchain) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, Names())
		}
		wanted[name], wanted[toolchains[i].From] = true, true
	}
	return slices.DeleteFunc(Toolchains(), func(t Toolchain) bool { return !wanted[t.Name] }), nil
}

// digest names what makes an image: the script, the release, the packages, and the same of what it is a layer on.
func (t Toolchain) digest() string {
	from := ""
	for _, other := range toolchains {
		if other.Name == t.From {
			from = other.digest()
		}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{script, t.suite(), t.Name, strings.Join(t.Packages, ","), strings.Join(t.Programs, ","), from}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Engine is a Docker engine.
type Engine struct {
	api  *client.Client
	info system.Info
	host string
}

// Open connects to the engine at an address, "" for the environment's. It returns docker.ErrNoEngine when none answers.
func Open(ctx context.Context, host string) (*Engine, error) {
	api, info, err := docker.Connect(ctx, host)
	if err != nil {
		return nil, err
	}
	return &Engine{api, info, host}, nil
}

// Close ends the connection.
func (e *Engine) Close() error { return e.api.Close() }

// About is the engine in a few words for people: version, architecture, cores, and bytes of memory.
func (e *Engine) About() (version, arch string, cpus int, memory int64) {
	return e.info.ServerVersion, e.info.Architecture, e.info.NCPU, e.info.MemTotal
}
