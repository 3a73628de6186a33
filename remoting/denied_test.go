package remoting_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The remarks are those of real brokers.
func TestDenial(t *testing.T) {
	const at = ", org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:663)"
	const e4 = "org.apache.rocketmq.acl.common.AclException: "
	tests := map[string]struct {
		code   protocol.ResponseCode
		remark string
		want   remoting.DenialKind // 0: none
		text   string
	}{
		"4 unsigned":     {1, e4 + "No accessKey is configured" + at, remoting.DeniedUnsigned, "access denied: the broker wants an access key"},
		"4 unknown":      {1, e4 + "No acl config for ops" + at, remoting.DeniedUnknownKey, "access denied: nobody has the access key ops there"},
		"4 deleted":      {1, e4 + "No PlainAccessResource for accessKey=ops" + at, remoting.DeniedUnknownKey, "access denied: nobody has the access key ops there any more"},
		"4 wrong secret": {1, e4 + "Check signature failed for accessKey=ops" + at, remoting.DeniedSignature, "access denied: the secret key does not match the access key"},
		"4 no right":     {1, e4 + "No default permission for TopicA" + at, remoting.DeniedNoPermission, "no permission: No default permission for TopicA"},
		"4 not admin":    {1, e4 + "Need admin permission for request code=17, but accessKey=ops is not" + at, remoting.DeniedNotAdmin, "access denied: this takes an administrator's key"},
		"4 other":        {1, "java.lang.NullPointerException", 0, ""},
		"5 unsigned":     {16, "username cannot be null.", remoting.DeniedUnsigned, "access denied: the broker wants an access key"},
		"5 unknown":      {16, "User:ops is not found.", remoting.DeniedUnknownKey, "access denied: nobody has the access key ops there"},
		"5 wrong secret": {16, "check signature failed.", remoting.DeniedSignature, "access denied: the secret key does not match the access key"},
		"5 no right": {16, "User:ops has no permission to access Topic:T from 127.0.0.1, no matched policies.", remoting.DeniedNoPermission,
			"no permission: User:ops has no permission to access Topic:T from 127.0.0.1"},
		"5 disabled":     {16, "User:ops is disabled.", remoting.DeniedDisabled, "access denied: the user ops is disabled"},
		"5 paused group": {16, "subscription group no permission, G", 0, ""},
		"5 topic perm":   {16, "Sending message to topic[T] is forbidden.", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := error(&remoting.CodeError{Request: protocol.PullMessage, Code: tt.code, Remark: tt.remark, Addr: "b:1"})
			d, ok := remoting.AccessDenied(errors.Join(errors.New("other"), err))
			if ok != (tt.want != 0) || d.Kind != tt.want {
				t.Fatalf("denial %+v, %v, want kind %d", d, ok, tt.want)
			}
			if want := "PULL_MESSAGE to b:1: " + tt.text; ok && err.Error() != want {
				t.Errorf("text %q, want %q", err, want)
			}
			if remoting.Retryable(err) {
				t.Error("counts as passing by itself")
			}
		})
	}
}

func TestSignedCalls(t *testing.T) {
	for _, line := range []string{"4", "5"} {
		for name, tt := range map[string]struct {
			signer *protocol.Signer
			want   remoting.DenialKind
		}{
			"right":   {protocol.NewSigner("ops", "secret-1", ""), 0},
			"token":   {protocol.NewSigner("ops", "secret-1", "sts"), 0},
			"wrong":   {protocol.NewSigner("ops", "secret-2", ""), remoting.DeniedSignature},
			"unknown": {protocol.NewSigner("nobody", "secret-1", ""), remoting.DeniedUnknownKey},
			"none":    {nil, remoting.DeniedUnsigned},
		} {
			t.Run(line+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { callSigned(t, line, tt.signer, tt.want) })
			})
		}
	}
}

// callSigned makes each kind of call: with an answer, without one, several at once.
func callSigned(t *testing.T, line string, signer *protocol.Signer, want remoting.DenialKind) {
	oneways := make(chan protocol.Command, 8)
	sb := sandboxtest.Start(t, sandboxtest.Line(line), sandboxtest.Topic("t", 4), sandboxtest.With(func(o *sandbox.Options) {
		o.Users = map[string]string{"ops": "secret-1"}
	}))
	sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		if r.Command.IsOneway() {
			oneways <- r.Command
		}
		return sandbox.Fault{}
	})
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	route, err := c.Route(t.Context(), "t")
	if err != nil {
		t.Fatalf("the name server checks nothing, but: %v", err)
	}
	addr, err := c.MasterOf(t.Context(), route.Queues[0])
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, err error) {
		t.Helper()
		if d, _ := remoting.AccessDenied(err); d.Kind != want || want == 0 && err != nil {
			t.Errorf("%s: %v, want denial %d", what, err, want)
		}
	}
	_, err = c.MaxOffset(t.Context(), route.Queues[0])
	check("a call", err)
	_, err = c.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{ClientID: "me", ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: "g", ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromLastOffset,
	}}})
	check("a heartbeat", err)
	_, err = c.Send(t.Context(), "p", route.Queues[1], &remoting.OutMessage{Body: []byte("body")})
	check("a call with a body", err)
	failed := c.UpdateConsumerOffsets(t.Context(), "g", map[protocol.MessageQueue]int64{route.Queues[0]: 0, route.Queues[1]: 0})
	check("commits", failed[route.Queues[1]])
	conn, err := c.Conn(context.Background(), addr)
	if err != nil {
		t.Fatal(err)
	}
	enc := c.PullRequestEncoder(protocol.PullMessageRequestHeader{ConsumerGroup: "g", Topic: "t", QueueID: route.Queues[1].QueueID, MaxMsgNums: 32,
		Subscription: "*", ExpressionType: protocol.ExpressionTAG})
	replies := make(chan remoting.Reply, 1)
	if _, err := conn.Start(func(dst []byte, opaque int32) ([]byte, error) {
		return enc.AppendFrame(dst, opaque, 0, 0, protocol.PullSubscription), nil
	}, replies); err != nil {
		t.Fatal(err)
	}
	reply := <-replies
	_, err = remoting.ParsePullReply(&reply.Command, addr)
	check("a pull", err)
	if err := c.InvokeOneway(t.Context(), addr, &protocol.Command{Code: int32(protocol.UnregisterClient)}); err != nil {
		t.Fatal(err)
	}
	oneway := <-oneways
	if _, signed := oneway.ExtFields.Get("Signature"); signed != (signer != nil) {
		t.Errorf("a one-way request has the fields %v", oneway.ExtFields)
	}
}
