// Package message reads what one message holds: it decompresses a body, decodes it into
// text, and says whether it matches a filter by tags, key, properties, regular expression
// or jq program.
//
// It asks nothing of a cluster. Bodies, programs and patterns are foreign: each is bounded
// in time and memory, and text that comes out of a body is to be made safe before it is
// shown.
package message
