// Package protocol turns RocketMQ's bytes into structs and back. It is pure: no
// network, no clock, no goroutine, no logger; every function may be called from
// any goroutine.
//
// Frames of the remoting protocol are in command.go and command_*.go, their codes
// in code.go and codename.go, the pull request of the steady state in
// pullrequest.go. Typed headers are in header_*.go and are read and written by their
// tags (header.go); so are typed bodies (body.go), which are in body_*.go, route.go,
// heartbeat.go, subscription.go and runninginfo.go. lenient.go reads the brokers' JSON
// that is not JSON. Stored messages are in messageext.go (as a
// view) and record.go (laid open), with property.go, messageid.go, batch.go and
// compress.go.
//
// Bodies have an Encode function that writes exactly what a broker or Java client
// writes (object and integer keys where Java has them, sorted where Java leaves
// the order to a hash map), and a Decode function that also reads the other known
// forms (fastjson).
//
// What is decoded is bounded before it is allocated, and decoders refuse but
// never panic. What is decoded in place (commands, messages, batches) points into
// the frame, which must not change afterwards.
//
// It imports the standard library and the compression libraries, nothing else.
package protocol
