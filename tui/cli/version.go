package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionJSON is what was built, from which commit, with which Go, for what. The
// commit is null where the build does not know it.
type versionJSON struct {
	Version string  `json:"version"`
	Commit  *string `json:"commit"`
	Go      string  `json:"go"`
	OS      string  `json:"os"`
	Arch    string  `json:"arch"`
}

// String is one line.
func (v versionJSON) String() string {
	commit := ""
	if v.Commit != nil {
		commit = " " + (*v.Commit)[:min(12, len(*v.Commit))]
	}
	return fmt.Sprintf("eyeq %s%s %s %s/%s", v.Version, commit, v.Go, v.OS, v.Arch)
}

func versionOf() versionJSON {
	v := versionJSON{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = cmp.Or(info.Main.Version, v.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && s.Value != "" {
				v.Commit = &s.Value
			}
		}
	}
	return v
}

// versionText is the version in one line.
func versionText() string { return versionOf().String() }
