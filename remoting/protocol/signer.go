package protocol

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"hash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The ext fields of a signed request (AclClientRPCHook).
const (
	accessKeyField     = "AccessKey"
	securityTokenField = "SecurityToken"
	signatureField     = "Signature"
)

// Signer signs requests as the Java client's AclClientRPCHook does, which is what
// 4.x access control and 5.x authentication both check. Any goroutine may use it.
// Its secret key is behind a function, so that printing a Signer, or what holds one,
// never shows it.
type Signer struct {
	accessKey, securityToken string
	secret                   func() []byte
	macs                     sync.Pool // of *signing
}

// signing is the scratch of one signature.
type signing struct {
	mac   hash.Hash
	order []int
	text  []byte
}

// NewSigner makes a Signer; securityToken may be empty.
func NewSigner(accessKey, secretKey, securityToken string) *Signer {
	key := []byte(secretKey)
	return &Signer{accessKey: accessKey, securityToken: securityToken, secret: func() []byte { return key }}
}

// AccessKey says as whom requests are signed.
func (s *Signer) AccessKey() string { return s.accessKey }

// Sign returns fields with the signer's own and the signature of all of them and the
// body; fields itself is not changed. It comes after everything else that is done to
// a request.
func (s *Signer) Sign(fields ExtFields, body []byte) ExtFields {
	signed := s.extend(fields)
	for i := range signed {
		// A peer that reads UTF-8 would count in what it makes of other bytes.
		if !utf8.ValidString(signed[i].Value) {
			signed[i].Value = strings.ToValidUTF8(signed[i].Value, "\uFFFD")
		}
	}
	w := s.begin()
	w.order = w.order[:0]
	for i := range signed {
		w.order = append(w.order, i)
	}
	slices.SortFunc(w.order, func(a, b int) int { return cmp.Compare(signed[a].Key, signed[b].Key) })
	for _, i := range w.order {
		if f := &signed[i]; f.Key != UniqueKeyQuery {
			w.text = append(w.text, f.Value...)
		}
	}
	w.mac.Write(w.text)
	w.mac.Write(body)
	w.text = w.append(w.text[:0])
	signed = append(signed, ExtField{signatureField, string(w.text)})
	s.macs.Put(w)
	return signed
}

// extend copies fields, with room for the signature, and adds the signer's own.
func (s *Signer) extend(fields ExtFields) ExtFields {
	signed := append(make(ExtFields, 0, len(fields)+3), fields...)
	signed = append(signed, ExtField{accessKeyField, s.accessKey})
	if s.securityToken != "" {
		signed = append(signed, ExtField{securityTokenField, s.securityToken})
	}
	return signed
}

// begin takes a scratch for one signature.
func (s *Signer) begin() *signing {
	w, ok := s.macs.Get().(*signing)
	if !ok {
		w = &signing{mac: hmac.New(sha1.New, s.secret())}
	}
	w.mac.Reset()
	w.text = w.text[:0]
	return w
}

// append appends the signature of what was written.
func (w *signing) append(dst []byte) []byte {
	var sum [sha1.Size]byte
	return base64.StdEncoding.AppendEncode(dst, w.mac.Sum(sum[:0]))
}

// signedAround gives the content of fields before, between and behind the values of
// commitOffset, queueOffset and sysFlag, which are not among them.
func signedAround(fields ExtFields) [4]string {
	for i := range fields {
		fields[i].Value = strings.ToValidUTF8(fields[i].Value, "\uFFFD")
	}
	sorted := slices.SortedFunc(slices.Values(fields), func(a, b ExtField) int { return cmp.Compare(a.Key, b.Key) })
	var parts [4]string
	part := 0
	for _, f := range sorted {
		for part < 3 && f.Key > [...]string{"commitOffset", "queueOffset", "sysFlag"}[part] {
			part++
		}
		parts[part] += f.Value
	}
	return parts
}
