// Package store keeps a group's offsets durable: RemoteBroker at the brokers
// (clustering), LocalFile in the Java client's file (broadcasting). Both satisfy
// the OffsetStore interface that package engine declares, which it does not
// import; the command line introduces them.
//
// A RemoteBroker has no state. A LocalFile owns its file's content in memory
// under a leaf mutex; no lock is held across I/O but the file lock that keeps
// eyeq processes apart. Save starts goroutines for slow brokers and waits for
// them.
package store
