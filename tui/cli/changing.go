package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/change"
)

// groupChange is a command that changes a group of the cluster: what its flags say of
// asking first.
type groupChange struct {
	changeFlags
	system string
}

func (f *groupChange) register(fl *pflag.FlagSet) {
	f.changeFlags.register(fl)
	fl.StringVar(&f.system, "system-group", "", "the group's name once more, needed besides --yes for RocketMQ's own groups")
}

// begin connects to the cluster. A change that is not allowed at all is refused before
// its plan is made.
func (f *groupChange) begin(e *env, what string) (*inspection, error) {
	x, err := e.inspection()
	if err != nil {
		return nil, err
	}
	if !f.dryRun {
		if err := x.target.allowChange(what); err != nil {
			x.close()
			return nil, err
		}
	}
	return x, nil
}

// confirmGroup asks for the group's name, and for one of RocketMQ's own a second time.
func (f *groupChange) confirmGroup(ctx context.Context, e *env, t *target, what, group string, system bool) error {
	if system && f.system != group && (f.yes || !e.canAsk()) {
		return &refusedError{fmt.Sprintf("%s is one of RocketMQ's own groups, and %s can break the brokers' own work: it needs --yes and --system-group %s; nothing was changed",
			group, what, change.ShellWord(group))}
	}
	if err := e.confirm(ctx, t, confirmation{what: what, typed: group, flags: f.changeFlags}); err != nil {
		return err
	}
	if !system || f.system == group {
		return nil
	}
	return e.confirm(ctx, t, confirmation{what: "It is one of RocketMQ's own groups, and this can break the brokers' own work: " + what, typed: group, flags: f.changeFlags})
}

// plannedChange is a change of a group that is planned and not yet made.
type plannedChange struct {
	what, group string // in words, and the group whose name is typed
	system      bool   // it is one of RocketMQ's own
	refused     error  // why it cannot be made; nil: it can
	plan        answer
	members     []inspect.MemberEffect // those that may not follow are named where nobody sees the plan
	entry       audit.Entry
	// apply makes it: what is so afterwards, and what failed of it; with err nothing was tried.
	apply func() (after any, failed, err error)
	// result is what has come of it, once apply has made it.
	result func() answer
}

// answer is what a command says, for reading and for scripts.
type answer struct {
	text   []byte
	object any
}

// writeAs puts an answer on standard output in a format of -o.
func (e *env) writeAs(format string, a answer) error {
	if format != "json" {
		return e.write(a.text)
	}
	return e.writeJSON(a.object)
}

func (e *env) writeJSON(object any) error {
	out, err := marshal(object)
	if err != nil {
		return err
	}
	return e.write(out)
}

// carryOut shows a planned change, which is all of a dry run; else it asks, has the change
// made and noted in the audit file, and tells what has come of it.
func (f *groupChange) carryOut(ctx context.Context, e *env, t *target, format string, c *plannedChange) error {
	switch {
	case f.dryRun:
		if err := e.writeAs(format, c.plan); err != nil {
			return err
		}
		return explainChange(c.refused)
	case c.refused != nil:
		e.showPlan(c.plan.text)
		return explainChange(c.refused)
	case f.yes:
		e.warnMembers(c.members)
	case e.canAsk():
		e.showPlan(c.plan.text)
	}
	if err := f.confirmGroup(ctx, e, t, c.what, c.group, c.system); err != nil {
		return err
	}
	applied := false
	err := e.recorded(t, c.entry, func() (any, error) {
		after, failed, err := c.apply()
		if err != nil {
			return nil, err
		}
		applied = true
		return after, failed
	})
	if !applied {
		return explainChange(err)
	}
	if werr := e.writeAs(format, c.result()); werr != nil {
		return werr
	}
	return err
}

// warnMembers names the members that may not follow.
func (e *env) warnMembers(members []inspect.MemberEffect) {
	for _, m := range members {
		if !m.Obeys {
			e.say("member %s (%s %s): %s", m.ClientID, m.Language, m.Version, m.Effect)
		}
	}
}

// explainChange is explain for what only changes end with.
func explainChange(err error) error {
	if e, ok := errors.AsType[*inspect.NotPossibleError](err); ok {
		return &refusedError{e.Why}
	}
	return explain(err)
}

// showPlan writes a plan to standard error, so that who is asked sees what for.
func (e *env) showPlan(plan []byte) { e.stderr.Write(plan) } // nothing can be done without it

// membersText says what a change means for the members, a line each.
func membersText(members []inspect.MemberEffect) []byte {
	var out []byte
	for i, m := range members {
		if i == maxWarnings {
			return append(out, headLine("  … and %d more members", len(members)-i)...)
		}
		mark := " "
		if !m.Obeys {
			mark = "!"
		}
		out = append(out, headLine("%s member %s (%s %s): %s", mark, m.ClientID, m.Language, m.Version, m.Effect)...)
	}
	return out
}

// memberEffectJSON is what a change means for a member.
type memberEffectJSON struct {
	ClientID string `json:"client_id"`
	Language string `json:"language"`
	Version  string `json:"version"`
	Effect   string `json:"effect"`
	Obeys    bool   `json:"obeys"`
}

func memberEffectsJSON(members []inspect.MemberEffect) []memberEffectJSON {
	list := make([]memberEffectJSON, len(members))
	for i, m := range members {
		list[i] = memberEffectJSON(m)
	}
	return list
}

// knownOffset is an offset of a plan for a script: -1 is unknown.
func knownOffset(offset int64) *int64 {
	if offset < 0 {
		return nil
	}
	return &offset
}

// offsetText is an offset of a plan.
func offsetText(offset int64) string {
	if offset < 0 {
		return "–"
	}
	return fmt.Sprint(offset)
}

// write puts the answer on standard output.
func (e *env) write(out []byte) error {
	if _, err := e.stdout.Write(out); err != nil {
		return &outputError{Err: err, Noted: e.noted}
	}
	return nil
}
