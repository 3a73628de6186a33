package sandboxtest

import (
	"context"
	"testing"
	"time"
)

// awaitTimeout bounds a wait by asking: longer than what busy brokers and members take.
// awaitPause is the time between two questions.
const (
	awaitTimeout = 2 * time.Minute
	awaitPause   = 20 * time.Millisecond
)

// Await asks until done and fails the test when that takes too long. It is for
// what a broker does not tell; what it does tell is waited for by event.
func Await(t testing.TB, what string, done func(context.Context) bool) {
	t.Helper()
	await(t, what, nil, done)
}

// AwaitWithin is Await with a longer limit, for what brokers do only now and then.
func AwaitWithin(t testing.TB, limit time.Duration, what string, done func(context.Context) bool) {
	t.Helper()
	awaitFor(t, limit, what, nil, done)
}

// await also tells the last answer.
func await(t testing.TB, what string, last *string, done func(context.Context) bool) {
	t.Helper()
	awaitFor(t, awaitTimeout, what, last, done)
}

func awaitFor(t testing.TB, limit time.Duration, what string, last *string, done func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	pause := time.NewTicker(awaitPause)
	defer pause.Stop()
	for !done(ctx) {
		select {
		case <-pause.C:
			continue
		case <-ctx.Done():
		}
		if last == nil {
			t.Fatalf("%s: not after %v", what, limit)
		}
		t.Fatalf("%s: not after %v, got %s", what, limit, *last)
	}
}
