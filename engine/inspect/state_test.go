package inspect

import (
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// seenAt is a group as it looks to an inspector at a moment.
func seenAt(in *Inspector, now time.Time, version string, tps float64, connErr error, members ...Member) *groupView {
	in.now = func() time.Time { return now }
	return &groupView{
		round: in.round(&survey{}), group: "g", tps: tps, members: Members{Members: members},
		said: []said{{broker: broker{name: "broker-a", version: version}, connErr: connErr}},
	}
}

// A group that is consumed although no broker knows a member is behind a proxy, but not
// before the rate of members that have stopped is over, and not at a 4.9 broker.
func TestBehindAProxy(t *testing.T) {
	offline := &remoting.CodeError{Code: protocol.ConsumerNotOnline}
	type look struct {
		second int
		tps    float64
		online bool
		want   string
	}
	tests := map[string]struct {
		version string
		looks   []look
	}{
		"somebody goes on consuming": {"V5_3_3", []look{{0, 5, false, StateOffline}, {60, 5, false, StateOffline}, {100, 5, false, StateProxy}}},
		"members have just stopped":  {"V5_3_3", []look{{0, 5, true, StateOnline}, {100, 5, false, StateOffline}, {150, 0, false, StateOffline}, {200, 5, false, StateOffline}}},
		"a 4.9 broker":               {"V4_9_7", []look{{0, 5, false, StateOffline}, {100, 5, false, StateOffline}}},
		"nobody consumes":            {"V5_3_3", []look{{0, 0, false, StateOffline}, {100, 0, false, StateOffline}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := New(Options{})
			for _, l := range tt.looks {
				var members []Member
				if l.online {
					members = []Member{{ClientID: "one"}}
				}
				v := seenAt(in, time.Unix(int64(l.second), 0), tt.version, l.tps, offline, members...)
				if got := v.state(Pause{}); got != l.want {
					t.Errorf("after %d s: %s, want %s", l.second, got, l.want)
				}
			}
		})
	}
}

// What keeps one from seeing comes before what keeps the group from consuming.
func TestStateOfAGroup(t *testing.T) {
	offline := &remoting.CodeError{Code: protocol.ConsumerNotOnline}
	denied := &remoting.CodeError{Code: protocol.NoPermission, Remark: "User:u has no permission to access Group:g"}
	dead := &remoting.DialError{Addr: "a"}
	one := []Member{{ClientID: "one"}}
	all, some := Pause{Brokers: []string{"a"}, Of: 1}, Pause{Brokers: []string{"a"}, Of: 2}
	topic := Pause{Of: 1, Topics: map[string][]string{"t": {"a"}}}
	tests := map[string]struct {
		connErr error
		members []Member
		model   protocol.MessageModel
		pause   Pause
		want    string
	}{
		"online":                   {nil, one, protocol.Clustering, Pause{Of: 1}, StateOnline},
		"offline":                  {offline, nil, 0, Pause{Of: 1}, StateOffline},
		"paused with members":      {nil, one, protocol.Clustering, all, StatePaused},
		"paused without":           {offline, nil, 0, all, StatePaused},
		"paused at one of two":     {nil, one, protocol.Clustering, some, StatePartlyPaused},
		"one topic paused":         {nil, one, protocol.Clustering, topic, StatePartlyPaused},
		"broadcasting":             {nil, one, protocol.Broadcasting, Pause{}, StateBroadcasting},
		"denied, though paused":    {denied, nil, 0, all, StateDenied},
		"unreachable":              {dead, nil, 0, Pause{}, StateUnreachable},
		"no word about members":    {&remoting.CodeError{Code: protocol.SystemError}, nil, 0, Pause{}, StateUnknown},
		"group without any broker": {nil, nil, 0, Pause{}, StateOffline},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := seenAt(New(Options{}), time.Unix(0, 0), "V5_3_3", 0, tt.connErr, tt.members...)
			v.members.Model = tt.model
			if got := v.state(tt.pause); got != tt.want {
				t.Errorf("state %s, want %s", got, tt.want)
			}
		})
	}
}

// One process has a connection to each broker; two processes with one client id show
// at one broker, or by their hosts.
func TestAddressesOfAMember(t *testing.T) {
	at := func(addrs ...string) said {
		var s said
		for _, a := range addrs {
			s.connections.ConnectionSet = append(s.connections.ConnectionSet, protocol.Connection{ClientID: "one", ClientAddr: a})
		}
		return s
	}
	tests := map[string]struct {
		said []said
		want int
	}{
		"one process, two brokers":      {[]said{at("10.0.0.1:5001"), at("10.0.0.1:5002")}, 1},
		"two processes at one broker":   {[]said{at("10.0.0.1:5001", "10.0.0.1:5003"), at("10.0.0.1:5002")}, 2},
		"two hosts at different places": {[]said{at("10.0.0.1:5001"), at("10.0.0.2:5001")}, 2},
		"IPv6":                          {[]said{at("[::1]:5001"), at("[::1]:5002")}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := processes(&Member{ClientID: "one"}, tt.said); len(got) != tt.want {
				t.Errorf("addresses %v, want %d", got, tt.want)
			}
		})
	}
}
