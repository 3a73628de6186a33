package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A member that access control keeps out ends with the reason. One whose key is right
// consumes: every request that it makes is signed, or a broker would have refused it.
func TestAccessControl(t *testing.T) {
	for _, line := range []string{"4", "5"} {
		for name, tt := range map[string]struct {
			signer *protocol.Signer
			want   remoting.DenialKind
		}{
			"right":    {signer: protocol.NewSigner("ops", "secret-1", "")},
			"wrong":    {protocol.NewSigner("ops", "secret-2", ""), remoting.DeniedSignature},
			"unsigned": {nil, remoting.DeniedUnsigned},
		} {
			t.Run(line+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { joinSigned(t, line, tt.signer, tt.want) })
			})
		}
	}
}

func joinSigned(t *testing.T, line string, signer *protocol.Signer, want remoting.DenialKind) {
	sb := sandboxtest.Start(t, sandboxtest.Line(line), sandboxtest.Topic("t", 4), sandboxtest.With(func(o *sandbox.Options) {
		o.Users = map[string]string{"ops": "secret-1"}
	}))
	const messages = 100
	for range messages {
		sb.Put(sandbox.Message{Topic: "t", QueueID: -1, Body: []byte("body")})
	}
	in := engine.NewInbound()
	client, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Handler: in, Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = "g", []engine.Subscription{{Topic: "t"}}
	o.ConsumeFromWhere, o.Orderly = protocol.ConsumeFromFirstOffset, true
	all := make(chan struct{}, messages)
	e, err := engine.New(o, engine.Deps{Client: client, Inbound: in, Store: brokerStore{client, "g"},
		Listener: engine.ListenerFunc(func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			for range msgs {
				all <- struct{}{}
			}
			return engine.ConsumeSuccess, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx, context.WithoutCancel(ctx)) }()
	if want == 0 {
		for range messages {
			<-all
		}
		stop()
	}
	err = <-ended
	stop()
	denied, ok := errors.AsType[*engine.DeniedError](err)
	if d, _ := remoting.AccessDenied(err); ok != (want != 0) || d.Kind != want || ok && denied.Group != "g" {
		t.Errorf("ended with %v, want denial %d", err, want)
	}
	if committed, found, _, _ := sb.Offsets("g", protocol.MessageQueue{Topic: "t", BrokerName: "broker-a"}); found != (want == 0) || found && committed != messages/4 {
		t.Errorf("committed %d, %v", committed, found)
	}
}
