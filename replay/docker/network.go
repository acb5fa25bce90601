package docker

import (
	"fmt"
	"maps"
	"os"

	"sluice/replay"
)

// NetworkOptions are for building environments only: a running test has no network at all.
type NetworkOptions struct {
	Mode string // the engine's network for install containers; "" = "bridge"
	// Env holds proxies and package mirrors, as variables for install steps; nil = HostNetwork(). It ranks above a
	// recipe's own variables, and below a step's.
	Env map[string]string
	// CAFile is the bundle of certificate authorities that install steps trust; "" = the host's, "none" = the image's.
	// It is in the container only while it builds: neither the image nor its environment keeps it.
	CAFile string
}

// hostNetwork are the variables that say how this host reaches package registries.
var hostNetwork = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"GOPROXY", "GONOPROXY", "GOPRIVATE", "GONOSUMDB", "GOSUMDB",
	"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT",
	"DEBIAN_MIRROR", // for the step that installs Debian packages
	"npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY", "MAVEN_MIRROR_URL", "GRADLE_DISTRIBUTIONS_URL",
	"CARGO_HTTP_PROXY", "RUSTUP_DIST_SERVER",
}

// HostNetwork returns the proxies and package mirrors that this process's environment names.
func HostNetwork() map[string]string {
	env := map[string]string{}
	for _, k := range hostNetwork {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	return env
}

// caVariables are read by OpenSSL and Go, requests, pip, curl, git, Node and cargo.
var caVariables = []string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO",
}

var hostBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
}

// bundle returns the certificate authorities for install steps, or nil.
func (n NetworkOptions) bundle() ([]byte, error) {
	if n.CAFile == "none" {
		return nil, nil
	}
	if n.CAFile != "" {
		return readBundle(n.CAFile)
	}
	if f := os.Getenv("SSL_CERT_FILE"); f != "" {
		return readBundle(f)
	}
	for _, f := range hostBundles {
		if b, err := os.ReadFile(f); err == nil {
			return b, nil
		}
	}
	return nil, nil
}

func readBundle(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities: %w", err)
	}
	return b, nil
}

// secrets are what steps with the network must not print.
func (n NetworkOptions) secrets() replay.Secrets { return replay.SecretsOf(n.installEnv(false)) }

// installEnv is what install steps see beside the recipe's variables: nothing of it reaches the image.
func (n NetworkOptions) installEnv(withCA bool) map[string]string {
	env := n.Env
	if env == nil {
		env = HostNetwork()
	}
	env = maps.Clone(env)
	if env == nil {
		env = map[string]string{}
	}
	for k, v := range map[string]string{
		"GOTOOLCHAIN": "auto", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1",
		"XDG_CACHE_HOME": "/tmp/cache", "DEBIAN_FRONTEND": "noninteractive", "GIT_TERMINAL_PROMPT": "0",
	} {
		if _, ok := env[k]; !ok {
			env[k] = v
		}
	}
	if withCA {
		for _, k := range caVariables {
			env[k] = caFile
		}
	}
	return env
}
