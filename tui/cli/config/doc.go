// Package config reads the configuration file: clusters with their name servers, TLS and
// credentials, the consumer's options, the screen and its keys. A value that is wrong is an
// Error that names the file, the line and the key.
//
// It knows no flags and no command. Secrets are read by it, kept as Secret, and never
// printed.
package config
