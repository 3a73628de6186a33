package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// maxCopy is what terminals take at once: many cut an escape sequence of more than
// 100,000 bytes, and this is three quarters of that.
const maxCopy = 72 << 10

// copy asks the terminal to take a text into its clipboard (OSC 52). The sequence
// is one write to the file that the renderer writes to, so it cannot end up inside
// a frame. Whether the terminal does it, it does not say.
func copyText(c page.Commands, out io.Writer, multiplexer string, x page.Copied) tea.Cmd {
	return c.Within(copyLimit, func(context.Context) tea.Msg {
		text, err := x.Text()
		if err != nil {
			return copiedMsg{what: x.What, err: page.ErrorText(err)}
		}
		n := len(text)
		if n > maxCopy {
			end := maxCopy
			for end > maxCopy-utf8.UTFMax && !utf8.RuneStart(text[end]) {
				end--
			}
			text = text[:end]
		}
		seq := osc52.New(text)
		sent := seq.String()
		switch multiplexer {
		case "tmux": // the first is tmux's (set-clipboard), the second the terminal's behind it (allow-passthrough)
			sent += seq.Tmux().String()
		case "screen":
			sent = seq.Screen().String()
		}
		if _, err := io.WriteString(out, sent); err != nil {
			return copiedMsg{what: x.What, err: page.ErrorText(err)}
		}
		return copiedMsg{what: x.What, n: len(text), of: n}
	})
}

const copyLimit = 2 * time.Second

// onCopied tells that the terminal was asked: what it does with a text, it does not say.
func (a *app) onCopied(msg copiedMsg) {
	to := " to the terminal's clipboard"
	if a.env.Options.Multiplexer == "tmux" {
		to = " to tmux, which passes it on with set-clipboard on"
	}
	switch {
	case msg.err != "":
		a.say("copy "+msg.what, msg.err)
	case msg.n < msg.of:
		a.note = note{fmt.Sprintf("sent the first %s of %s of %s", words.Size(int64(msg.n)), words.Size(int64(msg.of)), msg.what) + to, words.Warning, a.env.Now}
	default:
		a.say("sent "+msg.what+", "+words.Size(int64(msg.n))+","+to, "")
	}
}

// copyRow copies what is under the cursor: in one line, or as JSON.
func (a *app) copyRow(asJSON bool) tea.Cmd {
	x, why := a.underCursor(asJSON)
	switch {
	case why != "":
		return a.refuse(why)
	case a.env.Options.Output == nil:
		return a.refuse("there is no terminal to copy to")
	}
	return copyText(a.cmds, a.env.Options.Output, a.env.Options.Multiplexer, x)
}

func (a *app) underCursor(asJSON bool) (x page.Copied, why string) {
	const nothing = "there is nothing under the cursor to copy"
	switch a.shown {
	case page.ViewQueue:
		r := a.queue.Current()
		if r == nil || r.Message == nil {
			return x, nothing
		}
		return a.copyMessage(r, asJSON)
	case page.ViewEvents:
		r := a.events[a.cur].Current()
		if r == nil {
			return x, nothing
		}
		return a.copyEvent(r, asJSON)
	case page.ViewLog:
		if i := a.log.List.Cursor(); !asJSON && i < len(a.log.Lines) {
			return page.Literal("the line", a.log.Lines[i]), ""
		}
		return x, "only a line of the log can be copied"
	}
	v := &a.live[a.cur]
	switch v.Focus {
	case live.PaneFeed:
		if f := v.Line(); f != nil {
			return a.copyEvent(&f.Row, asJSON)
		}
		return x, nothing
	case live.PaneAlloc:
		id, ok := v.Members.Current()
		if !ok {
			return x, nothing
		}
		if asJSON {
			return a.copyMember(id)
		}
		return page.Literal("the client id", id), ""
	}
	mq, ok := v.Queues.Current()
	s := a.picture().Scene
	if !ok || s.Queue(mq) == nil {
		return x, nothing
	}
	if asJSON && s.Watch != nil {
		return v.CopyWatched(mq), ""
	}
	if asJSON {
		return page.Copied{What: "queue " + draw.SafeText(mq.Short()) + " as JSON", Text: func() (string, error) { return queueJSON(&s.Raw.Queues[s.Index[mq]]) }}, ""
	}
	return page.Literal("the queue's name", draw.SafeText(mq.Topic)+" "+draw.SafeText(mq.Short())), ""
}

// copyMessage copies a message's true bytes, whatever they are, or all of it as JSON.
func (a *app) copyMessage(r *live.HeldRow, asJSON bool) (page.Copied, string) {
	m := r.Message
	if !asJSON {
		return page.Copied{What: "the body at " + words.Grouped(r.Offset), Text: func() (string, error) {
			body, err := m.Body()
			return string(body), err
		}}, ""
	}
	if a.env.Options.MessageJSON == nil {
		return page.Copied{}, "there is no JSON of messages here"
	}
	encode := a.env.Options.MessageJSON
	return page.Copied{What: "the message at " + words.Grouped(r.Offset) + " as JSON", Text: func() (string, error) { return string(encode(m)), nil }}, ""
}

func (a *app) copyEvent(r *words.EventRow, asJSON bool) (page.Copied, string) {
	e, loc, s := r.Event, a.env.Options.Location, a.picture().Scene
	if !asJSON {
		return page.Copied{What: "the event", Text: func() (string, error) { return words.EventLine(e, loc), nil }}, ""
	}
	if a.env.Options.EventJSON == nil || s == nil {
		return page.Copied{}, "there is no JSON of events here"
	}
	encode, group := a.env.Options.EventJSON, s.Raw.Group
	return page.Copied{What: "the event as JSON", Text: func() (string, error) { return string(encode(e, group)), nil }}, ""
}

// copyMember copies a member with what the strategy gives it.
func (a *app) copyMember(id string) (page.Copied, string) {
	s := a.picture().Scene
	if s == nil {
		return page.Copied{}, "there is nothing under the cursor to copy"
	}
	type member struct {
		ClientID string   `json:"client_id"`
		Self     bool     `json:"self"`
		Topic    string   `json:"topic"`
		Queues   []string `json:"queues"`
	}
	return page.Copied{What: "the member as JSON", Text: func() (string, error) {
		list := []member{}
		for i := range s.Raw.Topics {
			for _, m := range s.Raw.Topics[i].Members {
				if draw.SafeText(m.ClientID) != id {
					continue
				}
				queues := []string{}
				for _, mq := range m.Queues {
					queues = append(queues, fmt.Sprintf("%s:%d", mq.BrokerName, mq.QueueID))
				}
				list = append(list, member{m.ClientID, m.Self, s.Raw.Topics[i].Topic, queues})
			}
		}
		if len(list) == 0 {
			return "", errors.New("it is not a member any more")
		}
		return toJSON(list)
	}}, ""
}

// queueJSON is a row of the queue table; what is not known is null.
func queueJSON(q *engine.QueueSnapshot) (string, error) {
	known := func(n int64) *int64 {
		if n == engine.Unknown {
			return nil
		}
		return &n
	}
	own := func(n int64) *int64 {
		if !q.Own {
			return nil
		}
		return &n
	}
	row := struct {
		Topic     string  `json:"topic"`
		Broker    string  `json:"broker"`
		Queue     int32   `json:"queue"`
		Retry     bool    `json:"retry"`
		Owner     *string `json:"client_id"`
		Own       bool    `json:"own"`
		State     string  `json:"state"`
		Detail    string  `json:"detail"`
		Min       *int64  `json:"min_offset"`
		Max       *int64  `json:"max_offset"`
		Committed *int64  `json:"committed_offset"`
		Persisted *int64  `json:"persisted_offset"`
		Next      *int64  `json:"next_offset"`
		Lag       *int64  `json:"lag"`
		CachedMin *int64  `json:"cached_min_offset"`
		CachedMax *int64  `json:"cached_max_offset"`
		Cached    *int64  `json:"cached_count"`
		Done      *int64  `json:"cached_done"`
		Bytes     *int64  `json:"cached_bytes"`
		Span      *int64  `json:"span"`
		Held      *int64  `json:"held"`
		Flow      *string `json:"flow"`
		Locked    *bool   `json:"locked"`
	}{
		Topic: q.Topic, Broker: q.BrokerName, Queue: q.QueueID, Retry: q.Retry, Own: q.Own, State: q.State.String(), Detail: q.Detail,
		Min: known(q.MinOffset), Max: known(q.MaxOffset), Committed: known(q.CommittedOffset), Persisted: known(q.PersistedOffset), Next: known(q.NextOffset),
		CachedMin: known(q.CachedMin), CachedMax: known(q.CachedMax), Cached: own(q.CachedCount), Done: own(q.CachedDone), Bytes: own(q.CachedBytes),
		Span: own(q.Span), Held: own(q.Held),
	}
	if q.Owner != "" {
		row.Owner = &q.Owner
	}
	if lag, ok := live.LagOf(q); ok {
		row.Lag = &lag
	}
	if q.Own && q.Flow != core.FlowNone {
		cause := q.Flow.String()
		row.Flow = &cause
	}
	if q.Own {
		row.Locked = &q.Locked
	}
	return toJSON(row)
}

func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(inspect.PlainJSON(b)), err
}
