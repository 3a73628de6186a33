package cli

import (
	"context"
	"log/slog"
	"reflect"
	"strings"

	"eyeq/engine"
	"eyeq/tui/words"
)

// logEvents writes what an engineer looks for afterwards to eyeq's own log: states,
// routes, rebalances, queues taken and given away, locks, errors and operators' acts,
// each with the keys that all of the log has. What comes a message or a pull at a time
// is left out. It returns when the engine has ended.
//
// Who it is about stands behind: on the screen's log the beginning of a line is seen.
func logEvents(ctx context.Context, sub *engine.EventSubscription, log *slog.Logger, who ...slog.Attr) {
	for {
		events, dropped, err := sub.Next(ctx)
		if dropped > 0 {
			log.Warn("events are missing here, they came too fast", "count", dropped)
		}
		for _, ev := range events {
			if worthLogging(ev) {
				log.LogAttrs(ctx, logLevel(ev), ev.EventName(), append(eventAttrs(ev), who...)...)
			}
		}
		if err != nil {
			return
		}
	}
}

// worthLogging leaves out what a busy member does many times a second, and what
// goes as it should each few seconds.
func worthLogging(ev engine.Event) bool {
	switch ev := ev.(type) {
	case engine.HeartbeatSent:
		return ev.Error != ""
	case engine.RebalanceEnd:
		return ev.Added+ev.Dropped > 0 || !ev.Balanced
	case engine.LockRenewed, engine.RebalanceBegin, engine.FlowBegin, engine.FlowEnd, engine.TagsCorrected, engine.PullSuspended,
		engine.ConsumeBegin, engine.ConsumeEnd, engine.ConsumeFailed, engine.SentBack, engine.RetryLocal, engine.RetrySuspend, engine.AdminRequest:
		return false
	}
	return true
}

func logLevel(ev engine.Event) slog.Level {
	if words.IsFailure(ev) {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// eventAttrs are an event's queue and its own fields, by the names of its JSON.
func eventAttrs(ev engine.Event) (attrs []slog.Attr) {
	if mq, ok := ev.About(); ok {
		attrs = append(attrs, slog.String("topic", mq.Topic), slog.String("broker", mq.BrokerName), slog.Int("queue", int(mq.QueueID)))
	}
	v := reflect.ValueOf(ev)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch name {
		case "", "-":
			continue
		case "error":
			name = "err"
		}
		f := v.Field(i)
		if (f.Kind() == reflect.String || f.Kind() == reflect.Slice) && f.Len() == 0 {
			continue
		}
		attrs = append(attrs, slog.Any(name, f.Interface()))
	}
	return attrs
}
