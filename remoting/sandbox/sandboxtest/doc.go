// Package sandboxtest gives tests a sandbox, and one body of behaviour tests
// both worlds: the sandbox always, a real broker where one is configured.
package sandboxtest
