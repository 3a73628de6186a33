// Package remoting is the wire: both ends of a connection that speaks RocketMQ's
// remoting protocol, and the typed calls that eyeq makes over it.
//
// Conn is one socket at either end; Client keeps a connection an address, the
// name servers and the routes; Server accepts connections. Bytes become structs
// in package protocol.
//
// Goroutines: each Conn has a read and a write goroutine, which end with it, and
// a third for as long as its ending takes; a Server has its accept loop. A Client
// has one for each dial and each route request under way, since many callers
// share them, and Close waits for all. Typed calls run where they are called, but
// those that may ask several addresses, which wait for a goroutine each.
//
// Who owns what: a Conn its socket, its pending calls and its queue of frames;
// connTable the connections by address and the back-off of dials; routeTable the
// routes and broker addresses. Each has one leaf mutex, which is never held
// across I/O, a channel operation or a callback, so that all of it runs on the
// fake clock of testing/synctest too.
//
// What is bounded: a frame by protocol.MaxFrameLength, a connection's queue of
// frames to be written, the queues of a route, and each call by its context or a
// timeout.
//
// It imports package protocol and the standard library; it knows neither the
// engine nor its configuration.
package remoting
