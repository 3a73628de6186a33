package protocol

import (
	"strconv"
	"strings"
	"time"
)

// StandardDelayLevels are the delay levels that brokers have unless their configuration
// says otherwise (messageDelayLevel).
const StandardDelayLevels = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"

// ParseDelayLevels reads a broker's messageDelayLevel, such as "1s 5s 1m 2h 1d": the delays
// of the levels from 1 on; nil when it is anything else.
func ParseDelayLevels(text string) (levels []time.Duration) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word[:len(word)-1], 10, 32)
		unit := units[word[len(word)-1]]
		if err != nil || n < 0 || unit == 0 {
			return nil
		}
		levels = append(levels, time.Duration(n)*unit)
	}
	return levels
}
