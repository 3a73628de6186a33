package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/itchyny/gojq"
)

const (
	// programTime is how long a program may run on one message: one that takes longer
	// on each would stop a tail.
	programTime = 200 * time.Millisecond
	// programRow is how many messages in a row may each cost all of programTime before
	// the program is given up: on ten thousand it would take half an hour to match none.
	programRow = 20
	// programBody bounds the bodies that are taken apart for a program: the parsed
	// form takes some ten times as much.
	programBody = 16 << 20
	// programDigits bounds a number: to reckon with one takes time that grows with the
	// square of its digits, and is not interrupted. One of 4 MiB takes half a minute.
	programDigits = 10_000
)

// program is a compiled jq program. It gets no environment, no modules and no input
// but the message.
type program struct {
	code *gojq.Code
	need [][]byte // texts without which a body cannot match; see needed
}

func compileProgram(text string) (*program, error) {
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, programError(text, err)
	}
	need := needed(q)
	boundSteps(q)
	code, err := gojq.Compile(q, boundedFunctions()...)
	if err != nil {
		return nil, err
	}
	return &program{code: code, need: need}, nil
}

// programError says where a program is wrong.
func programError(text string, err error) error {
	bad, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return err
	}
	if bad.Token == "" {
		return fmt.Errorf("%q ends too early", text)
	}
	return fmt.Errorf("%q is not expected at character %d of %q", bad.Token, max(bad.Offset-len(bad.Token), 0)+1, text)
}

// match reports whether any of the program's results is neither false nor null.
func (p *program) match(ctx context.Context, body []byte) (bool, error) {
	if !mayMatch(body, p.need) {
		return false, nil
	}
	if len(body) > programBody {
		return false, fmt.Errorf("a body of more than %d MiB", programBody>>20)
	}
	v, err := parseJSON(body)
	if err != nil {
		return false, err
	}
	if len(body) > programDigits && hasEndlessNumber(v) {
		return false, fmt.Errorf("a number of more than %d digits", programDigits)
	}
	limited, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	results := p.code.RunWithContext(limited, v)
	for {
		v, ok := results.Next()
		if !ok {
			return false, nil
		}
		switch v := v.(type) {
		case error:
			if halt, ok := errors.AsType[*gojq.HaltError](v); ok && halt.Value() == nil {
				return false, nil
			}
			if errors.Is(v, context.DeadlineExceeded) {
				return false, errEndless
			}
			return false, v
		case nil:
		case bool:
			if v {
				return true, nil
			}
		default:
			return true, nil
		}
	}
}

var (
	errEndless = fmt.Errorf("the program took longer than %v", programTime)
	errGivenUp = fmt.Errorf("the program was given up: it took longer than %v on %d messages in a row", programTime, programRow)
)

var errNotJSON = errors.New("the body is not JSON")

// parseJSON reads a whole body as one JSON value; numbers keep their digits.
func parseJSON(body []byte) (any, error) {
	if !looksLikeJSON(body) {
		return nil, errNotJSON
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errNotJSON
	}
	if len(bytes.TrimLeft(body[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, errNotJSON
	}
	return v, nil
}

// hasEndlessNumber reports whether a number in v is longer than a program may meet.
func hasEndlessNumber(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return len(v) > programDigits
	case []any:
		return slices.ContainsFunc(v, hasEndlessNumber)
	case map[string]any:
		for _, each := range v {
			if hasEndlessNumber(each) {
				return true
			}
		}
	}
	return false
}

// looksLikeJSON looks at the beginning only.
func looksLikeJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 {
		return false
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(body, []byte(word)) {
			return true
		}
	}
	return bytes.IndexByte([]byte(`{["-0123456789`), body[0]) >= 0
}

// needed are texts that a body must hold for a program to match: those that a path
// is compared with, as in `.cur == "CNY" and .amount > 1000`. To look for them costs
// a hundredth of what it takes to parse a body.
func needed(q *gojq.Query) [][]byte {
	if q == nil || len(q.FuncDefs) > 0 || q.Meta != nil || len(q.Imports) > 0 {
		return nil
	}
	if q.Term != nil {
		switch t := q.Term; {
		case t.Type == gojq.TermTypeQuery && len(t.SuffixList) == 0:
			return needed(t.Query)
		case t.Type == gojq.TermTypeFunc && t.Func.Name == "select" && len(t.Func.Args) == 1 && len(t.SuffixList) == 0:
			return needed(t.Func.Args[0])
		}
		return nil
	}
	switch q.Op {
	case gojq.OpAnd:
		return append(needed(q.Left), needed(q.Right)...)
	case gojq.OpEq:
		for _, side := range [][2]*gojq.Query{{q.Left, q.Right}, {q.Right, q.Left}} {
			if text, ok := literal(side[1]); ok && isPath(side[0]) {
				return [][]byte{[]byte(text)}
			}
		}
	}
	return nil
}

// literal is the text of a plain string that JSON needs no escape for.
func literal(q *gojq.Query) (string, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeString || len(q.Term.SuffixList) > 0 || len(q.Term.Str.Queries) > 0 {
		return "", false
	}
	text := q.Term.Str.Str
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' || r == '\uFFFD' {
			return "", false
		}
	}
	return text, text != ""
}

// isPath reports whether a query is .a.b, which gives a value of the body or null.
func isPath(q *gojq.Query) bool {
	if q.Term == nil || q.Term.Type != gojq.TermTypeIndex && q.Term.Type != gojq.TermTypeIdentity {
		return false
	}
	if i := q.Term.Index; i != nil && (i.Start != nil || i.End != nil || i.Str != nil) {
		return false
	}
	for _, s := range q.Term.SuffixList {
		if s.Index == nil || s.Index.Start != nil || s.Index.End != nil || s.Index.Str != nil {
			return false
		}
	}
	return true
}

// mayMatch reports whether a body holds all texts, as they are or, where it has an
// escape, perhaps in another spelling. What does not look like JSON goes on to be
// counted as such.
func mayMatch(body []byte, texts [][]byte) bool {
	if len(texts) == 0 || bytes.IndexByte(body, '\\') >= 0 || !looksLikeJSON(body) {
		return true
	}
	for _, text := range texts {
		if !bytes.Contains(body, text) {
			return false
		}
	}
	return true
}
