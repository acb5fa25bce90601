//go:build linux

package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// systemDirs are the folders of the host that every step sees, read-only. Home folders, /run and /var are not among them:
// they hold secrets and the sockets of services, which a read-only mount does not close.
var systemDirs = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix", "/gnu"}

// secretFiles and secretDirs are hidden within the system folders, since a step runs as the user who may read them.
var (
	secretFiles = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"}
	secretDirs  = []string{"/etc/ssh", "/etc/docker", "/etc/kubernetes", "/etc/ssl/private", "/etc/sudoers.d"}
)

// host is what steps use of the host's programs.
type host struct {
	tools    []string // folders outside of systemDirs
	path     string   // PATH of every step
	versions string   // of go, python3, node and rustc: an environment belongs to them
}

// findHost looks for go, python3, node and rustc where they really are: a shim in PATH needs more of the host than a step sees.
func findHost(tools []string) host {
	goRoot, goVersion := ask("go", "env", "GOROOT", "GOVERSION")
	prefix, pyVersion := ask("python3", "-c", "import sys; print(sys.base_prefix); print(sys.version)")
	nodeRoot, nodeVersion := ask("node", "-p", "path.dirname(path.dirname(process.execPath)) + '\\n' + process.version")
	rust, _ := ask("rustc", "--print", "sysroot")
	rustVersion, _ := ask("rustc", "--version")
	dirs := slices.Concat(tools, []string{goRoot, prefix, nodeRoot, rust}, pyenvVersions())
	h := host{versions: goRoot + " " + goVersion + "\n" + prefix + " " + pyVersion + "\n" + nodeRoot + " " + nodeVersion}
	if rust != "" {
		h.versions += "\n" + rust + " " + rustVersion
	}
	var bins []string
	for _, dir := range dirs {
		if dir == "" || dir == "/usr" || slices.Contains(h.tools, dir) {
			continue
		}
		if bin := filepath.Join(dir, "bin"); isDir(bin) {
			bins = append(bins, bin)
		}
		if !covered(dir, systemDirs) {
			h.tools = append(h.tools, dir)
		}
	}
	bins = append(bins, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
	h.path = strings.Join(slices.Compact(bins), ":")
	return h
}

// ask returns the first two lines that a program of the host prints, or nothing.
func ask(name string, args ...string) (first, second string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = "/" // no go.mod or .python-version must decide
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		return "", ""
	}
	first, second, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, second
}

// pyenvVersions are the other Pythons that an old repository may need, newest names last.
func pyenvVersions() []string {
	root := os.Getenv("PYENV_ROOT")
	if root == "" {
		return nil
	}
	dirs, _ := filepath.Glob(filepath.Join(root, "versions", "*"))
	return dirs
}

// covered says whether path is one of the folders or below one.
func covered(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
