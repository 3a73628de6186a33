//go:build !unix

package main

import "net"

// readNow cannot tell here what has come: a connection that was given up during a
// stall is made all the same.
func readNow(*net.TCPConn, []byte) (n int, err error) { return 0, nil }
