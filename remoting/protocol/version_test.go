package protocol

import "testing"

// The numbers are those of MQVersion.
func TestVersionText(t *testing.T) {
	tests := map[int32]string{
		213: "V4_0_0", 253: "V4_2_0", 317: "V4_5_2", 355: "V4_7_1", 393: "V4_9_0", 399: "V4_9_3", 407: "V4_9_7", 409: "V4_9_8",
		412: "V5_0_0_SNAPSHOT", 433: "V5_1_0", 453: "V5_2_0", 479: "V5_3_3", 493: "V5_4_0", 611: "V5_9_9",
		612: "HIGHER_VERSION", 700: "HIGHER_VERSION", 63: "version 63", 0: "version 0",
	}
	for version, want := range tests {
		if got := VersionText(version); got != want {
			t.Errorf("VersionText(%d) = %q, want %q", version, got, want)
		}
	}
}
