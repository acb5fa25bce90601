//go:build linux

package local

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// places are where a step finds things; inside its own root if it has one, else on the host.
type places struct {
	tree, out, env, home, tmp string
	goCache                   string
}

func (p places) expand(s string) string {
	return strings.NewReplacer("{tree}", p.tree, "{out}", p.out, "{env}", p.env).Replace(s)
}

// environ is a step's whole environment: nothing is inherited. Later layers win.
func (p places) environ(path string, layers ...map[string]string) []string {
	all := map[string]string{
		"PATH": path, "HOME": p.home, "TMPDIR": p.tmp, "USER": "root", "SHELL": "/bin/sh",
		"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0",
		"GOCACHE": p.goCache, "GOMODCACHE": modCache(p.env), "GOTOOLCHAIN": "local", "GOTELEMETRY": "off",
		"PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
		// The tree is no git repository, but a folder above it may be one.
		"GIT_CEILING_DIRECTORIES": filepath.Dir(p.tree),
	}
	for _, layer := range layers {
		for k, v := range layer {
			all[k] = p.expand(v)
		}
	}
	vars := make([]string, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		vars = append(vars, k+"="+all[k])
	}
	return vars
}

func modCache(env string) string { return filepath.Join(env, "home/go/pkg/mod") }

func buildCache(home string) string { return filepath.Join(home, ".cache/go-build") }

// offline keeps tools from waiting for a network that is not there.
var offline = map[string]string{"GOPROXY": "off", "GOSUMDB": "off", "PIP_NO_INDEX": "1"}

// networkNames are the variables of this process that Install sees, as patterns.
var networkNames = []string{
	"*_PROXY", "*_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "*_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS",
	"PIP_*", "UV_*", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE",
	"npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_cafile", "YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY", "MAVEN_MIRROR_URL", "GRADLE_DISTRIBUTIONS_URL",
	"CARGO_HTTP_PROXY", "CARGO_HTTP_CAINFO", "RUSTUP_DIST_SERVER",
}

// vars are the variables of Install that configure the network.
func (n Network) vars() map[string]string {
	vars := maps.Clone(n.Vars)
	if vars == nil {
		vars = pick(os.Environ(), networkNames)
	}
	if n.CABundle != "" {
		for _, k := range []string{"SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO"} {
			vars[k] = n.CABundle
		}
	}
	return vars
}

func pick(environ, patterns []string) map[string]string {
	vars := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		match := func(p string) bool { ok, _ := path.Match(p, k); return ok }
		if slices.ContainsFunc(patterns, match) && !strings.HasPrefix(k, "UV_PUBLISH_") { // nothing is published
			vars[k] = v
		}
	}
	return vars
}

// files are the files and folders of the host that the variables name: Install must see them.
func files(vars map[string]string) []string {
	var found []string
	for _, k := range slices.Sorted(maps.Keys(vars)) {
		for _, p := range strings.FieldsFunc(vars[k], func(r rune) bool { return r == ':' || r == ' ' }) {
			if filepath.IsAbs(p) && p != "/" && exists(p) {
				found = append(found, filepath.Clean(p))
			}
		}
	}
	return slices.Compact(found)
}
