package tail

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// FilterHelp is what the filter bar of a tail takes.
const FilterHelp = "text  ~regexp  .jq > 1  tag:A||B  key:K  prop:NAME=VALUE"

// ParseTailFilter reads what was typed into the filter bar of a tail: tag:A||B, key:K
// and prop:NAME=VALUE, then one of a text (any case), ~regexp or a jq program, which
// begins with a dot or with jq:.
func ParseTailFilter(text string) (message.Filter, error) {
	f := message.Filter{}
	rest := strings.TrimSpace(text)
	for rest != "" {
		word, after, _ := strings.Cut(rest, " ")
		name, value, named := strings.Cut(word, ":")
		switch {
		case named && name == "tag" && value != "":
			f.Tags = value
		case named && name == "key" && value != "":
			f.Key = value
		case named && name == "prop":
			property, is, ok := strings.Cut(value, "=")
			if !ok || property == "" {
				return f, errors.New("prop: needs NAME=VALUE")
			}
			if f.Properties == nil {
				f.Properties = make(map[string]string)
			}
			f.Properties[property] = is
		default:
			return bodyFilter(f, rest)
		}
		rest = strings.TrimSpace(after)
	}
	return checked(f)
}

// bodyFilter reads the part about the body, which is the rest of the line.
func bodyFilter(f message.Filter, rest string) (message.Filter, error) {
	switch {
	case strings.HasPrefix(rest, "jq:"):
		f.JQ = strings.TrimSpace(rest[len("jq:"):])
	case rest[0] == '.':
		f.JQ = rest
	case rest[0] == '~':
		f.Grep = rest[1:]
	case rest[0] == '!' || rest[0] == '>' || rest[0] == '<':
		return f, fmt.Errorf("%c is not known here: %s", rest[0], FilterHelp)
	default:
		f.Grep = "(?i)" + regexp.QuoteMeta(rest)
	}
	return checked(f)
}

// checked compiles a filter, so that an unfinished one is told while it is typed.
func checked(f message.Filter) (message.Filter, error) {
	_, err := f.Compile()
	if _, pattern := errors.AsType[*syntax.Error](err); pattern {
		return f, errors.New(page.PatternFault(err))
	}
	if err != nil {
		return f, errors.New(draw.SafeText(err.Error()))
	}
	return f, nil
}

// Needle is what n and N look for in bodies: nil when the filter is not about them.
func Needle(f message.Filter) *regexp.Regexp {
	if f.Grep == "" {
		return nil
	}
	re, err := regexp.Compile(f.Grep)
	if err != nil {
		return nil
	}
	return re
}
