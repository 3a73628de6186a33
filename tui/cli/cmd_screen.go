package cli

import (
	"context"
	"errors"

	"eyeq/remoting"
)

// runScreen shows the screen on the configured cluster until the operator leaves: what
// eyeq does without a command.
func runScreen(ctx context.Context, e *env, _ []string) error {
	c, err := e.loadConfig()
	if err != nil {
		return err
	}
	t, err := e.target(c)
	switch {
	case errors.Is(err, errNoCluster) && e.flags == (commonFlags{timeout: e.flags.timeout}):
		return e.command.Help() // somebody's first call
	case err != nil:
		return err
	}
	if e.flags.plain || !e.onTerminal() {
		why := "the screen needs a terminal"
		if e.dumb() && e.interactive() {
			why += " that can draw, and TERM=dumb says that this one cannot"
		}
		return &usageError{
			Err:  errors.New(why),
			Hint: "'eyeq group list' and 'eyeq group lag GROUP' print the same, also with -o json.",
		}
	}
	e.cluster = t.name
	client, err := e.newClient(t, nil)
	if err != nil {
		return err
	}
	s := &screenClusters{e: e, c: c, clients: map[*remoting.Client]bool{client: true}}
	defer s.close()
	if err := e.checkKeys(ctx, client); err != nil {
		return err
	}
	o := s.options(t, client)
	o.Switch, o.Asks = s.open, s.asks
	return e.screenRun(ctx, o, func(ctx context.Context) error { <-ctx.Done(); return nil })
}
