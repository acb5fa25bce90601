package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"sluice/pipeline/mining"
	"sluice/replay/docker/images"
)

const (
	minFreeBytes = 10 << 30 // below it, environments of a few repositories no longer fit
	probeTimeout = 10 * time.Second
)

// Options of git that sluice uses came with this version (merge-tree --write-tree).
const minGitMajor, minGitMinor = 2, 38

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)(?:\.\d+)*`)

func (a *app) probeGit(ctx context.Context) []checkup {
	c := checkup{
		Name: "git", Required: true, Status: statusMissing, Detail: "not found",
		Help: fmt.Sprintf("install git %d.%d or newer: apt-get install git", minGitMajor, minGitMinor),
	}
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return []checkup{c}
	}
	m := gitVersion.FindStringSubmatch(string(out))
	if m == nil {
		c.Detail = "unknown version: " + short(string(out), 60)
		return []checkup{c}
	}
	c.Detail = m[0]
	major, _ := strconv.Atoi(m[1]) // the pattern holds digits only
	minor, _ := strconv.Atoi(m[2])
	if major > minGitMajor || major == minGitMajor && minor >= minGitMinor {
		c.Status = statusOK
	}
	return []checkup{c}
}

// probeCompiler looks for what building sluice, and Go programs with cgo in the local sandbox, needs.
func (a *app) probeCompiler(context.Context) []checkup {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return []checkup{{Name: "C compiler", Status: statusOK, Detail: path}}
		}
	}
	return []checkup{{
		Name: "C compiler", Status: statusWarning, Detail: "not found",
		Help: "needed to build sluice and, in the local sandbox, Go code with cgo: apt-get install gcc libc6-dev",
	}}
}

func (a *app) probeDocker(ctx context.Context) []checkup {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	engine := checkup{
		Name: "Docker engine", Status: statusMissing, Required: true,
		Help: "install and start it (apt-get install docker.io) and see that you may use it; --sandbox local works without, for repositories that you trust",
	}
	e, err := images.Open(ctx, "")
	if err != nil {
		engine.Detail = short(err.Error(), 120)
		return []checkup{engine}
	}
	defer e.Close()
	version, arch, cpus, memory := e.About()
	engine.Status = statusOK
	engine.Detail = fmt.Sprintf("%s, %s, %d CPUs, %s", version, arch, cpus, humanize.IBytes(uint64(memory)))
	list, err := e.List(ctx)
	if err != nil {
		engine.Status, engine.Detail = statusMissing, short(err.Error(), 120)
		return []checkup{engine}
	}
	return append([]checkup{engine}, imageChecks(list)...)
}

// imageChecks look at the image of each toolchain. Only base is required: the others are for their own languages.
func imageChecks(list []images.Image) []checkup {
	missing := images.Missing(list)
	var checks []checkup
	for _, t := range images.Toolchains() {
		c := checkup{
			Name: "image for " + t.About, Status: statusOK, Required: t.Name == images.Base,
			Help: "make it: sudo sluice images build " + t.Name + " (a few minutes)",
		}
		at := slices.IndexFunc(list, func(i images.Image) bool { return i.Name == t.Image() })
		switch {
		case at < 0 && c.Required:
			c.Status, c.Detail = statusMissing, t.Image()+" is not there"
		case at < 0:
			c.Status, c.Detail = statusWarning, t.Image()+" is not there"
		case slices.ContainsFunc(missing, func(m images.Toolchain) bool { return m.Name == t.Name }):
			c.Status, c.Detail = statusWarning, fmt.Sprintf("%s, %s, is not up to date", t.Image(), bytesOf(list[at].Size))
		default:
			c.Detail = fmt.Sprintf("%s, %s", t.Image(), bytesOf(list[at].Size))
		}
		checks = append(checks, c)
	}
	return checks
}

// probeDisk looks at the folder of the store, or the nearest one above it that exists.
func (a *app) probeDisk(context.Context) []checkup {
	c := checkup{Name: "disk", Status: statusWarning, Help: "free some space, or name a folder elsewhere with --store"}
	dir, err := filepath.Abs(a.opts.store)
	var stat unix.Statfs_t
	for err == nil {
		if err = unix.Statfs(dir, &stat); err != unix.ENOENT || dir == filepath.Dir(dir) {
			break
		}
		dir, err = filepath.Dir(dir), nil
	}
	if err != nil {
		c.Detail = err.Error()
		return []checkup{c}
	}
	free := stat.Bavail * uint64(stat.Bsize)
	c.Detail = fmt.Sprintf("%s free for %s", humanize.IBytes(free), a.opts.store)
	if free >= minFreeBytes {
		c.Status = statusOK
	}
	return []checkup{c}
}

// probeTokens says which of the variables are set. Their values go nowhere.
func (a *app) probeTokens(context.Context) []checkup {
	var checks []checkup
	for _, t := range []struct{ use, help string }{
		{
			strings.Join(mining.GitHubTokenVariables(), " "),
			"only needed for sluice mine github, which may send 60 requests an hour without; git history alone needs none",
		},
		{"ANTHROPIC_API_KEY OPENAI_API_KEY", "only needed for judges that ask a model; without, what rules cannot decide is held"},
	} {
		names := strings.Fields(t.use)
		c := checkup{Name: strings.Join(names, " or "), Status: statusWarning, Detail: "not set", Help: t.help}
		for _, name := range names {
			if a.getenv(name) != "" {
				c.Status, c.Detail = statusOK, name+" is set"
				break
			}
		}
		checks = append(checks, c)
	}
	return checks
}
