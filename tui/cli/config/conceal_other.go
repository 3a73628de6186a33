//go:build !linux

package config

// ConcealMemory: there is no such switch here.
func ConcealMemory() {}
