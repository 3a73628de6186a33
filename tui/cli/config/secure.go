package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// fileWait is how long a certificate that comes by a pipe may take.
const fileWait = 10 * time.Second

// Load reads the files that the configuration names, from its folder.
func (c *TLS) Load(folder string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify}
	if c.CA != "" {
		path := InFolder(folder, c.CA)
		text, err := Read(path, fileWait)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca: %s holds no certificate in PEM form", path)
		}
	}
	if c.cert != "" {
		cert, err := loadPair(InFolder(folder, c.cert), InFolder(folder, c.key))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}

// loadPair reads our certificate and its key, which nobody else may read.
func loadPair(cert, key string) (tls.Certificate, error) {
	f, err := openSecret(key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tls.key: %w", err)
	}
	f.Close()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if errors.Is(err, os.ErrNotExist) {
		return pair, fmt.Errorf("tls.cert: %w", err)
	}
	if err != nil {
		return pair, fmt.Errorf("tls.cert %s and tls.key %s: %w", cert, key, err)
	}
	return pair, nil
}
