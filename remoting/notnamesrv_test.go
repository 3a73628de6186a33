package remoting_test

import (
	"errors"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A proxy's remoting port knows routes and lists no brokers, which is said. The
// answers are those of a proxy of 5.3.3 in cluster mode.
func TestProxyIsNoNamesrv(t *testing.T) {
	withRoutes(t, func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client) {
		for _, known := range []bool{false, true} {
			if known {
				ns.set("TBW102", routeOf(8, "a"))
			}
			_, err := c.ClusterInfo(t.Context())
			if e, ok := errors.AsType[*remoting.NotNamesrvError](err); !ok || !e.Proxy || e.Addr != "ns:1" {
				t.Errorf("ClusterInfo = %v, want that it is a proxy", err)
			}
			if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || ce.Code != protocol.RequestCodeNotSupported {
				t.Errorf("ClusterInfo = %v, want the answer in it", err)
			}
		}
	})
}

// A broker that is given as a name server is called one; a name server is not.
func TestBrokerIsNoNamesrv(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		if _, err := tg.Client(t, nil).ClusterInfo(t.Context()); err != nil {
			t.Errorf("ClusterInfo of the name server = %v", err)
		}
		for _, addr := range tg.Masters(t) {
			c, err := remoting.NewClient(remoting.Options{Namesrv: []string{addr}, Dial: tg.Dial})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.ClusterInfo(t.Context())
			if e, ok := errors.AsType[*remoting.NotNamesrvError](err); !ok || e.Proxy || e.Addr != addr {
				t.Errorf("ClusterInfo = %v, want that %s is a broker", err, addr)
			}
			c.Close()
		}
	})
}
