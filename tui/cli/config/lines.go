package config

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyIndex gives the line of each key of a TOML text, by its full path. The
// library that decodes the text tells lines of syntax errors only, so this one
// reads it once more for its positions.
type keyIndex map[string]int

// KeyLines indexes a text that has been decoded, so that it is known to be TOML.
// A key that stands in several places (the table of dotted keys) has its first.
func KeyLines(text string) keyIndex {
	index := keyIndex{}
	var p unstable.Parser
	p.Reset([]byte(strings.TrimPrefix(text, "\ufeff")))
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = index.note(&p, nil, e.Key())
		case unstable.KeyValue:
			index.noteValue(&p, table, e)
		}
	}
	return index
}

// noteValue notes the key of a key and value below table, and those of the inline
// table that the value may be.
func (k keyIndex) noteValue(p *unstable.Parser, table []string, e *unstable.Node) {
	key := k.note(p, table, e.Key())
	if value := e.Value(); value.Kind == unstable.InlineTable {
		for children := value.Children(); children.Next(); {
			k.noteValue(p, key, children.Node())
		}
	}
}

// note notes a key that stands below table, with each table that it names, and
// returns its full path.
func (k keyIndex) note(p *unstable.Parser, table []string, parts unstable.Iterator) []string {
	key := slices.Clone(table)
	for parts.Next() {
		part := parts.Node()
		key = append(key, string(part.Data))
		path := strings.Join(key, "\x00")
		if _, known := k[path]; !known {
			k[path] = p.Shape(part.Raw).Start.Line
		}
	}
	return key
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
