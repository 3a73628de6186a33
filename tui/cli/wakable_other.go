//go:build !unix

package cli

// wakable is for systems that stop no process at a key.
func wakable() bool { return false }
