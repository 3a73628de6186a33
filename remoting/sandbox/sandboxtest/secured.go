package sandboxtest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

// The users of brokers with access control: one may do everything, another only
// consume ReadableTopic as ReadableGroup or NewGroup, and the operator everything until it is
// withdrawn.
const (
	AdminKey, AdminSecret       = "eyeqadmin", "admin-secret-4711"
	ReaderKey, ReaderSecret     = "eyeqreader", "reader-secret-4712"
	OperatorKey, OperatorSecret = "eyeqoperator", "operator-secret-4713"
	ReadableTopic               = "acl-orders"
	ReadableGroup               = "acl-group"
	NewGroup                    = "acl-new-group"
)

// Withdrawal is a way in which the operator loses what it may do, while it is at work.
type Withdrawal string

const (
	NotWithdrawn   Withdrawal = "not withdrawn"
	SecretChanged  Withdrawal = "secret changed"
	UserDeleted    Withdrawal = "user deleted"
	UserDisabled   Withdrawal = "user disabled" // 5.x
	RightsTaken    Withdrawal = "rights taken"
	changedSecret             = "changed-secret-4714"
	withdrawnRight            = "another-topic"
)

// Withdrawals are those that a broker line has.
func (tg *Target) Withdrawals() []Withdrawal {
	if tg.Line == "4" {
		return []Withdrawal{SecretChanged, UserDeleted, RightsTaken}
	}
	return []Withdrawal{SecretChanged, UserDeleted, UserDisabled, RightsTaken}
}

// UpWithAccessControl is Up for brokers that check who asks: aclEnable with a
// plain_acl.yml on 4.x, authentication and authorization on 5.x. ReadableTopic is made.
// The target's clients are the administrator's.
func (o *OwnBrokers) UpWithAccessControl(t *testing.T, name string) *Target {
	t.Helper()
	own := *o
	own.signer = protocol.NewSigner(AdminKey, AdminSecret, "")
	if own.version[:1] == "4" {
		own.writePlainACL(t, name, "")
		target := own.Up(t, name, "aclEnable=true")
		target.makeReadable(t)
		return target
	}
	user := fmt.Sprintf(`{"username":%q,"password":%q}`, AdminKey, AdminSecret)
	inner := fmt.Sprintf(`{"accessKey":%q,"secretKey":%q}`, AdminKey, AdminSecret)
	const auth = "org.apache.rocketmq.auth."
	target := own.Up(t, name, "authenticationEnabled=true", "authorizationEnabled=true",
		"authenticationProvider="+auth+"authentication.provider.DefaultAuthenticationProvider",
		"authenticationMetadataProvider="+auth+"authentication.provider.LocalAuthenticationMetadataProvider",
		"authorizationProvider="+auth+"authorization.provider.DefaultAuthorizationProvider",
		"authorizationMetadataProvider="+auth+"authorization.provider.LocalAuthorizationMetadataProvider",
		"initAuthenticationUser="+user, "innerClientAuthenticationCredentials="+inner)
	target.makeReadable(t)
	target.makeReader(t)
	return target
}

// Withdraw makes the operator of brokers that UpWithAccessControl has started, or
// takes away what it may do. A 4.x broker reads its file again within a second.
func (o *OwnBrokers) Withdraw(t *testing.T, tg *Target, name string, how Withdrawal) {
	t.Helper()
	if tg.Line == "4" {
		o.writePlainACL(t, name, plainOperator(how))
		return
	}
	for _, addr := range tg.Masters(t) {
		user := map[string]any{"username": OperatorKey, "password": OperatorSecret, "userType": "Super"}
		switch how {
		case NotWithdrawn:
			_ = tg.try(t, addr, authDeleteUser, "username", OperatorKey, nil) // of the withdrawal before, if it left one
			tg.command(t, addr, authCreateUser, "username", OperatorKey, user)
		case SecretChanged:
			user["password"] = changedSecret
			tg.command(t, addr, authUpdateUser, "username", OperatorKey, user)
		case UserDisabled:
			user["userStatus"] = "disable"
			tg.command(t, addr, authUpdateUser, "username", OperatorKey, user)
		case UserDeleted:
			tg.command(t, addr, authDeleteUser, "username", OperatorKey, nil)
		case RightsTaken:
			user["userType"] = "Normal"
			tg.command(t, addr, authUpdateUser, "username", OperatorKey, user)
		}
	}
}

// plainOperator is the operator's account in the file of a 4.x broker.
func plainOperator(how Withdrawal) string {
	secret, rest := OperatorSecret, "admin: true"
	switch how {
	case UserDeleted:
		return ""
	case SecretChanged:
		secret = changedSecret
	case RightsTaken:
		rest = "admin: false\n    defaultTopicPerm: DENY\n    defaultGroupPerm: DENY\n    topicPerms: [" + withdrawnRight + "=SUB]"
	}
	return fmt.Sprintf("  - accessKey: %s\n    secretKey: %s\n    %s\n", OperatorKey, secret, rest)
}

func (o *OwnBrokers) writePlainACL(t *testing.T, name, more string) {
	t.Helper()
	text := fmt.Sprintf(`accounts:
  - accessKey: %s
    secretKey: %s
    admin: true
  - accessKey: %s
    secretKey: %s
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: DENY
    topicPerms: [%s=SUB]
    groupPerms: [%s=SUB, %s=SUB]
%s`, AdminKey, AdminSecret, ReaderKey, ReaderSecret, ReadableTopic, ReadableGroup, NewGroup, more)
	conf := filepath.Join(o.dir(name), "conf")
	err := os.MkdirAll(conf, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(conf, "plain_acl.yml"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (tg *Target) makeReadable(t *testing.T) {
	t.Helper()
	for _, addr := range tg.Masters(t) {
		err := tg.admin.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{
			Topic: ReadableTopic, DefaultTopic: "TBW102", ReadQueueNums: 2, WriteQueueNums: 2, Perm: protocol.PermRead | protocol.PermWrite,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	Await(t, "the route of "+ReadableTopic, func(ctx context.Context) bool {
		_, _, err := tg.admin.RefreshRoute(ctx, ReadableTopic)
		return err == nil
	})
}

// The codes of 5.x for users and their rights.
const (
	authCreateUser = 3001
	authUpdateUser = 3002
	authDeleteUser = 3003
	authCreateACL  = 3006
)

// makeReader makes the second user of a 5.x broker.
func (tg *Target) makeReader(t *testing.T) {
	t.Helper()
	entry := func(resource string) map[string]any {
		return map[string]any{"resource": resource, "actions": []string{"Sub"}, "decision": "Allow"}
	}
	for _, addr := range tg.Masters(t) {
		tg.command(t, addr, authCreateUser, "username", ReaderKey, map[string]any{"username": ReaderKey, "password": ReaderSecret, "userType": "Normal"})
		tg.command(t, addr, authCreateACL, "subject", "User:"+ReaderKey, map[string]any{"subject": "User:" + ReaderKey, "policies": []any{
			map[string]any{"policyType": "Custom", "entries": []any{entry("Topic:" + ReadableTopic), entry("Group:" + ReadableGroup), entry("Group:" + NewGroup)}},
		}})
	}
}

func (tg *Target) command(t *testing.T, addr string, code int32, key, value string, body any) {
	t.Helper()
	if err := tg.try(t, addr, code, key, value, body); err != nil {
		t.Fatalf("request %d to %s: %v", code, addr, err)
	}
}

func (tg *Target) try(t *testing.T, addr string, code int32, key, value string, body any) error {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	_, err := tg.admin.Invoke(t.Context(), addr, &protocol.Command{Code: code, ExtFields: protocol.ExtFields{{Key: key, Value: value}}, Body: text})
	return err
}

// UpWithTLS is Up for servers that speak TLS only, with a certificate of ca for
// 127.0.0.1. Without a ca the target's clients look at no certificate.
func (o *OwnBrokers) UpWithTLS(t *testing.T, name string, ca *Authority, server tls.Certificate) *Target {
	t.Helper()
	own := *o
	cert, key := WritePair(t, o.root, name+"-server", server)
	own.javaOptions = "-Dtls.enable=true -Dtls.server.mode=enforcing -Dtls.test.mode.enable=false -Dtls.server.certPath=" + cert + " -Dtls.server.keyPath=" + key
	own.tls = &tls.Config{InsecureSkipVerify: true}
	if ca != nil {
		own.tls = &tls.Config{RootCAs: ca.Pool}
	}
	return own.Up(t, name)
}

// ServerCertificate is one of ca for servers on this machine.
func (a *Authority) ServerCertificate(t testing.TB) tls.Certificate {
	t.Helper()
	return a.Issue(t, time.Now().Add(24*time.Hour), "127.0.0.1", "localhost")
}
