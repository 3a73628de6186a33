package remoting

import (
	"errors"
	"fmt"
	"strings"

	"eyeq/remoting/protocol"
)

// DenialKind says why access control refused a request.
type DenialKind uint8

// The kinds.
const (
	DeniedUnsigned     DenialKind = iota + 1 // no access key was given
	DeniedUnknownKey                         // nobody has this access key
	DeniedSignature                          // the secret key does not match
	DeniedDisabled                           // the user is switched off
	DeniedNoPermission                       // the key has no right to this
	DeniedNotAdmin                           // only an administrator's key may do this
)

// Denial is a refusal by access control: 4.x answers code 1 with the text of an
// AclException, 5.x code 16.
type Denial struct {
	Kind DenialKind
	// What is the broker's own words, shortened: the resource, the user.
	What string
}

// OfKeys reports whether the keys are refused, and not only what they are to do.
func (d Denial) OfKeys() bool { return d.Kind != DeniedNoPermission && d.Kind != DeniedNotAdmin }

// String says it in a few words.
func (d Denial) String() string {
	switch d.Kind {
	case DeniedUnsigned:
		return "access denied: the broker wants an access key"
	case DeniedUnknownKey:
		return "access denied: " + d.What
	case DeniedSignature:
		return "access denied: the secret key does not match the access key"
	case DeniedDisabled:
		return "access denied: " + d.What
	case DeniedNotAdmin:
		return "access denied: this takes an administrator's key"
	}
	return "no permission: " + d.What
}

// AccessDenied reports whether an error is, or holds, a refusal by access control,
// and which. It does not pass by trying again.
func AccessDenied(err error) (Denial, bool) {
	ce, ok := errors.AsType[*CodeError](err)
	if !ok {
		return Denial{}, false
	}
	return ce.Denial()
}

// aclException begins what 4.x brokers say of access control.
const aclException = "org.apache.rocketmq.acl.common.AclException: "

// Denial reads the broker's words where access control refused the request.
func (e *CodeError) Denial() (Denial, bool) {
	if _, text, ok := strings.Cut(e.Remark, aclException); ok {
		// Behind it comes where the exception was thrown.
		text, _, _ = strings.Cut(text, ", org.apache.rocketmq.")
		return denialOf4(text), true
	}
	if e.Code != protocol.NoPermission {
		return Denial{}, false
	}
	return denialOf5(e.Remark)
}

func denialOf4(text string) Denial {
	kind := DeniedNoPermission
	switch {
	case strings.Contains(text, "No accessKey is configured"):
		kind = DeniedUnsigned
	case strings.Contains(text, "No acl config for"):
		_, key, _ := strings.Cut(text, "No acl config for ")
		return Denial{DeniedUnknownKey, fmt.Sprintf("nobody has the access key %s there", key)}
	case strings.Contains(text, "No PlainAccessResource for accessKey="): // its account was taken out of the file
		_, key, _ := strings.Cut(text, "No PlainAccessResource for accessKey=")
		return Denial{DeniedUnknownKey, fmt.Sprintf("nobody has the access key %s there any more", key)}
	case strings.Contains(text, "Check signature failed"):
		kind = DeniedSignature
	case strings.Contains(text, "Need admin permission"):
		kind = DeniedNotAdmin
	}
	return Denial{kind, text}
}

// denialOf5 knows what is about users among all that has code 16, such as a group
// that is paused.
func denialOf5(text string) (Denial, bool) {
	kind := DeniedNoPermission
	switch {
	case strings.Contains(text, "username cannot be null"):
		kind = DeniedUnsigned
	case strings.Contains(text, "check signature failed"):
		kind = DeniedSignature
	case strings.HasPrefix(text, "User:") && strings.Contains(text, "is not found"):
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "User:"), " is not found")
		return Denial{DeniedUnknownKey, fmt.Sprintf("nobody has the access key %s there", name)}, true
	case strings.HasPrefix(text, "User:") && strings.Contains(text, "is disable"):
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "User:"), " is disable")
		return Denial{DeniedDisabled, fmt.Sprintf("the user %s is disabled", name)}, true
	case strings.Contains(text, "has no permission to access"):
	default:
		return Denial{}, false
	}
	return Denial{kind, strings.TrimSuffix(strings.TrimSuffix(text, "."), ", no matched policies")}, true
}
