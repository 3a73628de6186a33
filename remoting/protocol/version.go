package protocol

import "fmt"

// The versions of 4.0.0 on are counted by twos, a snapshot and a release, ten a
// minor version; before, minor versions are of different lengths.
const (
	version4 = 212 // V4_0_0_SNAPSHOT
	// versionHigher stands for all later ones.
	versionHigher = 612
)

// VersionText gives the name that RocketMQ's tools show for the number which a
// client or broker announces: V5_3_3.
func VersionText(version int32) string {
	switch {
	case version >= versionHigher:
		return "HIGHER_VERSION"
	case version < version4:
		return fmt.Sprintf("version %d", version)
	}
	n := version - version4
	text := fmt.Sprintf("V%d_%d_%d", 4+n/200, n/20%10, n/2%10)
	if n%2 == 0 {
		text += "_SNAPSHOT"
	}
	return text
}
