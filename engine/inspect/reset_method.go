package inspect

import (
	"fmt"
	"strings"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// resetFacts is what decides how the queues of one topic at one broker are reset.
type resetFacts struct {
	// Followed: members are connected, here or at another broker, that subscribe to
	// the topic. Their commits would undo what is written past them.
	Followed bool
	// ServerSide: the broker moves the offsets itself and guards them against commits
	// until the next pull (5.x, unless useServerSideResetOffset is off).
	ServerSide bool
	Five       bool // the broker is of the 5.x line
	// Whole: every queue that the topic has there is to be reset.
	Whole  bool
	Target core.ResetKind // 0: offsets of a saved file
}

// chooseMethod decides how, by what the broker line can do (Java: AdminBrokerProcessor
// resetOffset, ClientManageProcessor), or why it cannot be done.
func chooseMethod(f resetFacts) (ResetMethod, string) {
	broker := "a 4.9 broker"
	if f.Five {
		broker = "a 5.x broker with useServerSideResetOffset=false"
	}
	switch {
	case !f.Followed:
		return MethodCommit, ""
	case f.ServerSide:
		return MethodServer, ""
	case !f.Whole:
		return MethodNone, broker + " resets all queues of a topic or none while members are connected"
	case f.Target != core.ResetEarliest && f.Target != core.ResetLatest && f.Target != core.ResetTime:
		return MethodNone, broker + " resets to a time, the beginning or the end only while members are connected"
	}
	return MethodPush, ""
}

// wayOut is what to do where chooseMethod finds no way.
const wayOut = "stop the group's members, wait until none is connected, and reset then: offsets are then written directly"

// methodWords says what a method is, for a plan.
func methodWords(m ResetMethod) string {
	switch m {
	case MethodCommit:
		return "the offsets are written to the brokers, since no member that reads the topic is connected"
	case MethodServer:
		return "the brokers move the offsets, and tell each member at its next pull"
	case MethodPush:
		return "the brokers tell the members, who drop their queues, wait 10 s and go on from there"
	}
	return ""
}

// goClient is the version that every release of the Go client announces.
const goClient = "V4_5_2"

// memberEffect says what a reset by this method means for a member. What cannot be
// told beforehand is watched afterwards.
func memberEffect(m *Member, t protocol.ConsumeType, method ResetMethod) MemberEffect {
	e := MemberEffect{ClientID: m.ClientID, Language: m.Language, Version: m.Version}
	say := func(obeys bool, format string, args ...any) MemberEffect {
		e.Obeys, e.Effect = obeys, fmt.Sprintf(format, args...)
		return e
	}
	pull := t == protocol.ConsumeActively
	switch {
	case method == MethodCommit:
		return say(false, "does not read what is reset")
	case method == MethodNone:
		return say(false, "is connected, and commits every few seconds")
	case m.Why.Kind == ReasonProxy && method == MethodServer:
		return say(true, "gets messages from there with what its proxy takes next")
	case pull && method == MethodPush:
		return say(false, "a pull consumer keeps its own position and ignores a reset: restart it")
	case pull:
		return say(false, "a pull consumer is told at its next pull, but keeps its own position unless its program heeds that: restart it")
	case method == MethodServer && t == protocol.ConsumePop:
		return say(true, "gets messages from there with its next pop")
	case method == MethodServer && m.Language == "JAVA" && strings.HasPrefix(m.Version, "V4"):
		return say(true, "hears of it at its next pull, within some 15 s where it waits for messages, and goes on from there 10 to 30 s later")
	case method == MethodServer && (m.Language == "JAVA" || m.Language == "GO" || m.Language == "CPP"):
		return say(true, "moves at its next pull: within some 15 s where it waits for messages")
	case method == MethodServer:
		return say(false, "is told at its next pull; whether a %s client heeds that is watched", m.Language)
	case m.Language == "JAVA":
		return say(true, "drops its queues now and goes on from there in 10 to 30 s")
	case m.Language == "GO" && m.Version == goClient:
		return say(false, "Go clients before 2.1.1 ignore it and cannot be told apart from later ones: it is watched")
	case m.Language == "GO":
		return say(true, "drops its queues now and goes on from there within seconds")
	case m.Language == "CPP":
		return say(false, "a C++ client does not understand this form of a reset: restart it")
	}
	return say(false, "whether a %s client heeds a reset is watched", m.Language)
}
