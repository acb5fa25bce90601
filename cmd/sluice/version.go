package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is what this binary was built from.
type versionInfo struct {
	Type     string `json:"type"` // "version"
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this binary was built from",
		Example: `  sluice version --json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if a.opts.json {
				a.emit(v)
				return nil
			}
			a.say("sluice %s %s %s %s", v.Version, v.Revision, v.Go, v.Platform)
			return nil
		},
	}
}

func readVersion() versionInfo {
	v := versionInfo{Type: "version", Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
