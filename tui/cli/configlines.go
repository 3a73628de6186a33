package cli

import (
	"regexp"
	"strings"
)

// keyIndex gives the line of each key of a TOML text, by its full path. The
// library tells lines of syntax errors only.
type keyIndex map[string]int

const (
	bareOrQuoted = `(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')`
	dottedKey    = bareOrQuoted + `(?:\s*\.\s*` + bareOrQuoted + `)*`
)

var (
	tableLine = regexp.MustCompile(`^\s*\[\[?\s*(` + dottedKey + `)\s*\]\]?\s*(?:#.*)?$`)
	keyLine   = regexp.MustCompile(`^\s*(` + dottedKey + `)\s*=`)
	keyPart   = regexp.MustCompile(bareOrQuoted)
)

// keyLines indexes a text that has been parsed, so that it is known to be TOML.
// Keys inside an inline table are found by the line of the table.
func keyLines(text string) keyIndex {
	index := keyIndex{}
	var table []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if m := tableLine.FindStringSubmatch(line); m != nil {
			table = splitKey(m[1])
			index.note(table, i+1)
			continue
		}
		if m := keyLine.FindStringSubmatch(line); m != nil {
			index.note(append(table[:len(table):len(table)], splitKey(m[1])...), i+1)
		}
	}
	return index
}

func splitKey(s string) []string {
	parts := keyPart.FindAllString(s, -1)
	for i, p := range parts {
		parts[i] = strings.Trim(p, `"'`)
	}
	return parts
}

func (k keyIndex) note(key []string, line int) {
	for n := len(key); n > 0; n-- {
		path := strings.Join(key[:n], "\x00")
		if _, known := k[path]; known {
			return
		}
		k[path] = line
	}
}

// find returns the line of a key, or of the nearest table around it; 0 when
// there is none.
func (k keyIndex) find(key []string) int {
	for n := len(key); n > 0; n-- {
		if line, ok := k[strings.Join(key[:n], "\x00")]; ok {
			return line
		}
	}
	return 0
}
