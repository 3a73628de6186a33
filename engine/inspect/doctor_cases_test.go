package inspect

import (
	"strconv"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// doctorCases are the rules: what makes each fire, and what looks alike and must not. want
// are the codes of all findings; says is in one of their lines.
var doctorCases = map[string]struct {
	edit      func(f *Facts)
	want      []string
	says      []string
	unchecked string // part of a line of Unchecked; "" there must be none
}{
	"healthy":                           {edit: func(f *Facts) {}},
	"healthy with a backlog that moves": {edit: func(f *Facts) { backlog(f, 0, time.Minute) }},
	"healthy orderly":                   {edit: orderly},
	"a concurrent member says locked since its start": {edit: func(f *Facts) {
		held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.LastLockTimestamp = 0 })
	}},
	"idle and consumed up to the end for an hour": {edit: func(f *Facts) {
		everyMember(f, func(_ int, m *Member) {
			for mq, q := range m.Info.MQTable {
				q.CommitOffset, q.LastConsumeTimestamp = min(q.CommitOffset, 1000), visited.Add(-time.Hour).UnixMilli()
				m.Info.MQTable[mq] = q
			}
		})
		for id := range int32(4) {
			lagRow(f, "orders", id, func(_ int, q *QueueLag) { q.Max, q.Committed = Exact(1000), Exact(1000) })
		}
	}},

	"subscriptions differ in a topic (R010)": {
		edit: func(f *Facts) {
			f.Detail.Subscriptions.Rows = []SubscriptionRow{
				{Topic: "orders", Cells: []string{"*", ""}, Broker: "*"}, {Topic: "stock", Cells: []string{"", "*"}},
			}
			member(f, "b", func(_ int, m *Member) {
				m.Info.SubscriptionSet = []protocol.SubscriptionData{{Topic: "%RETRY%g"}, {Topic: "stock"}}
				clear(m.Info.MQTable)
			})
			lagRow(f, "orders", 2, func(i int, q *QueueLag) { q.Committed = Exact(900) })
		},
		want: []string{"critical subscriptions_differ", "critical queue_unowned"},
		says: []string{"A = 1 member: a", "B = 1 member: b", "topic   A  B", "orders  *  -", "stock   -  *", "broker-a/2-3 is the share of b, which does not subscribe to the topic", "where 160 messages wait"},
	},
	"subscriptions differ, and brokers list the last one's topic only": {
		edit: func(f *Facts) {
			f.Detail.Subscriptions.Rows = []SubscriptionRow{
				{Topic: "orders", Cells: []string{"*", ""}, Broker: "*"}, {Topic: "stock", Cells: []string{"", "*"}},
			}
			member(f, "b", func(_ int, m *Member) {
				m.Info.SubscriptionSet = []protocol.SubscriptionData{{Topic: "%RETRY%g"}, {Topic: "stock"}}
				q := m.Info.MQTable[mqOf("orders", 2)]
				m.Info.MQTable = map[protocol.MessageQueue]protocol.ProcessQueueInfo{mqOf("stock", 1): q}
			})
			f.Unlisted = map[string][]protocol.MessageQueue{"stock": {mqOf("stock", 0), mqOf("stock", 1)}}
		},
		want: []string{"critical subscriptions_differ", "critical queue_unowned", "warning queue_unowned"},
		says: []string{"forgotten the subscription to stock", "queue broker-a/0 of stock has no owner", "the brokers do not say how many messages wait there", "broker-a/0 is the share of a, which does not subscribe"},
	},
	"subscriptions differ in a tag": {
		edit: func(f *Facts) {
			f.Detail.Subscriptions.Rows[0] = SubscriptionRow{Topic: "orders", Cells: []string{"paid", "refund"}, Broker: "refund"}
		},
		want: []string{"critical subscriptions_differ"},
		says: []string{"orders  paid  refund", `the brokers filter orders by "refund" for all of them`},
	},
	"a retry topic that not all have yet": {edit: func(f *Facts) {
		f.Detail.Subscriptions.Rows = append(f.Detail.Subscriptions.Rows, SubscriptionRow{Topic: "%RETRY%g", Cells: []string{"*", ""}})
	}},
	"a member that did not say what it subscribes to": {
		edit: func(f *Facts) {
			f.Detail.Subscriptions.Unknown = map[string]Reason{"b": {Kind: ReasonUnsupported}}
			f.Detail.Subscriptions.Rows[0].Cells[1] = ""
		},
		unchecked: "subscriptions from b: not supported",
	},
	"the subscriptions could not be asked": {
		edit:      func(f *Facts) { f.Detail, f.DetailWhy = GroupDetail{}, Reason{ReasonDenied, "no right"} },
		unchecked: "subscriptions of the members from the brokers: denied: no right",
	},

	"one orderly member among concurrent ones": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Info.Properties["PROP_CONSUMEORDERLY"] = "true"
				for mq, q := range m.Info.MQTable {
					q.LastLockTimestamp = visited.UnixMilli()
					m.Info.MQTable[mq] = q
				}
			})
		},
		want: []string{"critical consume_mode_differs"}, says: []string{"false: a", "true: b"},
	},

	"two processes with one client id (R014)": {
		edit: func(f *Facts) {
			member(f, "a", func(_ int, m *Member) { m.Addresses = []string{"10.0.1.1:40000", "10.0.1.2:40000"} })
		},
		want: []string{"critical client_id_shared"}, says: []string{"1 client id, 2 connections", "connected from 10.0.1.1:40000 and 10.0.1.2:40000", "holds broker-a/0-1 of orders"},
	},
	"two processes with one client id share the first share": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Addresses = []string{"10.0.1.1:40000", "10.0.1.2:40000"}
				q := m.Info.MQTable[mqOf("orders", 2)]
				m.Info.MQTable = map[protocol.MessageQueue]protocol.ProcessQueueInfo{mqOf("orders", 2): q}
			})
		},
		want: []string{"critical client_id_shared", "warning queue_unowned"},
		says: []string{"queue broker-a/3 of orders has no owner", "b is connected 2 times: brokers name it as often"},
	},
	"a second connection that was there once": {edit: func(f *Facts) {
		member(f, "a", func(i int, m *Member) {
			if i == 0 {
				m.Addresses = []string{"10.0.1.1:40000", "10.0.1.2:40000"}
			}
		})
	}},

	"more members than queues": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				s := &f.Samples[i]
				s.Members.Members = nil
				for k, id := range []string{"a", "b", "c", "d", "e"} {
					m := javaMember(id, s.At)
					if k < 4 {
						m = javaMember(id, s.At, mqOf("orders", int32(k)))
					}
					if k == 0 {
						m = javaMember(id, s.At, mqOf("orders", 0), mqOf("%RETRY%g", 0))
					}
					s.Members.Members = append(s.Members.Members, m)
				}
				s.Lag.Members = Exact(5)
			}
		},
		want: []string{"warning members_idle"}, says: []string{"1 of 5 has nothing to do", "without a queue: e", "orders has 4 queues"},
	},
	"fewer retry queues than members": {edit: func(f *Facts) {}},

	"a member is frozen": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Info, m.Why = nil, Reason{ReasonUnreachable, "the member does not answer"}
			})
		},
		want: []string{"warning member_silent"}, says: []string{"1 of 2 members is connected, but does not answer", "JAVA V5_3_3"},
		unchecked: "queues and settings from b: unreachable",
	},
	"a member missed one question": {
		edit: func(f *Facts) {
			member(f, "b", func(i int, m *Member) {
				if i == 1 {
					m.Info, m.Why = nil, Reason{Kind: ReasonUnreachable}
				}
			})
		},
		unchecked: "queues and settings from b: unreachable",
	},
	"a member that cannot answer": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) { m.Info, m.Why = nil, Reason{Kind: ReasonUnsupported} })
		},
		unchecked: "queues and settings from b: not supported",
	},
	"a broker does not know a member (R003)": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) { m.Brokers, m.Missing = []string{"broker-b"}, []string{"broker-a"} })
		},
		want: []string{"critical member_unknown_to_broker"}, says: []string{"broker-a does not know the member b"},
	},
	"a broker that has nothing of the group does not know a member": {edit: func(f *Facts) {
		member(f, "b", func(_ int, m *Member) { m.Missing = []string{"broker-z"} })
	}},
	"a broker did not know a member for a moment": {edit: func(f *Facts) {
		member(f, "b", func(i int, m *Member) {
			if i == 0 {
				m.Missing = []string{"broker-a"}
			}
		})
	}},
	"mixed clients": {
		edit: func(f *Facts) { member(f, "b", func(_ int, m *Member) { m.Language, m.Version = "GO", "V4_9_0" }) },
		want: []string{"info versions_differ"}, says: []string{"GO V4_9_0: b", "JAVA V5_3_3: a"},
	},
	"different settings": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) { m.Info.Properties["consumeThreadMin"] = "64" })
		},
		want: []string{"info settings_differ"}, says: []string{"consumeThreadMin = 20: a", "consumeThreadMin = 64: b"},
	},
	"a limit that is computed from the topic's": {edit: func(f *Facts) {
		everyMember(f, func(_ int, m *Member) {
			m.Info.Properties["pullThresholdForTopic"], m.Info.Properties["pullThresholdForQueue"] = "6000", map[string]string{"a": "2000", "b": "3000"}[m.ClientID]
		})
	}},
	"behind a proxy (R131)": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				f.Samples[i].Members.Members, f.Samples[i].Members.Kind = nil, KindUnknown
			}
			lag(f, func(_ int, l *GroupLag) {
				l.Members, l.State, l.ConsumeTPS, l.Lag = Exact(0), StateProxy, 12.5, Exact(7)
			})
		},
		want: []string{"info behind_proxy"}, says: []string{"12.5 messages/s"},
	},
	"broadcasting (R075)": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				s := &f.Samples[i]
				s.Members.Model, s.Lag.Model = protocol.Broadcasting, protocol.Broadcasting
				for k := range s.Members.Members {
					m := &s.Members.Members[k]
					*m = javaMember(m.ClientID, s.At, mqOf("orders", 0), mqOf("orders", 1), mqOf("orders", 2), mqOf("orders", 3))
				}
				for k := range s.Lag.Queues {
					q := &s.Lag.Queues[k]
					q.Committed, q.Lag = Unknown(Reason{Kind: ReasonBroadcasting}), Unknown(Reason{Kind: ReasonBroadcasting})
				}
				s.Lag.Lag = Unknown(Reason{Kind: ReasonBroadcasting})
			}
		},
		want: []string{"info broadcasting"},
	},

	"a queue without an owner": {
		edit: func(f *Facts) { lose(f, "b", mqOf("orders", 3)); backlog(f, 3, time.Minute) },
		want: []string{"critical queue_unowned"},
		says: []string{"queue broker-a/3 of orders has no owner", "broker-a/3 should be held by b (by AVG, which comes closest)", "so at 2 looks within 6.0s"},
	},
	"an orderly queue whose dead owner has the lock (R034)": {
		edit: func(f *Facts) { orderly(f); lose(f, "b", mqOf("orders", 3)) },
		want: []string{"warning queue_unowned"}, says: []string{"which a member that died keeps for up to 60 s"},
	},
	"a queue was between two owners": {
		edit: func(f *Facts) {
			held(f, "b", mqOf("orders", 3), func(int, *protocol.ProcessQueueInfo) {})
			delete(f.Samples[0].Members.Members[1].Info.MQTable, mqOf("orders", 3))
		},
		want: []string{"info rebalance_under_way"}, says: []string{"queues changed hands while this looked"},
	},
	"a member left between the looks": {
		edit: func(f *Facts) {
			f.Samples[1].Members.Members = f.Samples[1].Members.Members[:1]
		},
		want: []string{"info rebalance_under_way"}, says: []string{"members came or went while this looked"},
	},
	"a member started just now": {
		edit: func(f *Facts) {
			lose(f, "b", mqOf("orders", 2))
			lose(f, "b", mqOf("orders", 3))
			member(f, "b", func(i int, m *Member) {
				m.Info.Properties["PROP_CONSUMER_START_TIMESTAMP"] = strconv.FormatInt(visited.Add(-9*time.Second).UnixMilli(), 10)
			})
		},
		want: []string{"info rebalance_under_way"}, says: []string{"b started less than 30s ago"},
	},
	"the owner of a queue may be the one that did not say": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) { m.Info, m.Why = nil, Reason{Kind: ReasonUnsupported} })
		},
		unchecked: "the owner of broker-a/2-3 of orders from b: not supported",
	},
	"by POP nobody owns a queue": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				f.Samples[i].Members.Kind = KindPop
			}
			everyMember(f, func(_ int, m *Member) { clear(m.Info.MQTable) })
		},
		unchecked: "who owns which queue from the members: not supported",
	},
	"two owners": {
		edit: func(f *Facts) {
			held(f, "a", mqOf("orders", 2), func(_ int, q *protocol.ProcessQueueInfo) {
				q.LastPullTimestamp = visited.Add(-3 * time.Second).UnixMilli()
			})
		},
		want: []string{"critical queue_two_owners"}, says: []string{"queue broker-a/2 of orders has two owners", "broker-a/2: a and b"},
	},
	"two owners, of whom one gives it away": {
		edit: func(f *Facts) {
			held(f, "a", mqOf("orders", 2), func(_ int, q *protocol.ProcessQueueInfo) {
				q.Dropped, q.LastPullTimestamp = true, visited.Add(-3*time.Second).UnixMilli()
			})
		},
		want: []string{"info rebalance_under_way"}, says: []string{"queues of orders are being given away"},
	},
	"members that name different strategies": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Info.Properties["allocateMessageQueueStrategy"] = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle@1"
			})
		},
		want: []string{"critical strategies_differ"}, says: []string{"AVG: a", "AVG_BY_CIRCLE: b"},
	},
	"members that say AVG and hold else": {
		edit: func(f *Facts) {
			everyMember(f, func(_ int, m *Member) {
				from, to := mqOf("orders", 1), mqOf("orders", 2)
				if m.ClientID == "b" {
					from, to = to, from
				}
				m.Info.MQTable[to] = m.Info.MQTable[from]
				delete(m.Info.MQTable, from)
				from, to = mqOf("orders", 0), mqOf("orders", 3) // neither by circle
				if m.ClientID == "b" {
					from, to = to, from
				}
				m.Info.MQTable[to] = m.Info.MQTable[from]
				delete(m.Info.MQTable, from)
			})
		},
		want: []string{"warning allocation_differs"}, says: []string{"a: holds broker-a/2-3 of others, lacks broker-a/0-1"},
	},
	"members with a strategy of their own": {edit: func(f *Facts) {
		everyMember(f, func(_ int, m *Member) {
			m.Info.Properties["allocateMessageQueueStrategy"] = "com.example.ByColour@1"
			from, to := mqOf("orders", 1), mqOf("orders", 2)
			if m.ClientID == "b" {
				from, to = to, from
			}
			m.Info.MQTable[to] = m.Info.MQTable[from]
			delete(m.Info.MQTable, from)
		})
	}},
	"a topic that nobody subscribes to any more": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				l := &f.Samples[i].Lag
				l.Queues = append([]QueueLag{lagQueue("old", 0, 0, 10, 60, visited)}, l.Queues...)
			}
		},
		want: []string{"info topic_not_subscribed"}, says: []string{"no member subscribes to old, and its 50 messages count as lag"},
	},
	"a queue that is not given away": {
		edit: func(f *Facts) {
			orderly(f)
			held(f, "a", mqOf("orders", 2), func(_ int, q *protocol.ProcessQueueInfo) {
				q.Dropped, q.TryUnlockTimes, q.TransactionMsgCount = true, 7, 1
				q.LastPullTimestamp = visited.Add(-3 * time.Second).UnixMilli()
			})
		},
		want: []string{"critical queue_not_released", "info rebalance_under_way"}, says: []string{"orders broker-a/2 at a: tried 7 times, 1 message in work there"},
	},
	"a lock is not held": {
		edit: func(f *Facts) {
			orderly(f)
			backlog(f, 0, time.Minute)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) {
				q.Locked, q.LastLockTimestamp = false, visited.Add(-90*time.Second).UnixMilli()
			})
		},
		want: []string{"critical lock_not_renewed"}, says: []string{"orders broker-a/0 at a: not locked, last granted at least 1m27s ago"},
	},
	"a lock is not renewed": {
		edit: func(f *Facts) {
			orderly(f)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) {
				q.LastLockTimestamp = visited.Add(-3 * time.Minute).UnixMilli()
			})
		},
		want: []string{"warning lock_not_renewed"}, says: []string{"lock granted at least 2m57s ago and not renewed"},
	},
	"when a lock was renewed is not told": {edit: func(f *Facts) { // by a C++ member, whose lock time is none
		orderly(f)
		held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.LastLockTimestamp = 0 })
	}},
	"a lock is not held, since when is not told": {
		edit: func(f *Facts) {
			orderly(f)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.Locked, q.LastLockTimestamp = false, 0 })
		},
		want: []string{"warning lock_not_renewed"}, says: []string{"orders broker-a/0 at a: not locked, since when it does not tell"},
	},
	"a lock was lost and is back": {edit: func(f *Facts) {
		orderly(f)
		held(f, "a", mqOf("orders", 0), func(i int, q *protocol.ProcessQueueInfo) { q.Locked = i == 1 })
	}},

	"nothing of a queue is consumed (R018, R021)": {
		edit: func(f *Facts) {
			still(f, 1, longAgo)
			f.Heads = map[protocol.MessageQueue]HeadMessage{mqOf("orders", 1): {Offset: 1000, ID: "7F0001", Keys: "k-9", Stored: visited.Add(-5 * time.Minute), Attempts: 2}}
		},
		want: []string{"critical queue_stuck"},
		says: []string{
			"queue orders broker-a/1 stands still while messages wait", "committed at 1,000 for at least 6.0s, lag 5,100 and growing (+100), 8 cached, nothing consumed for at least 3m57s",
			"it stands at offset 1,000: message 7F0001, stored 5m00s ago, keys k-9, attempt 3", "eyeq message get -t orders --queue broker-a:1 --offset 1000",
		},
	},
	"a queue with nothing cached stands still": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) { longAgo(i, q); q.CachedMsgCount = 0 })
		},
		want: []string{"critical queue_stuck"}, says: []string{"a has nothing cached of it"},
	},
	"a message takes some seconds": {edit: func(f *Facts) {
		still(f, 1, func(_ int, q *protocol.ProcessQueueInfo) {
			q.LastConsumeTimestamp = visited.Add(-20 * time.Second).UnixMilli()
		})
	}, unchecked: "whether orders broker-a/1 goes on from the looks so far: not known yet: messages wait and its commit stands for at least 6.0s, as it may for 1m00s where a listener is only slow"},
	"a message takes some seconds, and its commit was seen there a minute ago": {
		edit: func(f *Facts) {
			still(f, 1, func(_ int, q *protocol.ProcessQueueInfo) {
				q.LastConsumeTimestamp = visited.Add(-20 * time.Second).UnixMilli()
			})
			lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.StandsSince = visited.Add(-18 * time.Minute) })
		},
		want: []string{"critical queue_stuck"}, says: []string{"committed at 1,000 for at least 18m00s"},
	},
	"the broker's commit is old, the member's moves": {edit: func(f *Facts) {
		still(f, 1, func(i int, q *protocol.ProcessQueueInfo) { longAgo(i, q); q.CommitOffset += int64(i) })
	}},
	"two looks that are closer than commits": {edit: func(f *Facts) {
		still(f, 1, longAgo)
		f.Samples[0].At = visited.Add(-3 * time.Second)
	}, unchecked: "its commit stands for at least 3.0s"},
	"the broker does not get the commits": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) { fresh(i, q); q.CommitOffset += 500 + int64(i) })
			lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.StandsSince = visited.Add(-70 * time.Second) })
		},
		want: []string{"critical commit_not_saved"}, says: []string{"queue orders broker-a/1 is consumed, and its broker is not told how far", "committed at 1,000 for at least 1m10s", "by the member's word it is at 1,501"},
	},
	"the broker gets the commits late": {edit: func(f *Facts) {
		still(f, 1, func(i int, q *protocol.ProcessQueueInfo) { fresh(i, q); q.CommitOffset += 500 + int64(i) })
		member(f, "a", func(_ int, m *Member) { m.Info.Properties["persistConsumerOffsetInterval"] = "60000" })
		lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.StandsSince = visited.Add(-70 * time.Second) })
	}, unchecked: "whether orders broker-a/1 goes on"},
	"the member that may hold a queue that stands does not tell": {
		edit: func(f *Facts) {
			still(f, 2, longAgo)
			member(f, "b", func(_ int, m *Member) { m.Info, m.Why = nil, Reason{Kind: ReasonUnsupported} })
			lagRow(f, "orders", 2, func(_ int, q *QueueLag) { q.StandsSince = visited.Add(-61 * time.Second) })
		},
		want: []string{"critical queue_stuck"}, says: []string{"orders broker-a/2 at a member that does not tell: committed at 1,000 for at least 1m01s, lag 5,100 and growing (+100)\n"},
		unchecked: "the owner of broker-a/2-3 of orders from b: not supported",
	},
	"one look only": {
		edit:      func(f *Facts) { still(f, 1, longAgo); f.Samples = f.Samples[1:] },
		unchecked: "whether queues move from one look: not asked: it takes two looks: --samples 2",
	},
	"the oldest message blocks, all others are finished (R023)": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
				fresh(i, q)
				q.CachedMsgCount, q.CachedMsgMaxOffset = 9, 5998
			})
		},
		want: []string{"critical message_blocks"}, says: []string{"finished up to 5,999: 4,990 messages would be delivered again after a restart"},
	},
	"the oldest message blocks and is alone in the cache (R023)": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
				longAgo(i, q)
				q.CachedMsgCount, q.CachedMsgMaxOffset = 1, 1000
			})
			lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.Pulled = Exact(5991) })
		},
		want: []string{"critical message_blocks"}, says: []string{"finished up to 5,991: 4,990 messages would be delivered again"},
	},
	"the same where the broker does not tell what was pulled": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
				longAgo(i, q)
				q.CachedMsgCount, q.CachedMsgMaxOffset, q.LastPullTimestamp = 1, 1000, visited.Add(-9*time.Second).UnixMilli()
			})
			lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.Max = Exact(5991) })
		},
		want: []string{"critical message_blocks"}, says: []string{"finished up to 5,991: 4,990 messages would be delivered again", "lag 4,991, 1 cached"},
	},
	"the oldest message is not finished for a minute (R022)": {
		edit: func(f *Facts) {
			f.Samples[0].At = visited.Add(-stuckAfter)
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
				fresh(i, q)
				q.CachedMsgCount, q.CachedMsgMaxOffset = 1001, 2010
			})
			lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.NextStored = visited.Add(-30 * 24 * time.Hour) })
		},
		want: []string{"critical message_blocks", "warning throttled_by_count"}, says: []string{"its oldest message is not finished", "committed at 1,000 for at least 1m00s"},
	},
	"a backlog of a month, and listeners of some seconds side by side": {edit: func(f *Facts) {
		still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
			fresh(i, q)
			q.CachedMsgCount, q.CachedMsgMaxOffset = 900, 1930
		})
		lagRow(f, "orders", 1, func(_ int, q *QueueLag) { q.NextStored = visited.Add(-30 * 24 * time.Hour) })
	}, unchecked: "whether orders broker-a/1 goes on"},
	"a filter leaves offsets out of the cache": {
		edit: func(f *Facts) {
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) { fresh(i, q); q.CachedMsgMaxOffset = 5998 })
			lag(f, func(_ int, l *GroupLag) { l.Filtered = true })
		},
		want: []string{"info tags_leave_out"}, unchecked: "whether orders broker-a/1 goes on",
	},
	"a blocked queue is over its span by chance": {
		edit: func(f *Facts) {
			backlog(f, 1, 10*time.Minute)
			still(f, 1, func(i int, q *protocol.ProcessQueueInfo) {
				fresh(i, q)
				q.CachedMsgCount, q.CachedMsgMaxOffset = 600, 3001
			})
		},
		want: []string{"critical message_blocks"},
	},
	"an orderly queue fails at one message": {
		edit: func(f *Facts) {
			orderly(f)
			still(f, 1, fresh)
			member(f, "a", func(_ int, m *Member) {
				m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeFailedTPS: 1, ConsumeFailedMsgs: 60}
			})
		},
		want: []string{"critical message_blocks", "warning consumption_failing"},
		says: []string{"its oldest message fails again and again", "eyeq group reset g -t orders --queue broker-a:1 --to shift:+1", "1.0 of 1.0 messages/s fail, 60 in the last hour"},
	},
	"a paused group stands still": {
		edit: func(f *Facts) {
			still(f, 1, longAgo)
			lag(f, func(_ int, l *GroupLag) { l.Pause.Brokers = []string{"broker-a"} })
		},
		want: []string{"warning group_paused"}, says: []string{"consumeEnable is false at broker-a", "eyeq group resume g"},
	},

	"a queue is not pulled (R020)": {
		edit: func(f *Facts) {
			held(f, "a", mqOf("orders", 1), func(_ int, q *protocol.ProcessQueueInfo) {
				q.LastPullTimestamp = visited.Add(-70 * time.Second).UnixMilli()
			})
		},
		want: []string{"critical pull_too_old"}, says: []string{"1 queue was not pulled for more than 1m00s", "last pull 1m07s before its latest sign of life"},
	},
	"a long poll is waiting": {edit: func(f *Facts) {
		held(f, "a", mqOf("orders", 1), func(_ int, q *protocol.ProcessQueueInfo) {
			q.LastPullTimestamp = visited.Add(-25 * time.Second).UnixMilli()
		})
	}},
	"a clock behind ours is no old pull": {
		edit: func(f *Facts) {
			member(f, "a", func(_ int, m *Member) {
				for mq, q := range m.Info.MQTable {
					q.LastPullTimestamp, q.LastConsumeTimestamp, q.LastLockTimestamp = visited.Add(-2*time.Minute).UnixMilli(), 0, 0
					m.Info.MQTable[mq] = q
				}
			})
		},
		unchecked: "whether the queues are pulled: its clock is behind ours, or nothing was for 2m00s from a",
	},
	"nothing was pulled over a long look": {
		edit: func(f *Facts) {
			f.Samples[0].At = visited.Add(-40 * time.Second)
			member(f, "a", func(_ int, m *Member) {
				for mq, q := range m.Info.MQTable {
					q.LastPullTimestamp, q.LastConsumeTimestamp, q.LastLockTimestamp = visited.Add(-2*time.Minute).UnixMilli(), 0, 0
					m.Info.MQTable[mq] = q
				}
			})
		},
		want: []string{"critical pull_too_old"}, says: []string{"3 queues were not pulled"},
	},

	"throttled by count": {
		edit: func(f *Facts) {
			backlog(f, 0, 10*time.Minute)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) {
				q.CachedMsgCount, q.CachedMsgMinOffset, q.CachedMsgMaxOffset = 990, 1000, 1990
			})
		},
		want: []string{"warning throttled_by_count"}, says: []string{"count 990 of 1,000 (between two pulls, which bring up to 32), lag", "next message stored 10m00s ago"},
	},
	"an empty queue under a limit below a batch": {edit: func(f *Facts) {
		backlog(f, 0, 10*time.Minute)
		member(f, "a", func(_ int, m *Member) { m.Info.Properties["pullThresholdForQueue"] = "10" })
		member(f, "b", func(_ int, m *Member) { m.Info.Properties["pullThresholdForQueue"] = "10" })
	}},
	"throttled by size": {
		edit: func(f *Facts) {
			backlog(f, 0, 10*time.Minute)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.CachedMsgSizeInMiB, q.CachedMsgCount = 101, 30 })
		},
		want: []string{"warning throttled_by_size"}, says: []string{"size 101 of 100"},
	},
	"throttled by span": {
		edit: func(f *Facts) {
			backlog(f, 0, 10*time.Minute)
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) {
				q.CachedMsgCount, q.CachedMsgMinOffset, q.CachedMsgMaxOffset = 612, 1000, 3001
			})
		},
		want: []string{"warning throttled_by_span"}, says: []string{"span 2,001 of 2,000"},
	},
	"an orderly queue has no span limit": {edit: func(f *Facts) {
		orderly(f)
		backlog(f, 0, 10*time.Minute)
		held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) {
			q.CachedMsgCount, q.CachedMsgMinOffset, q.CachedMsgMaxOffset = 612, 1000, 3001
		})
	}},
	"a burst fills the cache": {edit: func(f *Facts) {
		backlog(f, 0, 20*time.Second)
		held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.CachedMsgCount = 1001 })
	}},
	"the cache was full once": {edit: func(f *Facts) {
		backlog(f, 0, 10*time.Minute)
		held(f, "a", mqOf("orders", 0), func(i int, q *protocol.ProcessQueueInfo) { q.CachedMsgCount = 1001 * int32(i) })
	}},
	"the member's own limit counts": {edit: func(f *Facts) {
		backlog(f, 0, 10*time.Minute)
		member(f, "a", func(_ int, m *Member) { m.Info.Properties["pullThresholdForQueue"] = "5000" })
		member(f, "b", func(_ int, m *Member) { m.Info.Properties["pullThresholdForQueue"] = "5000" })
		held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.CachedMsgCount = 1001 })
	}},

	"listeners are the bottleneck": {
		edit: func(f *Facts) {
			backlog(f, 0, time.Minute)
			member(f, "a", func(_ int, m *Member) {
				m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeRT: 500, ConsumeOKTPS: 39}
			})
		},
		want: []string{"warning consumer_slow"}, says: []string{"a: about 20 of 20 threads in listeners, 500 ms a call, and 5,090 messages wait"},
	},
	"busy and keeping up": {edit: func(f *Facts) {
		member(f, "a", func(_ int, m *Member) {
			m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeRT: 500, ConsumeOKTPS: 39}
		})
	}},
	"slow calls of large batches": {edit: func(f *Facts) {
		backlog(f, 0, time.Minute)
		everyMember(f, func(_ int, m *Member) {
			m.Info.Properties["consumeMessageBatchMaxSize"] = "32"
			m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeRT: 500, ConsumeOKTPS: 100}
		})
	}},
	"listeners fail": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeOKTPS: 9, ConsumeFailedTPS: 1, ConsumeFailedMsgs: 1234}
			})
		},
		want: []string{"warning consumption_failing"}, says: []string{"orders at b: 1.0 of 10.0 messages/s fail, 1,234 in the last hour"},
	},
	"listeners fail before the hour has a count": {
		edit: func(f *Facts) {
			member(f, "b", func(_ int, m *Member) {
				m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeFailedTPS: 0.5}
			})
		},
		want: []string{"warning consumption_failing"}, says: []string{"orders at b: 0.5 of 0.5 messages/s fail\n"},
	},
	"one in a hundred fails": {edit: func(f *Facts) {
		member(f, "b", func(_ int, m *Member) {
			m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeOKTPS: 99, ConsumeFailedTPS: 1, ConsumeFailedMsgs: 60}
		})
	}},
	"a retry storm (R098)": {
		edit: func(f *Facts) {
			lagRow(f, "%RETRY%g", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(100+60*int64(i)), Exact(100+55*int64(i)) })
		},
		want: []string{"warning retry_storm"}, says: []string{"5 wait in %RETRY%g", "60 messages came back within 6.0s (10.0/s), while 20.0/s succeed"},
	},
	"a retry storm between two waves": {
		edit: func(f *Facts) {
			everyMember(f, func(_ int, m *Member) {
				m.Info.StatusTable["%RETRY%g"] = protocol.ConsumeStatus{ConsumeOKTPS: 0.1, ConsumeFailedTPS: 2.5}
				m.Info.StatusTable["orders"] = protocol.ConsumeStatus{ConsumeOKTPS: 10, ConsumeFailedTPS: 0.1}
			})
		},
		want: []string{"warning consumption_failing", "warning retry_storm"}, says: []string{"0 messages came back within 6.0s", "members consume 5.2/s that come back"},
	},
	"some retries": {edit: func(f *Facts) {
		lagRow(f, "%RETRY%g", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(100+9*int64(i)), Exact(100+9*int64(i)) })
	}},
	"a retry topic that is full": {
		edit: func(f *Facts) {
			lagRow(f, "%RETRY%g", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(5000), Exact(90+10*int64(i)) })
			held(f, "a", mqOf("%RETRY%g", 0), func(i int, q *protocol.ProcessQueueInfo) { fresh(i, q) })
		},
		want: []string{"warning retry_storm"}, says: []string{"many messages have failed and wait to be tried again", "4,900 wait in %RETRY%g"},
	},
	"dead letters come in": {
		edit: func(f *Facts) { lag(f, func(i int, l *GroupLag) { l.DeadLetters = Exact(10 + 3*int64(i)) }) },
		want: []string{"warning dead_letters_growing"}, says: []string{"13 messages in %DLQ%g", "3 more within 6.0s"},
	},
	"a dead letter came lately": {
		edit: func(f *Facts) {
			lag(f, func(_ int, l *GroupLag) { l.DeadLetters = Exact(10) })
			f.DeadStored = visited.Add(-3 * time.Minute)
		},
		want: []string{"warning dead_letters_growing"}, says: []string{"the last one was stored 3m00s ago"},
	},
	"old dead letters": {edit: func(f *Facts) {
		lag(f, func(_ int, l *GroupLag) { l.DeadLetters = Exact(10) })
		f.DeadStored = visited.Add(-3 * time.Hour)
	}},

	"messages expired unread": {
		edit: func(f *Facts) {
			lagRow(f, "orders", 0, func(i int, q *QueueLag) { q.Min, q.Committed = Exact(700), Exact(490+10*int64(i)) })
		},
		want: []string{"critical backlog_expired"}, says: []string{"200 messages expired before they were consumed", "committed at 500, the first message left is 700"},
	},
	"expired and nothing committed": {edit: func(f *Facts) {
		lagRow(f, "orders", 0, func(_ int, q *QueueLag) { q.Min, q.Committed = Exact(700), Unknown(Reason{Kind: ReasonNoCommit}) })
	}},
	"a backlog is about to expire (R084)": {
		edit: func(f *Facts) {
			backlog(f, 0, 50*time.Minute)
			lagRow(f, "orders", 0, func(_ int, q *QueueLag) { q.ExpiresAt = q.NextStored.Add(time.Hour) })
		},
		want: []string{"warning backlog_expiring"}, says: []string{"stored 50m00s ago and will be deleted in about 10m00s"},
	},
	"a backlog with time left": {edit: func(f *Facts) {
		backlog(f, 0, 30*time.Minute)
		lagRow(f, "orders", 0, func(_ int, q *QueueLag) { q.ExpiresAt = q.NextStored.Add(time.Hour) })
	}},
	"committed beyond the end (R076)": {
		edit: func(f *Facts) {
			lagRow(f, "orders", 0, func(_ int, q *QueueLag) { q.Max, q.Committed = Exact(10), Exact(100) })
		},
		want: []string{"critical commit_ahead"}, says: []string{"90 messages to come may be skipped", "ahead by 90; passed are the 10 messages that it holds"},
	},
	"a member beyond the end of a topic that is new": {
		edit: func(f *Facts) {
			lagRow(f, "orders", 0, func(_ int, q *QueueLag) { q.Max, q.Committed = Exact(3), Unknown(Reason{Kind: ReasonNoCommit}) })
			held(f, "a", mqOf("orders", 0), func(_ int, q *protocol.ProcessQueueInfo) { q.CommitOffset = 100 })
		},
		want:      []string{"critical commit_ahead"},
		says:      []string{"97 messages to come may be skipped", "orders broker-a/0: its member a is at 100 by its own word, the end is 3"},
		unchecked: "whether orders broker-a/0 goes on",
	},
	"a commit that is younger than the end": {edit: func(f *Facts) {
		lagRow(f, "orders", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(1000+60*int64(i)), Exact(1005+60*int64(i)) })
	}},
	"nobody is there and messages wait": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				f.Samples[i].Members.Members, f.Samples[i].Members.Kind = nil, KindUnknown
			}
			backlog(f, 0, time.Hour)
			lag(f, func(_ int, l *GroupLag) { l.Members, l.State = Exact(0), StateOffline })
		},
		want: []string{"critical offline_with_lag"}, says: []string{"5,090 messages wait", "committed at 1,010, lag 5,090, next message stored 1h00m ago"},
	},
	"nobody is there and nothing waits": {edit: func(f *Facts) {
		for i := range f.Samples {
			f.Samples[i].Members.Members = nil
		}
		lag(f, func(_ int, l *GroupLag) { l.Members, l.State = Exact(0), StateOffline })
	}},
	"who is there could not be asked (R168)": {
		edit: func(f *Facts) {
			for i := range f.Samples {
				f.Samples[i].Members.Members = nil
			}
			backlog(f, 0, time.Hour)
			lag(f, func(_ int, l *GroupLag) { l.Members = Unknown(Reason{ReasonUnreachable, "broker-a"}) })
		},
		unchecked: "the members of g from the brokers: unreachable: broker-a",
	},
	"a member puts its offset right between the looks, in a topic that is new": {
		edit: func(f *Facts) {
			lagRow(f, "orders", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(5), Exact([]int64{100, 5}[i]) })
			held(f, "a", mqOf("orders", 0), func(i int, q *protocol.ProcessQueueInfo) { q.CommitOffset = []int64{100, 5}[i] })
		},
		want: []string{"critical commit_ahead"},
		says: []string{"1 queue was committed beyond its end until just now (topic re-created?): up to 5 messages may not have been consumed", "orders broker-a/0: at 100 at the first look, beyond the end at 5, and committed at 5 now"},
	},
	"the same, where the broker had forgotten the commit with the topic": {
		edit: func(f *Facts) {
			lagRow(f, "orders", 0, func(i int, q *QueueLag) {
				q.Max, q.Committed = Exact(5), []Number{Unknown(Reason{Kind: ReasonNoCommit}), Exact(5)}[i]
			})
			held(f, "a", mqOf("orders", 0), func(i int, q *protocol.ProcessQueueInfo) { q.CommitOffset = []int64{100, 5}[i] })
		},
		want: []string{"critical commit_ahead"}, says: []string{"at 100 at the first look"},
	},
	"a member starts at the beginning of a topic that is new": {edit: func(f *Facts) {
		lagRow(f, "orders", 0, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(0), Exact([]int64{100, 0}[i]) })
		held(f, "a", mqOf("orders", 0), func(i int, q *protocol.ProcessQueueInfo) { q.CommitOffset = []int64{100, 0}[i] })
	}},
	"tags that leave none of the messages looked at out": {
		edit: func(f *Facts) {
			backlog(f, 0, time.Minute)
			lag(f, func(_ int, l *GroupLag) { l.Filtered = true })
			f.Matching = TagSample{Looked: 16, Match: 16}
		},
		want: []string{"info tags_leave_out"}, says: []string{"the lag may count messages that the group's filter leaves out, but none of those looked at\n", "where the backlog begins 16 match"},
	},
	"tags, and no message could be looked at": {
		edit: func(f *Facts) { backlog(f, 0, time.Minute); lag(f, func(_ int, l *GroupLag) { l.Filtered = true }) },
		want: []string{"info tags_leave_out"}, says: []string{"the lag may count messages that the group's filter leaves out\n"},
	},
	"one topic is paused at one of two brokers": {
		edit: func(f *Facts) {
			lag(f, func(_ int, l *GroupLag) { l.Pause.Of, l.Pause.Topics = 2, map[string][]string{"orders": {"broker-a"}} })
		},
		want: []string{"warning topic_paused"}, says: []string{"the group is kept from reading orders at 1 of 2 brokers\n"},
	},
	"three processes with one client id": {
		edit: func(f *Facts) {
			member(f, "a", func(_ int, m *Member) { m.Addresses = []string{"10.0.1.1:40000", "10.0.1.2:40000", "10.0.1.3:40000"} })
		},
		want: []string{"critical client_id_shared"}, says: []string{"1 client id, 3 connections: 3 processes call themselves a", "all take the first share"},
	},
	"tags that leave most out (R085)": {
		edit: func(f *Facts) {
			backlog(f, 0, time.Minute)
			lag(f, func(_ int, l *GroupLag) { l.Filtered = true })
			f.Matching = TagSample{Looked: 64, Match: 1}
		},
		want: []string{"info tags_leave_out"}, says: []string{"the lag counts messages that the group's filter leaves out: 63 of 64 looked at\n", "of 64 messages looked at where the backlog begins 1 matches"},
	},

	"one topic is paused": {
		edit: func(f *Facts) {
			lag(f, func(_ int, l *GroupLag) { l.Pause.Topics = map[string][]string{"orders": {"broker-a"}} })
		},
		want: []string{"warning topic_paused"}, says: []string{"kept from reading orders", "eyeq group resume g -t orders"},
	},
	"paused at one of two brokers": {
		edit: func(f *Facts) {
			lag(f, func(_ int, l *GroupLag) { l.Pause = Pause{Brokers: []string{"broker-b"}, Of: 2} })
		},
		want: []string{"warning group_paused"}, says: []string{"paused at 1 of 2 brokers"},
	},
	"brokers differ in the configuration (R105)": {
		edit: func(f *Facts) {
			f.Detail.Differences = []string{"retryMaxTimes"}
			f.Detail.Configs = []GroupConfig{{Broker: "broker-a", Fields: map[string]string{"retryMaxTimes": "16"}}, {Broker: "broker-b", Fields: map[string]string{"retryMaxTimes": "5"}}}
		},
		want: []string{"warning config_differs"}, says: []string{"retryMaxTimes at broker-a: 16", "retryMaxTimes at broker-b: 5"},
	},
	"a broker with queues of the group has no configuration": {
		edit: func(f *Facts) {
			f.Detail.Differences = []string{"groupName", "retryMaxTimes"}
			f.Detail.Configs = []GroupConfig{
				{Broker: "broker-a", Fields: map[string]string{"groupName": `"g"`, "retryMaxTimes": "16"}, Queues: 5},
				{Broker: "broker-b", Why: Reason{ReasonNotFound, "the broker has no configuration of it"}, Queues: 1},
				{Broker: "broker-c", Why: Reason{ReasonNotFound, "the broker has no configuration of it"}},
				{Broker: "broker-d", Fields: map[string]string{"groupName": `"g"`, "retryMaxTimes": "5"}},
			}
		},
		want: []string{"warning config_differs"}, says: []string{strings.Join([]string{
			`groupName at broker-a: "g"`, "groupName at broker-b: no configuration, and 1 queue of the group", `groupName at broker-d: "g"`,
			"retryMaxTimes at broker-a: 16", "retryMaxTimes at broker-d: 5", "next: Make them the same",
		}, "\n    ")},
	},
	"a broker cannot be reached": {
		edit: func(f *Facts) {
			f.Brokers.Brokers[0].Reachable, f.Brokers.Brokers[0].Why = false, Reason{ReasonUnreachable, "no answer in time"}
		},
		want: []string{"critical broker_unreachable"}, says: []string{"5 queues of the group are there"},
	},
	"nor what waits there": {
		edit: func(f *Facts) {
			f.Brokers.Brokers[0].Reachable, f.Brokers.Brokers[0].Why = false, Reason{ReasonUnreachable, "no answer in time"}
			lag(f, func(_ int, l *GroupLag) {
				for i := range l.Queues {
					l.Queues[i].Lag = Unknown(Reason{ReasonUnreachable, "no answer in time"})
				}
			})
		},
		want: []string{"critical broker_unreachable"}, says: []string{"5 queues of the group are there, where it is not known how many messages wait"},
		unchecked: "offsets of orders from broker-a: unreachable: no answer in time\n",
	},
	"a broker without queues of the group cannot be reached": {edit: func(f *Facts) {
		f.Brokers.Brokers = append(f.Brokers.Brokers, BrokerRow{Broker: "broker-z", Why: Reason{Kind: ReasonUnreachable}})
	}},
	"a broker may not be asked": {edit: func(f *Facts) {
		f.Brokers.Brokers[0].Reachable, f.Brokers.Brokers[0].Why = false, Reason{Kind: ReasonDenied}
	}, unchecked: "the state of broker broker-a from 10.0.0.1:10911: denied"},
	"a broker refuses to tell of itself": {edit: func(f *Facts) {
		f.Brokers.Brokers[0].Why = Reason{ReasonFailed, "no"}
	}, unchecked: "the state of broker broker-a from 10.0.0.1:10911: failed: no"},
	"a broker is slow": {
		edit: func(f *Facts) { brokers(f, func(_ int, b *BrokerRow) { b.PullWait = 900 * time.Millisecond }) },
		want: []string{"warning broker_slow"}, says: []string{"the oldest pull waits 900ms", "so twice within 6.0s"},
	},
	"a broker was slow once": {edit: func(f *Facts) {
		brokers(f, func(i int, b *BrokerRow) { b.RTT = time.Duration(1+i*3000) * time.Millisecond })
	}},
	"a broker refuses sends for being busy": {
		edit: func(f *Facts) { brokers(f, func(_ int, b *BrokerRow) { b.SendWait = 300 * time.Millisecond }) },
		want: []string{"warning broker_slow"}, says: []string{"busy: a send waits 300ms, they are refused from 200ms"},
	},
	"a broker cannot store messages": {
		edit: func(f *Facts) { brokers(f, func(i int, b *BrokerRow) { b.PutFailed.Value += int64(i) * 7 }) },
		want: []string{"warning broker_store_fails"}, says: []string{"did not store 7 messages", "7 messages could not be stored within 6.0s, 10 since its start"},
	},
	"a broker forbids to pull (R313)": {
		edit: func(f *Facts) {
			brokers(f, func(_ int, b *BrokerRow) { b.Perm = Exact(2) })
			for _, mq := range []protocol.MessageQueue{mqOf("orders", 0), mqOf("orders", 1), mqOf("orders", 2), mqOf("orders", 3), mqOf("%RETRY%g", 0)} {
				lose(f, "a", mq)
				lose(f, "b", mq)
				lag(f, func(_ int, l *GroupLag) {
					l.Unreadable = append(l.Unreadable, UnreadableQueue{MessageQueue: mq, Min: Exact(0), Max: Exact(6100), Read: 4, Write: 4, Perm: protocol.PermWrite})
				})
			}
			lagRow(f, "orders", 1, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(6000+100*int64(i)), Exact(1000) })
		},
		want: []string{"critical broker_read_forbidden"},
		says: []string{"broker broker-a forbids to pull: nothing of it is consumed", "brokerPermission is 2 (-W-), 6 is both", "mqadmin updateBrokerConfig -b 10.0.0.1:10911 -k brokerPermission -v 6", "5 queues of the group are there, where 5,100 messages wait"},
	},
	"a broker is read-only": {
		edit: func(f *Facts) { brokers(f, func(_ int, b *BrokerRow) { b.Perm = Exact(4) }) },
		want: []string{"warning broker_write_forbidden"}, says: []string{"broker broker-a is set to read-only", "brokerPermission is 4 (R--)"},
	},
	"a broker's permission is not known": {edit: func(f *Facts) {
		brokers(f, func(_ int, b *BrokerRow) { b.Perm = Unknown(Reason{Kind: ReasonDenied}) })
	}, unchecked: "the permission and limits of broker broker-a from 10.0.0.1:10911: denied"},
	"a master is away": {
		edit: func(f *Facts) {
			slave(f, func(b *BrokerRow) { b.NoMaster = true })
			slave(f, func(b *BrokerRow) { b.NoMaster, b.ID = true, 2 })
			f.Brokers.Brokers = f.Brokers.Brokers[1:]
		},
		want: []string{"warning master_away"}, says: []string{"broker broker-a has no master: only its slave 1 at 10.0.0.2:10911 is registered"},
	},
	"a master is away from an orderly group": {
		edit: func(f *Facts) {
			orderly(f)
			slave(f, func(b *BrokerRow) { b.NoMaster = true })
			f.Brokers.Brokers = f.Brokers.Brokers[1:]
		},
		want: []string{"critical master_away"}, says: []string{"its queues there get no lock"},
	},
	"a slave is behind": {
		edit: func(f *Facts) { slave(f, func(b *BrokerRow) { b.Behind = Exact(300 << 20) }) },
		want: []string{"warning slave_behind"}, says: []string{"broker broker-a (slave 1) is 300.0 MiB behind its master", "from 256.0 MiB on its master does not count on it"},
	},
	"a slave follows": {edit: func(f *Facts) { slave(f, func(*BrokerRow) {}) }},
	"more write than read queues (R309)": {
		edit: func(f *Facts) { unread(f, 6, 7, 5) },
		want: []string{"critical queues_unreadable"},
		says: []string{"2 queues of orders cannot be read: 12 messages lie there", "not readable: broker-a/4-5", "4 queues to read and 6 to write to", "-t orders -r 6 -w 6 -p 6"},
	},
	"more write than read queues, and nothing sent yet": {
		edit: func(f *Facts) { unread(f, 6, 0) },
		want: []string{"warning queues_unreadable"}, says: []string{"queue broker-a/4 of orders cannot be read: no message is there"},
	},
	"a topic that may only be written to": {
		edit: func(f *Facts) { unread(f, protocol.PermWrite, 1) },
		want: []string{"critical queues_unreadable"}, says: []string{"the topic's permission there is -W-", "1 message lies there"},
	},
	"a queue that is read no more has no owner": {edit: func(f *Facts) {
		unread(f, 0, 60)
		lag(f, func(_ int, l *GroupLag) {
			l.Queues = append(l.Queues, lagQueue("orders", 4, 0, 60, 60, visited))
		})
	}},
	"a disk is nearly full": {
		edit: func(f *Facts) { f.Brokers.Brokers[0].Disk = 0.86 },
		want: []string{"warning broker_disk_full"}, says: []string{"86 % full", "from 85 % what is not, and from 90 % it takes no messages"},
	},
	"a disk is full": {
		edit: func(f *Facts) { f.Brokers.Brokers[0].Disk = 0.91 },
		want: []string{"critical broker_disk_full"}, says: []string{"91 % full: it takes no messages"},
	},
	"the brokers could not be asked": {
		edit:      func(f *Facts) { f.Brokers, f.BrokersWhy = Brokers{}, Reason{Kind: ReasonUnreachable} },
		unchecked: "brokers and name servers from the name servers: unreachable",
	},
	"name servers disagree": {
		edit: func(f *Facts) {
			f.Brokers.Namesrv = append(f.Brokers.Namesrv, NamesrvRow{Address: "10.0.0.8:9876", Reachable: true, Differs: []string{"broker-b"}})
		},
		want: []string{"critical namesrv_differ"}, says: []string{"10.0.0.8:9876 announces brokers otherwise", "broker-b is at other addresses there"},
	},
	"a name server is down": {
		edit: func(f *Facts) {
			f.Brokers.Namesrv = append(f.Brokers.Namesrv, NamesrvRow{Address: "10.0.0.8:9876", Why: Reason{ReasonUnreachable, "refused"}})
		},
		want: []string{"warning namesrv_unreachable"},
	},
	"a broker's clock is ahead": {
		edit: func(f *Facts) { f.Brokers.Brokers[0].Clock = 40 * time.Second },
		want: []string{"warning clocks_apart"}, says: []string{"broker broker-a at 10.0.0.1:10911: 40s ahead of ours"},
	},
	"a broker's clock is not known": {edit: func(f *Facts) {
		f.Brokers.Brokers[0].Clock, f.Brokers.Brokers[0].ClockKnown = 40*time.Second, false
	}},
	"a member's clock is behind": {
		edit: func(f *Facts) { shiftClock(f, "a", -90*time.Second) },
		want: []string{"warning clocks_apart"}, says: []string{"member a: at least 1m26s behind ours"},
	},
	"a member's clock is ahead": {
		edit: func(f *Facts) { shiftClock(f, "a", 90*time.Second) },
		want: []string{"warning clocks_apart"}, says: []string{"member a: at least 1m27s ahead of ours"},
	},
	"the clock of a member that did not pull between the looks is ahead": {
		edit: func(f *Facts) {
			shiftClock(f, "a", 90*time.Second)
			member(f, "a", func(i int, m *Member) {
				for mq, q := range m.Info.MQTable {
					q.LastPullTimestamp = visited.Add(84 * time.Second).UnixMilli()
					m.Info.MQTable[mq] = q
				}
			})
		},
		want: []string{"warning clocks_apart"}, says: []string{"member a: at least 1m27s ahead of ours"},
	},
	"a member's clock is off by a second": {edit: func(f *Facts) { shiftClock(f, "a", time.Second) }},
	"a stuck queue at a member whose clock is off": {
		edit: func(f *Facts) { still(f, 1, longAgo); shiftClock(f, "a", -time.Hour) },
		want: []string{"critical queue_stuck", "warning clocks_apart"}, says: []string{"nothing consumed for at least 3m57s"},
	},
}
