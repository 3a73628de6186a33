package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"eyeq/remoting"
	"eyeq/tui/cli/config"
	"eyeq/tui/page"
)

// screenClusters are the configured clusters that a screen may go to.
type screenClusters struct {
	e *env
	c *config.Config

	mu      sync.Mutex                // guards clients
	clients map[*remoting.Client]bool // that are open; nil once the screen has ended
}

var errScreenEnded = errors.New("the screen has ended")

// options are a screen's for one cluster.
func (s *screenClusters) options(t *target, client *remoting.Client) page.Options {
	o := s.e.targetOptions(s.c, t)
	s.e.inspectOn(&o, s.c, t, client)
	o.Close = func() {
		s.mu.Lock()
		open := s.clients[client]
		delete(s.clients, client)
		s.mu.Unlock()
		if open {
			client.Close()
		}
	}
	return o
}

// open opens another cluster, whose keys are tried at once.
func (s *screenClusters) open(ctx context.Context, name string) (page.Options, error) {
	t, err := s.e.targetNamed(s.c, name, "")
	if err != nil {
		return page.Options{}, withHint(err)
	}
	client, err := s.e.quietClient(t, nil)
	if err != nil {
		return page.Options{}, withHint(err)
	}
	if err := s.e.checkKeys(ctx, client); err != nil {
		client.Close()
		return page.Options{}, withHint(err)
	}
	s.mu.Lock()
	ended := s.clients == nil
	if !ended {
		s.clients[client] = true
	}
	s.mu.Unlock()
	if ended {
		client.Close()
		return page.Options{}, errScreenEnded
	}
	return s.options(t, client), nil
}

// asks reports whether opening a cluster runs a program that may ask for a passphrase.
func (s *screenClusters) asks(name string) bool {
	c := s.c.Clusters[name]
	return c != nil && c.Auth.SecretKeyCommand != ""
}

// close closes what is open when the screen has ended.
func (s *screenClusters) close() {
	s.mu.Lock()
	clients := s.clients
	s.clients = nil
	s.mu.Unlock()
	for client := range clients {
		client.Close()
	}
}

// withHint is an error with what to do instead in one text.
func withHint(err error) error {
	if u, ok := errors.AsType[*usageError](err); ok && u.Hint != "" {
		return fmt.Errorf("%w. %s", err, u.Hint)
	}
	return err
}
