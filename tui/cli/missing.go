package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
)

// guidedError adds to an error what to do next, which only the cluster's names can say.
type guidedError struct {
	error
	todo string
}

// Unwrap gives the error that was met.
func (e *guidedError) Unwrap() error { return e.error }

// nameLists are the commands that list each kind of name, and how to ask for the names.
var nameLists = map[string]struct {
	command string
	names   func(ctx context.Context, x *inspection) []string
}{
	"topic":  {"eyeq topic list", topicNames},
	"group":  {"eyeq group list", groupNames},
	"broker": {"eyeq broker list", brokerNames},
}

// maxNear is how many names are told that are near to one that does not exist.
const maxNear = 3

// guide adds to an error about a name that does not exist which command lists the names
// there are, and those near to it. Other errors stay as they are.
func (e *env) guide(ctx context.Context, err error) error {
	kind, name := missingName(err)
	list, ok := nameLists[kind]
	if !ok || ctx.Err() != nil {
		return err
	}
	c, broken := e.loadConfig()
	if broken != nil {
		return err
	}
	t, broken := e.target(c)
	if broken != nil {
		return err
	}
	todo := fmt.Sprintf("'%s%s' shows which there are", list.command, t.flags)
	if near := nearNames(name, e.names(ctx, t, list.names)); len(near) > 0 {
		todo = fmt.Sprintf("did you mean %s? %s", strings.Join(near, " or "), todo)
	}
	return &guidedError{err, todo}
}

// missingName is which name an error says does not exist; a kind of "" is none.
func missingName(err error) (kind, name string) {
	if nf, ok := errors.AsType[*notFoundError](err); ok {
		return nf.kind, nf.name
	}
	// A master that is away has a name that brokers are listed under.
	if nb, ok := errors.AsType[*remoting.NoBrokerError](err); ok && !nb.Master {
		return "broker", nb.BrokerName
	}
	return "", ""
}

// names asks for the names of a kind, for a moment only. A command that gives the secret
// key is not run once more for it: it may ask the operator.
func (e *env) names(ctx context.Context, t *target, names func(ctx context.Context, x *inspection) []string) []string {
	if t.cluster.Auth.SecretKeyCommand != "" && !t.secretKey.IsSet() {
		return nil
	}
	client, err := e.quietClient(t, nil)
	if err != nil {
		return nil
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, completionLimit)
	defer cancel()
	return typable(names(ctx, &inspection{e.inspector(client, t), client, t}))
}

// nearNames are the few names of a list that may have been meant by name, nearest first:
// of a few letters' difference, or those that hold it.
func nearNames(name string, list []string) []string {
	if name == "" {
		return nil
	}
	wanted := strings.ToLower(name)
	limit := max(1, len(wanted)/4)
	far := map[string]int{}
	for _, n := range list {
		have := strings.ToLower(n)
		if n == name { // it is there, and something else is wrong
			continue
		}
		if d := len(have) - len(wanted); max(d, -d) <= limit {
			if d = letters(wanted, have); d <= limit {
				far[n] = d
				continue
			}
		}
		if len(wanted) > 2 && strings.Contains(have, wanted) {
			far[n] = limit + 1
		}
	}
	near := sortedKeys(far)
	slices.SortStableFunc(near, func(a, b string) int { return far[a] - far[b] })
	return near[:min(len(near), maxNear)]
}

// letters is how many bytes must be put in, left out or replaced to make b of a.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// noSuch says that there is nothing of a name, as far as all brokers and name servers say.
func noSuch(kind, name string) *notFoundError {
	return &notFoundError{What: fmt.Sprintf("there is no %s %q on this cluster", kind, name), kind: kind, name: name}
}

// maxTold is how many names are told of what there is instead of what does not exist.
const maxTold = 4

// thereIs names what there is instead of what does not exist.
func thereIs(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", what, listText(names, maxTold))
}

func brokerNames(ctx context.Context, x *inspection) []string {
	all, _ := x.Brokers(ctx) // without an answer there is nothing to complete
	var names []string
	for i := range all.Brokers {
		names = append(names, all.Brokers[i].Broker)
	}
	return slices.Compact(names)
}
