package inspect

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// surveyAge is how old a survey may be that serves a call. It is made of whole tables,
// which change seldom: the list of groups asks for them every 15 s, and the details that
// are asked for every 5 s in between do with what the list has brought.
const surveyAge = 12 * time.Second

// doubtAge is how old one may be to which some broker has not told all: it may do so now.
const doubtAge = 5 * time.Second

// serves reports whether a survey is still good enough for a call.
func (s *survey) serves(now time.Time) bool {
	age := surveyAge
	if len(s.problems)+len(s.versionless) > 0 {
		age = doubtAge
	}
	return now.Sub(s.at) < age
}

// tableTimes is how many times the deadline of one question a whole table may take,
// from a broker that has just shown that it answers.
const tableTimes = 3

// survey is what there is on a cluster: brokers, topics, and configured groups.
type survey struct {
	at        time.Time
	brokers   []broker // one a broker name: the master, or a slave where none is left
	topics    map[string]bool
	topicsErr error
	groups    map[string]*knownGroup   // configured somewhere
	pop       map[string][]string      // retry topics by POP of each group
	modes     map[string][]RequestMode // by group
	asked     []string                 // brokers that have told their groups
	proxied   map[string][]heartbeat   // clients behind proxies, by group
	unproxied []Problem                // why not all of them may be known
	problems  []Problem
	// versionless are brokers that have told their groups and not what they are: what
	// only 5.x ones tell they were not asked. Whether a group is there is known all the same.
	versionless []Problem
}

// broker is one broker name and the address that answers for it.
type broker struct {
	cluster, name, addr string
	id                  int64
	version             string // V5_3_3; "" when it has not said
}

// five reports whether the broker is of the 5.x line.
func (b *broker) five() bool { return b.version >= "V5" }

// knownGroup is a group that has a configuration.
type knownGroup struct {
	brokers   []string            // that have one
	paused    []string            // where it must not consume
	forbidden map[string][]string // topics that it must not read, with brokers
	orderly   bool
}

// silence is why a broker has not told its groups.
func (s *survey) silence(broker string) string {
	for _, p := range s.problems {
		if p.Where == broker {
			return p.Why.String()
		}
	}
	return "no name server knows the broker any more"
}

// forget has the next call ask anew: something was changed, and a survey under way may
// have been answered before.
func (in *Inspector) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.last, in.flight = nil, nil
	in.changes++
}

// survey gives one that is not too old.
func (in *Inspector) survey(ctx context.Context) (*survey, error) {
	in.mu.Lock()
	s := in.last
	in.mu.Unlock()
	if s != nil && s.serves(in.now()) {
		return s, nil
	}
	return in.sharedSurvey(ctx)
}

// abandonedError is how a survey ended whose caller had no time left: it says nothing to
// the others who waited for it.
type abandonedError struct{ error }

// Unwrap gives how the caller's time ended.
func (e *abandonedError) Unwrap() error { return e.error }

// sharedSurvey asks, or waits for what another call asks at this moment: a page wants its
// list and its details at once, and each would have every broker send its tables.
func (in *Inspector) sharedSurvey(ctx context.Context) (*survey, error) {
	for {
		in.mu.Lock()
		if in.flight == nil {
			in.flight = &memo[struct{}, *survey]{}
		}
		flight := in.flight
		in.mu.Unlock()
		s, err := flight.get(ctx, struct{}{}, func() (*survey, error) {
			s, err := in.freshSurvey(ctx)
			if err != nil && ctx.Err() != nil {
				err = &abandonedError{err}
			}
			in.mu.Lock()
			defer in.mu.Unlock()
			if in.flight == flight {
				in.flight = nil
			}
			return s, err
		})
		if ctx.Err() != nil || !isType[*abandonedError](err) {
			return s, err
		}
	}
}

// ErrNoBroker says that the name servers know no broker: nothing can be learned, which
// is not the same as that there is nothing, and nothing can be changed.
var ErrNoBroker = errors.New("no broker is registered at the name servers")

// freshSurvey asks, so that nothing of it is older than the call. Only when no name
// server answers, or knows a broker, there is none.
func (in *Inspector) freshSurvey(ctx context.Context) (*survey, error) {
	in.mu.Lock()
	changes := in.changes
	in.mu.Unlock()
	s := &survey{at: in.now(), topics: map[string]bool{}, groups: map[string]*knownGroup{}, pop: map[string][]string{}, modes: map[string][]RequestMode{}}
	info, err := in.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	if s.brokers = brokersOf(info); len(s.brokers) == 0 {
		return nil, ErrNoBroker
	}
	configs := make([]protocol.GroupConfigs, len(s.brokers))
	modes := make([][]protocol.RequestMode, len(s.brokers))
	failed := make([]error, len(s.brokers))
	modesFailed := make([]error, len(s.brokers))
	unsaid := make([]error, len(s.brokers))
	each(len(s.brokers)+1, 0, func(i int) {
		if i == len(s.brokers) {
			s.topicsErr = in.topicNames(ctx, s.topics)
			return
		}
		b := &s.brokers[i]
		if b.version, failed[i] = in.version(ctx, b.addr); failed[i] == nil || ReasonOf(failed[i]).Kind != ReasonUnreachable {
			unsaid[i] = failed[i]
			configs[i], failed[i] = askTable(ctx, in, b.addr, func(ctx context.Context) (protocol.GroupConfigs, error) {
				return in.client.GroupConfigs(ctx, b.addr)
			})
		}
		if failed[i] == nil && b.five() {
			modes[i], modesFailed[i] = askTable(ctx, in, b.addr, func(ctx context.Context) ([]protocol.RequestMode, error) {
				return in.client.RequestModes(ctx, b.addr)
			})
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range s.brokers {
		if failed[i] != nil {
			s.problems = append(s.problems, problem("groups", s.brokers[i].name, failed[i]))
			continue
		}
		if unsaid[i] != nil {
			s.versionless = append(s.versionless, problem("version", s.brokers[i].name, unsaid[i]))
		}
		s.addGroups(s.brokers[i].name, &configs[i])
		if err := modesFailed[i]; err != nil && ReasonOf(err).Kind != ReasonUnsupported {
			s.problems = append(s.problems, problem("message request modes", s.brokers[i].name, err))
		}
		s.addModes(s.brokers[i].name, modes[i])
	}
	if s.topicsErr != nil {
		s.problems = append(s.problems, problem("topics", "the name servers", s.topicsErr))
	}
	s.findPop()
	s.proxied = in.readProxied(ctx, s)
	if err := ctx.Err(); err != nil {
		return nil, err // it would tell others for a while that the clients of proxies are not known
	}
	in.mu.Lock()
	if in.changes == changes {
		in.last = s
	}
	in.mu.Unlock()
	return s, nil
}

func (in *Inspector) clusterInfo(ctx context.Context) (protocol.ClusterInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	return in.client.ClusterInfo(ctx)
}

func (in *Inspector) topicNames(ctx context.Context, into map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, tableTimes*in.timeout)
	defer cancel()
	names, err := in.client.TopicNames(ctx)
	for _, name := range names {
		into[name] = true
	}
	return err
}

// askTable is ask with more time.
func askTable[T any](ctx context.Context, in *Inspector, addr string, question func(ctx context.Context) (T, error)) (T, error) {
	return askWithin(ctx, in, addr, tableTimes*in.timeout, question)
}

// brokersOf takes the master of each broker name, and where a name has none left the
// slave with the lowest id: it has a copy of what the master knew.
func brokersOf(info protocol.ClusterInfo) []broker {
	var list []broker
	for name, data := range info.BrokerAddrTable {
		for _, id := range slices.Sorted(maps.Keys(data.BrokerAddrs)) {
			if addr := data.BrokerAddrs[id]; addr != "" {
				list = append(list, broker{cluster: data.Cluster, name: cmp.Or(data.BrokerName, name), addr: addr, id: id})
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b broker) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.cluster, b.cluster)) })
	return list
}

func (s *survey) addGroups(brokerName string, configs *protocol.GroupConfigs) {
	s.asked = append(s.asked, brokerName)
	for group, c := range configs.Groups {
		group = strings.Clone(group) // the answer's frame must not stay for its sake
		known := s.groups[group]
		if known == nil {
			known = &knownGroup{}
			s.groups[group] = known
		}
		known.brokers = append(known.brokers, brokerName)
		if enabled, ok := c.Bool("consumeEnable"); ok && !enabled {
			known.paused = append(known.paused, brokerName)
		}
		if orderly, _ := c.Bool("consumeMessageOrderly"); orderly {
			known.orderly = true
		}
	}
	for group, topics := range configs.Forbidden {
		known := s.groups[group]
		for topic, perm := range topics {
			if known == nil || perm&protocol.PermRead == 0 {
				continue
			}
			if known.forbidden == nil {
				known.forbidden = map[string][]string{}
			}
			topic = strings.Clone(topic)
			known.forbidden[topic] = append(known.forbidden[topic], brokerName)
		}
	}
}

// findPop finds the retry topics of POP: they are called by a group and a topic, so
// each looks like that of a group that nobody knows.
func (s *survey) findPop() {
	for topic := range s.topics {
		name, ok := strings.CutPrefix(topic, protocol.RetryTopicPrefix)
		if !ok || s.groups[name] != nil {
			continue
		}
		for i := range len(name) {
			if c := name[i]; (c == '_' || c == '+') && s.groups[name[:i]] != nil && s.topics[name[i+1:]] {
				s.pop[name[:i]] = append(s.pop[name[:i]], topic)
				break
			}
		}
	}
}

// knows reports whether a group has left a trace besides offsets.
func (s *survey) knows(group string) bool {
	return s.groups[group] != nil || s.topics[protocol.RetryTopic(group)] || s.topics[protocol.DLQTopic(group)]
}

// pause says how far a group is paused.
func (s *survey) pause(group string) Pause {
	known := s.groups[group]
	if known == nil {
		return Pause{}
	}
	return Pause{Brokers: known.paused, Of: len(known.brokers), Topics: known.forbidden}
}

func (s *survey) broker(name string) *broker {
	for i := range s.brokers {
		if s.brokers[i].name == name {
			return &s.brokers[i]
		}
	}
	return nil
}

// commits are all committed offsets of one broker.
type commits struct{ all protocol.AllOffsets }

// broadcastMark ends the name under which a 5.x proxy keeps the progress of a
// broadcasting group.
const broadcastMark = "@broadcast"

func (c commits) of(group string, mq protocol.MessageQueue) (int64, bool) {
	offset, ok := c.all[group][mq.Topic][mq.QueueID]
	return offset, ok
}

func (c commits) groups() []string {
	names := make([]string, 0, len(c.all))
	for group := range c.all {
		names = append(names, strings.TrimSuffix(group, broadcastMark))
	}
	return names
}

// committed asks one broker for all committed offsets, once a round.
func (r *round) committed(ctx context.Context, addr string) (commits, error) {
	return r.commits.get(ctx, addr, func() (commits, error) {
		all, err := askTable(ctx, r.in, addr, func(ctx context.Context) (protocol.AllOffsets, error) {
			return r.in.client.AllOffsets(ctx, addr)
		})
		return commits{all}, err
	})
}

// absent is why a group that nobody knows of so far is none, or cannot be known to be
// none; nil when a broker keeps offsets of it, be it of topics that are gone: then the
// list of groups has it, and so has whoever asks for it by name. problems are what could
// not be asked before, besides the survey's.
func (r *round) absent(ctx context.Context, group string, problems []Problem) error {
	problems = slices.Concat(r.survey.problems, problems)
	for i := range r.survey.brokers {
		b := &r.survey.brokers[i]
		c, err := r.committed(ctx, b.addr)
		if err != nil {
			problems = append(problems, problem("offsets of all groups", b.name, err))
		}
		if len(c.all[group]) > 0 || len(c.all[group+broadcastMark]) > 0 {
			return nil
		}
	}
	return missing("group", group, problems...)
}

func (in *Inspector) round(s *survey) *round { return &round{in: in, survey: s} }

// systemGroups are RocketMQ's own.
var systemGroups = map[string]bool{
	"TOOLS_CONSUMER": true, "SCHEDULE_CONSUMER": true, "FILTERSRV_CONSUMER": true, "__MONITOR_CONSUMER": true,
	"SELF_TEST_C_GROUP": true, "CID_ONS-HTTP-PROXY": true, "CID_ONSAPI_PULL": true, "CID_ONSAPI_PERMISSION": true,
	"CID_ONSAPI_OWNER": true, "CID_SYS_RMQ_TRANS": true, "CID_DefaultHeartBeatSyncerTopic": true,
}

func isSystemGroup(group string) bool {
	return systemGroups[group] || strings.HasPrefix(group, "CID_RMQ_SYS_")
}

// systemTopics are RocketMQ's own, besides those that begin with a prefix.
var systemTopics = map[string]bool{
	"TBW102": true, "SELF_TEST_TOPIC": true, "SCHEDULE_TOPIC_XXXX": true, "BenchmarkTest": true, "OFFSET_MOVED_EVENT": true,
	"TRANS_CHECK_MAX_TIME_TOPIC": true, "CHECKPOINT_TOPIC": true, "DefaultHeartBeatSyncerTopic": true,
}

// isSystemTopic counts those too that each broker has for its own name and cluster.
func (s *survey) isSystemTopic(topic string) bool {
	if systemTopics[topic] || strings.HasPrefix(topic, "RMQ_SYS_") || strings.HasPrefix(topic, "rmq_sys_") {
		return true
	}
	return slices.ContainsFunc(s.brokers, func(b broker) bool {
		return topic == b.name || topic == b.cluster || topic == b.cluster+"_REPLY_TOPIC"
	})
}
