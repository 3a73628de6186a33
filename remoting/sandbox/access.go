package sandbox

import (
	"crypto/subtle"
	"fmt"

	"eyeq/remoting/protocol"
)

// authenticate checks a request's signature where Options.Users names users, as
// 4.9.7 (aclEnable) and 5.3.3 (authenticationEnabled) do. Who has signed may do
// everything. Name servers check nothing.
func (l *loop) authenticate(c *protocol.Command) (refused answer, ok bool) {
	if len(l.options.Users) == 0 {
		return answer{}, true
	}
	accessKey, _ := c.ExtFields.Get("AccessKey")
	if accessKey == "" {
		return l.denied("No accessKey is configured", "username cannot be null."), false
	}
	secret, known := l.options.Users[accessKey]
	if !known {
		return l.denied("No acl config for "+accessKey, "User:"+accessKey+" is not found."), false
	}
	var signature string
	var fields protocol.ExtFields
	for _, f := range c.ExtFields {
		switch f.Key {
		case "AccessKey":
		case "Signature":
			signature = f.Value
		default:
			fields = append(fields, f)
		}
	}
	want, _ := protocol.NewSigner(accessKey, secret, "").Sign(fields, c.Body).Get("Signature")
	if subtle.ConstantTimeCompare([]byte(want), []byte(signature)) != 1 {
		return l.denied("Check signature failed for accessKey="+accessKey, "check signature failed."), false
	}
	return answer{}, true
}

// denied is the refusal in the words of either line.
func (l *loop) denied(four, five string) answer {
	if l.four {
		return answer{code: protocol.SystemError, remark: fmt.Sprintf(
			"org.apache.rocketmq.acl.common.AclException: %s, org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:663)", four)}
	}
	return answer{code: protocol.NoPermission, remark: five}
}
