package protocol

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// pullAnswer is an answer to code 11 of 5.3.3 with one message; 4.9 is alike.
const pullAnswer = "5.3.3_java-remoting_response_PULL-MESSAGE_SUCCESS_messages.bin"

// fullPullAnswer is pullAnswer with 32 messages, as a busy queue's answers have.
func fullPullAnswer(b *testing.B) []byte {
	b.Helper()
	f := recorded(b, pullAnswer)
	c := f.command(b)
	c.Body = slices.Repeat(c.Body, 32)
	frame, err := AppendFrame(nil, &c, SerializeJSON)
	if err != nil {
		b.Fatal(err)
	}
	return frame[4:]
}

func BenchmarkDecodePullAnswerHeader(b *testing.B) {
	frame := fullPullAnswer(b)
	b.ReportAllocs()
	var h PullMessageResponseHeader
	for b.Loop() {
		c, err := DecodeCommand(frame)
		if err != nil {
			b.Fatal(err)
		}
		if err := DecodeFields(c.ExtFields, &h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeCommand(b *testing.B) {
	for name, file := range map[string]string{
		"answer/JSON":      pullAnswer,
		"answer/ROCKETMQ":  "4.9.7_go-push-rocketmq_response_PULL-MESSAGE_SUCCESS_rmqheader_messages.bin",
		"request/JSON":     "4.9.7_go-pull_request_PULL-MESSAGE.bin",
		"request/ROCKETMQ": "4.9.7_go-push-rocketmq_request_PULL-MESSAGE_rmqheader.bin",
	} {
		frame := recorded(b, file).bytes[4:]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeCommand(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeaders writes the ext fields of headers that are sent often, and reads those
// that are answered often.
func BenchmarkHeaders(b *testing.B) {
	commit := UpdateConsumerOffsetRequestHeader{ConsumerGroup: "CG_orders", Topic: "orders", QueueID: 3, CommitOffset: 123456700, BrokerName: "broker-a"}
	send := SendMessageRequestHeader{
		ProducerGroup: "CG_orders", Topic: "orders", DefaultTopic: "TBW102", DefaultTopicQueueNums: 4, QueueID: 3,
		Born: time.UnixMilli(1795967180231), Properties: "UNIQ_KEY\x010A", BrokerName: "broker-a",
	}
	back := ConsumerSendMsgBackRequestHeader{
		Offset: 123456789, Group: "CG_orders", OriginMsgID: "7F00000100002A9F0000000000000585", OriginTopic: "orders", MaxReconsumeTimes: 16, BrokerName: "broker-a",
	}
	pull := PullMessageResponseHeader{NextBeginOffset: 123456789, MinOffset: 1, MaxOffset: 123456790}
	sent := SendMessageResponseHeader{MsgID: back.OriginMsgID, QueueID: 3, QueueOffset: 123456789, TransactionID: "0A"}
	for name, fields := range map[string]func() ExtFields{
		"commit": func() ExtFields { return EncodeFields(&commit) }, "send": func() ExtFields { return send.FieldsV2() },
		"send_back": func() ExtFields { return EncodeFields(&back) },
	} {
		b.Run("write/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fields()
			}
		})
	}
	pulled, stored := EncodeFields(&pull), EncodeFields(&sent)
	for name, read := range map[string]func() error{
		"pull": func() error { var h PullMessageResponseHeader; return DecodeFields(pulled, &h) },
		"send": func() error { var h SendMessageResponseHeader; return DecodeFields(stored, &h) },
	} {
		b.Run("read/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeMessage decodes whole answers of 32 messages into slices that
// are kept, and reports what one message costs.
func BenchmarkDecodeMessage(b *testing.B) {
	c, err := DecodeCommand(fullPullAnswer(b))
	if err != nil {
		b.Fatal(err)
	}
	source := &MessageSource{BrokerName: "broker-a", Topic: "H3Main"}
	kept := make([][]MessageExt, 64) // overwritten in turn, so that none can stay on the stack
	n := 0
	allocs := testing.AllocsPerRun(10, func() { kept[0], err = AppendMessages(nil, c.Body, source) })
	for b.Loop() {
		messages, err := AppendMessages(nil, c.Body, source)
		if err != nil || len(messages) != 32 {
			b.Fatal(len(messages), err)
		}
		kept[n%len(kept)] = messages
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(32*n), "ns/message")
	b.ReportMetric(allocs/32, "allocs/message")
}

func BenchmarkMessageProperty(b *testing.B) {
	f := recorded(b, pullAnswer)
	messages, err := AppendMessages(nil, f.command(b).Body, nil)
	if err != nil {
		b.Fatal(err)
	}
	m := &messages[0]
	for _, name := range []string{PropertyTags, PropertyUniqKey, "MISSING"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Property(name)
			}
		})
	}
}

func BenchmarkPullRequest(b *testing.B) {
	h := PullMessageRequestHeader{
		ConsumerGroup: "CG_orders", Topic: "orders", QueueID: 3, QueueOffset: 123456789, MaxMsgNums: 32, SysFlag: 3,
		CommitOffset: 123456700, SuspendTimeout: 15 * time.Second, SubVersion: 1795967180231, ExpressionType: "TAG", BrokerName: "broker-a",
	}
	dst := make([]byte, 0, 1024)
	b.Run("encoder", func(b *testing.B) {
		e := NewPullRequestEncoder(h, nil)
		b.ReportAllocs()
		for b.Loop() {
			dst = e.AppendFrame(dst[:0], 77, h.QueueOffset, h.CommitOffset, h.SysFlag)
		}
	})
	b.Run("command", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := Command{Code: int32(PullMessage), Language: LanguageGo, Version: Version, Opaque: 77, ExtFields: EncodeFields(&h)}
			var err error
			if dst, err = AppendFrame(dst[:0], &c, SerializeJSON); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecompress(b *testing.B) {
	body := []byte(strings.Repeat("some body that is worth compressing, ", 300))
	d := new(Decompressor)
	for kind, sysFlag := range compressionTypes {
		compressed, err := Compress(sysFlag, body)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decompress(sysFlag, compressed, MaxBodyLength); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
