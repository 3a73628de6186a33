// Package sandboxtest gives tests a sandbox (Start), and one body of behaviour
// tests both worlds (Run): the sandbox of either line always, inside a synctest
// bubble, and the real clusters named by EYEQ_TEST_NAMESRV, like
// "5.3.3=127.0.0.1:9876,4.9.7=127.0.0.1:9877". Without that variable the real
// half is skipped; with EYEQ_TEST_REQUIRE_BROKER=1 it fails instead. What only some
// of them have is for RunIn, which leaves the others out.
//
// Real halves mostly wait, so they run beside each other (as many as -parallel says),
// after the tests of their package that are not parallel. One that looks at the whole
// process asks for Alone.
//
// A body waits for events or asks with a limit (AwaitRoute, AwaitOffset): on a
// real cluster a new topic and a stored message take a moment to be seen.
// Topics and groups get unique names and are deleted at the end of the test.
//
// It owns no state and starts no goroutine of its own. Only tests import it.
package sandboxtest
