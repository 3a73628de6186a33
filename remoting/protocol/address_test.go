package protocol

import "testing"

// A broker whose address is an IPv6 one announces it without brackets.
func TestAddress(t *testing.T) {
	for announced, want := range map[string]string{
		"::1:10911":                   "[::1]:10911",
		"2001:db8::1:10911":           "[2001:db8::1]:10911",
		"0:0:0:0:0:0:0:1:10911":       "[::1]:10911",
		"fe80::1%eth0:10911":          "[fe80::1%eth0]:10911",
		"::ffff:192.0.2.1:10911":      "[::ffff:192.0.2.1]:10911",
		"[::1]:10911":                 "[::1]:10911",
		"[0:0:0:0:0:0:0:1]:4321":      "[::1]:4321",
		"[fe80:0:0:0:0:0:0:1%2]:4321": "[fe80::1%2]:4321",
		"[broker.example]:10911":      "[broker.example]:10911",
		"192.0.2.1:10911":             "192.0.2.1:10911",
		"broker.example:10911":        "broker.example:10911",
		"a:b:c":                       "a:b:c",
		"":                            "",
		"nothing to be dialled here:": "nothing to be dialled here:",
	} {
		if got := Address(announced); got != want {
			t.Errorf("Address(%q) = %q, want %q", announced, got, want)
		}
	}
}

func TestAnnouncedAddressesAreMadeDialable(t *testing.T) {
	brokers := []BrokerData{{Cluster: "c", BrokerName: "b", BrokerAddrs: map[int64]string{0: "::1:10911", 1: "192.0.2.1:10911"}}}
	route, err := DecodeTopicRouteData(EncodeTopicRouteData(&TopicRouteData{BrokerDatas: brokers}, true))
	if err != nil || route.BrokerDatas[0].BrokerAddrs[0] != "[::1]:10911" || route.BrokerDatas[0].BrokerAddrs[1] != "192.0.2.1:10911" {
		t.Errorf("route %+v, %v", route, err)
	}
	info, err := DecodeClusterInfo(EncodeClusterInfo(&ClusterInfo{BrokerAddrTable: map[string]BrokerData{"b": brokers[0]}}))
	if err != nil || info.BrokerAddrTable["b"].BrokerAddrs[0] != "[::1]:10911" {
		t.Errorf("cluster %+v, %v", info, err)
	}
}
