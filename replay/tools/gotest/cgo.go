package gotest

import (
	"bufio"
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/debian"
)

// cgoNeeds are the C libraries that Go files name in #cgo lines.
type cgoNeeds struct {
	packages map[string]bool // Debian's names
	unknown  map[string]bool // names for pkg-config that the table does not have
	plain    bool            // code of the project calls C that needs nothing else
}

var cgoLine = regexp.MustCompile(`^\s*(?://|\*)?\s*#cgo\s+([^:]*?)\s*(pkg-config|LDFLAGS)\s*:\s*(.*)$`)

var includeLine = regexp.MustCompile(`^\s*(?://|\*)?\s*#\s*include\s+<([^>]+)>`)

// read gathers what a file needs, if it is compiled for the target at all. own: it is the project's and not vendored.
func (c *cgoNeeds) read(f replay.File, own bool) {
	if !bytes.Contains(f.Data, []byte(`"C"`)) || !matches(f) {
		return
	}
	plain := true
	for s := bufio.NewScanner(bytes.NewReader(f.Data)); s.Scan(); {
		if strings.HasPrefix(s.Text(), `import "C"`) {
			break
		}
		if m := includeLine.FindStringSubmatch(s.Text()); m != nil {
			c.add(headers[m[1]])
			plain = plain && headers[m[1]] == ""
		}
		m := cgoLine.FindStringSubmatch(s.Text())
		if m == nil || !forTarget(m[1]) {
			continue
		}
		for _, w := range strings.Fields(m[3]) {
			plain = c.word(m[2] == "pkg-config", w, own) && plain
		}
	}
	c.plain = c.plain || own && plain
}

// word adds one library; it reports whether that is none.
func (c *cgoNeeds) word(pkgConfig bool, w string, own bool) bool {
	if !pkgConfig {
		lib, ok := strings.CutPrefix(w, "-l")
		c.add(libraries[lib])
		return !ok || libraries[lib] == ""
	}
	if strings.HasPrefix(w, "-") {
		return true
	}
	name := strings.TrimFunc(w, func(r rune) bool { return r == '"' || r == '\'' })
	switch list, known := debian.Packages("pkg", name); {
	case known:
		c.add(strings.Join(list, " "))
		return len(list) == 0
	case own:
		if c.unknown == nil {
			c.unknown = map[string]bool{}
		}
		c.unknown[name] = true
	}
	return false
}

func (c *cgoNeeds) add(debian string) {
	if c.packages == nil {
		c.packages = map[string]bool{}
	}
	for _, p := range strings.Fields(debian) {
		c.packages[p] = true
	}
}

// forTarget says that the condition of a #cgo line, such as "linux,amd64 !arm", may hold on the target.
func forTarget(condition string) bool {
	if condition == "" {
		return true
	}
	return slices.ContainsFunc(strings.Fields(condition), func(alternative string) bool {
		return !slices.ContainsFunc(strings.Split(alternative, ","), func(w string) bool {
			name, negated := strings.CutPrefix(w, "!")
			is := name == "linux" || name == "amd64" || name == "cgo" || name == "unix"
			return is == negated
		})
	})
}

// require adds what modules need whose code is not in the tree.
func (c *cgoNeeds) require(paths []string) {
	for _, p := range paths {
		for prefix, debian := range bindings {
			if p == prefix || strings.HasPrefix(p, prefix+"/") {
				c.add(debian)
			}
		}
	}
}

// apply adds the libraries to a recipe.
func (c *cgoNeeds) apply(r *replay.Recipe) {
	if len(c.packages) > 0 {
		r.Install = append([]replay.Step{debian.Install(slices.Sorted(maps.Keys(c.packages)))}, r.Install...)
	}
	if len(c.unknown) == 0 {
		return
	}
	note := "no Debian package is known for the C libraries " + strings.Join(slices.Sorted(maps.Keys(c.unknown)), ", ")
	if len(c.packages) == 0 && !c.plain {
		r.Env["CGO_ENABLED"] = "0"
		note += ": cgo is switched off"
	}
	r.Notes = append(r.Notes, note)
}

// Debian's packages by what names the library: behind -l, by its header, and by modules that bind it; names for pkg-config are in the table
// of package debian. Only what Go projects are known to use; names as in Debian 13.
var (
	libraries = map[string]string{
		"acl": "libacl1-dev", "apparmor": "libapparmor-dev", "assuan": "libassuan-dev", "btrfs": "libbtrfs-dev", "cap": "libcap-dev",
		"crypto": "libssl-dev", "devmapper": "libdevmapper-dev", "gpgme": "libgpgme-dev", "lz4": "liblz4-dev", "pam": "libpam0g-dev",
		"pcap": "libpcap-dev", "seccomp": "libseccomp-dev", "sqlite3": "libsqlite3-dev", "ssl": "libssl-dev",
		"systemd": "libsystemd-dev", "udev": "libudev-dev", "z": "zlib1g-dev", "zmq": "libzmq3-dev", "zstd": "libzstd-dev",
	}
	headers = map[string]string{
		"btrfs/ioctl.h": "libbtrfs-dev", "btrfs/ctree.h": "libbtrfs-dev", "gpgme.h": "libgpgme-dev", "libdevmapper.h": "libdevmapper-dev",
		"pcap.h": "libpcap-dev", "seccomp.h": "libseccomp-dev", "security/pam_appl.h": "libpam0g-dev", "sys/acl.h": "libacl1-dev",
		"sys/capability.h": "libcap-dev", "systemd/sd-daemon.h": "libsystemd-dev", "systemd/sd-journal.h": "libsystemd-dev",
		"xfs/xqm.h": "xfslibs-dev",
	}
	bindings = map[string]string{
		"github.com/ceph/go-ceph": "libcephfs-dev librados-dev librbd-dev", "github.com/containerd/btrfs": "libbtrfs-dev",
		"github.com/containers/storage/drivers/btrfs": "libbtrfs-dev",
		"github.com/coreos/go-systemd/sdjournal":      "libsystemd-dev",
		"github.com/coreos/go-systemd/v22/sdjournal":  "libsystemd-dev",
		"github.com/go-gl/gl":                         "libgl-dev",
		"github.com/go-gl/glfw":                       "libgl-dev libx11-dev libxcursor-dev libxi-dev libxinerama-dev libxrandr-dev libxxf86vm-dev",
		"github.com/google/gopacket/pcap":             "libpcap-dev",
		"github.com/gopacket/gopacket/pcap":           "libpcap-dev",
		"github.com/libgit2/git2go":                   "libgit2-dev",
		"github.com/mtrmac/gpgme":                     "libgpgme-dev",
		"github.com/msteinert/pam":                    "libpam0g-dev",
		"github.com/pebbe/zmq4":                       "libzmq3-dev",
		"github.com/proglottis/gpgme":                 "libgpgme-dev",
		"github.com/seccomp/libseccomp-golang":        "libseccomp-dev",
		"libvirt.org/go/libvirt":                      "libvirt-dev",
		"github.com/libvirt/libvirt-go":               "libvirt-dev",
		"github.com/google/go-tpm-tools/simulator":    "libssl-dev",
		"github.com/mvo5/libseccomp-golang":           "libseccomp-dev",
	}
)
