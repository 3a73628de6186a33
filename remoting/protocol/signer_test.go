package protocol

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The recorded programs were all given this key, those that were refused too: they
// had another access key or no rights.
const recordedSecret = "12345678"

func TestSignerSignsAsJavaAndGoClientsDo(t *testing.T) {
	seen := map[string]int{}
	for _, f := range recordedFrames(t) {
		if f.Direction != "request" {
			continue
		}
		c := f.command(t)
		accessKey, _ := c.ExtFields.Get(accessKeyField)
		want, signed := c.ExtFields.Get(signatureField)
		if !signed {
			continue
		}
		var fields ExtFields
		for _, field := range c.ExtFields {
			if field.Key != accessKeyField && field.Key != signatureField {
				fields = append(fields, field)
			}
		}
		got, _ := NewSigner(accessKey, recordedSecret, "").Sign(fields, c.Body).Get(signatureField)
		if got != want {
			t.Errorf("%s: signature %s, want %s", f.File, got, want)
		}
		seen[f.ServerVersion+" "+f.SerializeType]++
	}
	for _, kind := range []string{"4.9.7 JSON", "4.9.7 ROCKETMQ", "5.3.3 JSON", "5.3.3 ROCKETMQ"} {
		if seen[kind] == 0 {
			t.Errorf("no signed frame of %s among %v", kind, seen)
		}
	}
}

func TestSignerLeavesTheFieldsGivenAlone(t *testing.T) {
	fields := append(make(ExtFields, 0, 10), ExtField{"topic", "bad \xff"})
	s := NewSigner("ak", "sk", "token")
	signed := s.Sign(fields, nil)
	if len(fields) != 1 || fields[0].Value != "bad \xff" || fields[:2][1].Key != "" {
		t.Errorf("fields became %q", fields[:2])
	}
	if v, _ := signed.Get("topic"); v != "bad \uFFFD" {
		t.Errorf("topic is sent as %q, want what a reader of UTF-8 makes of it", v)
	}
	if v, _ := signed.Get(securityTokenField); v != "token" {
		t.Errorf("security token %q, want token", v)
	}
	if again := s.Sign(fields, nil); fmt.Sprint(again) != fmt.Sprint(signed) {
		t.Errorf("signed again: %v, before %v", again, signed)
	}
}

// A search by unique key is signed like any other request (AclClientRPCHook).
func TestSignerUniqueKeyQuery(t *testing.T) {
	s := NewSigner("ak", "sk", "")
	without, _ := s.Sign(ExtFields{{"topic", "T"}}, nil).Get(signatureField)
	signed := s.Sign(ExtFields{{"topic", "T"}, {UniqueKeyQuery, "true"}}, nil)
	if with, _ := signed.Get(signatureField); with != without {
		t.Errorf("%s is part of what is signed", UniqueKeyQuery)
	}
	if v, _ := signed.Get(UniqueKeyQuery); v != "true" {
		t.Errorf("%s is not sent", UniqueKeyQuery)
	}
}

func TestSignerNeverShowsItsSecret(t *testing.T) {
	const secret = "s3cr3t-of-nobody"
	s := NewSigner("ak", secret, "")
	s.Sign(nil, []byte("body")) // leaves a scratch behind
	holder := struct{ s *Signer }{s}
	value := struct{ s any }{holder}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{s, holder, &value} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of %T shows the secret: %s", verb, v, text)
			}
		}
	}
}

func TestSignedPullRequest(t *testing.T) {
	s := NewSigner("ak", "sk", "token")
	h := PullMessageRequestHeader{
		ConsumerGroup: `G"`, Topic: "T\xff", QueueID: 3, MaxMsgNums: 32, SuspendTimeout: 15 * time.Second,
		Subscription: "TagA || 值", SubVersion: 1795967180231, ExpressionType: "TAG", MaxMsgBytes: 1, BrokerName: "broker-a",
	}
	e := NewPullRequestEncoder(h, s)
	for _, n := range []int64{0, 7, -1, 1 << 62} {
		h.QueueOffset, h.CommitOffset, h.SysFlag = n, n+1, PullSysFlag(int32(n&0x1F))
		frame := e.AppendFrame(nil, int32(n), h.QueueOffset, h.CommitOffset, h.SysFlag)
		got, err := DecodeCommand(frame[4:])
		if err != nil {
			t.Fatal(err)
		}
		want := s.Sign(EncodeFields(&h), nil)
		if len(got.ExtFields) != len(want) {
			t.Errorf("fields %v, want %v", got.ExtFields, want)
		}
		for _, f := range want {
			if v, ok := got.ExtFields.Get(f.Key); !ok || v != f.Value {
				t.Errorf("%s = %q, want %q", f.Key, v, f.Value)
			}
		}
	}
}

func BenchmarkSignedPullRequest(b *testing.B) {
	e := NewPullRequestEncoder(PullMessageRequestHeader{
		ConsumerGroup: "CG_orders", Topic: "orders", QueueID: 3, MaxMsgNums: 32, SuspendTimeout: 15 * time.Second, SubVersion: 1795967180231,
		ExpressionType: "TAG", BrokerName: "broker-a",
	}, NewSigner("ak", "sk", ""))
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst = e.AppendFrame(dst[:0], 77, 123456789, 123456700, 3)
	}
}
