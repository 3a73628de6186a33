//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import "context"

// lockFile does nothing: see LocalFile.
func lockFile(context.Context, string) (unlock func(), err error) { return func() {}, nil }

// syncDir does nothing: a folder cannot be synced here.
func syncDir(string) error { return nil }
