package cli

import (
	"errors"

	"eyeq/remoting"
)

// advice is what to do about an error whose text cannot say it, because it knows
// nothing of this program's settings; "" is none.
func advice(err error) string {
	if d, denied := remoting.AccessDenied(err); denied {
		return accessAdvice(d.Kind)
	}
	if e, ok := errors.AsType[*remoting.TLSError](err); ok {
		return tlsAdvice(e.Fault)
	}
	if e, ok := errors.AsType[*guidedError](err); ok {
		return e.todo
	}
	if isType[*remoting.NotNamesrvError](err) {
		return "give the address of a name server (--namesrv, --cluster or NAMESRV_ADDR)"
	}
	return ""
}

func accessAdvice(kind remoting.DenialKind) string {
	switch kind {
	case remoting.DeniedUnsigned:
		return "give " + accessKeyEnv + " and " + secretKeyEnv + ", or the cluster's auth in the configuration"
	case remoting.DeniedUnknownKey, remoting.DeniedSignature:
		return "'eyeq config show' says where the keys come from"
	case remoting.DeniedDisabled:
		return "have the user enabled, or take another one"
	case remoting.DeniedNotAdmin:
		return "take the access key of an administrator"
	case remoting.DeniedNoPermission:
		return "have the permission granted to this access key, or take another one"
	}
	return ""
}

func tlsAdvice(fault remoting.TLSFault) string {
	switch fault {
	case remoting.TLSNotSpoken:
		return "take tls.enable out of the cluster's configuration, or switch TLS on there (tls.server.mode)"
	case remoting.TLSNoMore:
		return "switch TLS on there again (tls.server.mode), or, if it was switched off on purpose, take tls.enable out of the cluster's configuration and start anew"
	case remoting.TLSUnknownCA:
		return "name the file of its CA as tls.ca"
	case remoting.TLSWrongName:
		return "connect by one of those names, or give the one that is right as tls.server_name"
	case remoting.TLSNoName:
		return "give the server a certificate of its own (tls.server.certPath there), or for a test only set tls.insecure_skip_verify = true"
	case remoting.TLSExpired:
		return "have the certificate renewed, and look at the clocks"
	case remoting.TLSWantsCert:
		return "give one as tls.cert and tls.key"
	case remoting.TLSRefusedOurs:
		return "see tls.cert and tls.key: the server must know their CA"
	case remoting.TLSOnly:
		return "set tls.enable = true for the cluster, in the configuration"
	}
	return ""
}
