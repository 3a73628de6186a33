package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

// setting is one key of the configuration: what the loader, config.example.toml,
// `config init` and `config show` know of it.
type setting struct {
	Table string // "", "clusters" (then in each [clusters.NAME]), "consumer", "screen", "keys"
	Key   string // with dots inside an inline table
	Doc   string
	// Set takes the decoded value; its error is the rule that the value breaks.
	Set func(c *Config, name string, raw any) error
	// Show gives the value as TOML.
	Show func(c *Config, name string) string
}

// The settings in the order of config.example.toml.
var Settings = []setting{
	text("", "default_cluster", "the cluster used when neither flag nor environment names one; \"\" is the only one there is",
		func(c *Config, _ string) *string { return &c.DefaultCluster }),

	{Table: "clusters", Key: "namesrv", Doc: "the name servers, each HOST:PORT",
		Set: func(c *Config, name string, raw any) error {
			list, ok := raw.([]any)
			if !ok {
				return errors.New(`must be a list such as ["127.0.0.1:9876"]`)
			}
			addrs := make([]string, 0, len(list))
			for _, one := range list {
				s, ok := one.(string)
				if !ok {
					return errors.New("must hold texts, each HOST:PORT")
				}
				addr, err := namesrvAddress(s)
				if err != nil {
					return err
				}
				addrs = append(addrs, addr)
			}
			c.Clusters[name].Namesrv = addrs
			return nil
		},
		Show: func(c *Config, name string) string {
			return TomlList(c.Clusters[name].Namesrv)
		}},
	boolean("clusters", "production", "true: starts read-only unless mode says otherwise",
		func(c *Config, name string) *bool { return &c.Clusters[name].production }),
	{Table: "clusters", Key: "mode", Doc: "read-only, confirm (ask before a change) or open; \"\" is read-only for production, else confirm",
		Set: func(c *Config, name string, raw any) error {
			i, err := oneOf(raw, append([]string{""}, modeNames...)...)
			c.Clusters[name].mode = Mode(i)
			return err
		},
		Show: func(c *Config, name string) string { return QuoteTOML(c.Clusters[name].mode.String()) }},
	addressSetting,
	choice("clusters", "color", "colour of the cluster's name on the screen: "+OrList(colors[1:]),
		func(c *Config, name string) *string { return &c.Clusters[name].Color }, colors...),
	boolean("clusters", "tls.enable", "connect with TLS",
		func(c *Config, name string) *bool { return &c.Clusters[name].TLS.Enable }),
	text("clusters", "tls.ca", "file of the certificates to trust, in PEM form; \"\" is the system's",
		func(c *Config, name string) *string { return &c.Clusters[name].TLS.CA }),
	text("clusters", "tls.cert", "file of our own certificate, in PEM form, where the servers want one",
		func(c *Config, name string) *string { return &c.Clusters[name].TLS.cert }),
	text("clusters", "tls.key", "file of its key, which nobody else may read",
		func(c *Config, name string) *string { return &c.Clusters[name].TLS.key }),
	text("clusters", "tls.server_name", "the name the server's certificate must have; \"\" is the host of its address, as it is before address_map",
		func(c *Config, name string) *string { return &c.Clusters[name].TLS.ServerName }),
	boolean("clusters", "tls.insecure_skip_verify", "true: take any certificate, so that anybody may be at the other end; for tests only",
		func(c *Config, name string) *bool { return &c.Clusters[name].TLS.InsecureSkipVerify }),
	text("clusters", "auth.access_key", "the access key that requests are signed with (ACL 4.x, authentication 5.x); EYEQ_ACCESS_KEY and EYEQ_SECRET_KEY win",
		func(c *Config, name string) *string { return &c.Clusters[name].Auth.AccessKey }),
	text("clusters", "auth.secret_key_env", "environment variable that holds the secret key",
		func(c *Config, name string) *string { return &c.Clusters[name].Auth.SecretKeyEnv }),
	text("clusters", "auth.secret_key_file", "or: file that holds the secret key, which others may not read",
		func(c *Config, name string) *string { return &c.Clusters[name].Auth.SecretKeyFile }),
	text("clusters", "auth.secret_key_command", "or: command that prints the secret key, run by the shell",
		func(c *Config, name string) *string { return &c.Clusters[name].Auth.SecretKeyCommand }),

	{Table: "consumer", Key: "message_model", Doc: "CLUSTERING: the group shares the queues; BROADCASTING: each member reads all",
		Set: func(c *Config, _ string, raw any) error {
			i, err := oneOf(raw, "CLUSTERING", "BROADCASTING")
			c.Consumer.MessageModel = protocol.MessageModel(i + 1)
			return err
		},
		Show: func(c *Config, _ string) string {
			return QuoteTOML([]string{"", "CLUSTERING", "BROADCASTING"}[c.Consumer.MessageModel])
		}},
	{Table: "consumer", Key: "consume_from_where", Doc: "where a group without offsets starts: CONSUME_FROM_LAST_OFFSET, CONSUME_FROM_FIRST_OFFSET or CONSUME_FROM_TIMESTAMP",
		Set: func(c *Config, _ string, raw any) error {
			i, err := oneOf(raw, fromWhereNames...)
			c.Consumer.ConsumeFromWhere = protocol.ConsumeFromWhere(i + 1)
			return err
		},
		Show: func(c *Config, _ string) string {
			return QuoteTOML(fromWhereNames[c.Consumer.ConsumeFromWhere-1])
		}},
	{Table: "consumer", Key: "consume_timestamp", Doc: "the start for CONSUME_FROM_TIMESTAMP, as 20060102150405 (local time) or RFC 3339; \"\" is half an hour ago",
		Set: func(c *Config, _ string, raw any) error {
			s, ok := raw.(string)
			if !ok {
				return errors.New("must be a text")
			}
			t, err := parseConsumeTimestamp(s)
			c.Consumer.ConsumeTimestamp = t
			return err
		},
		Show: func(c *Config, _ string) string {
			if c.Consumer.ConsumeTimestamp.IsZero() {
				return `""`
			}
			return QuoteTOML(c.Consumer.ConsumeTimestamp.Format(time.RFC3339))
		}},
	{Table: "consumer", Key: "allocate_message_queue_strategy",
		Doc: "who gets which queue: AVG, AVG_BY_CIRCLE, CONFIG, MACHINE_ROOM, MACHINE_ROOM_NEARBY-AVG (or another behind the -) or CONSISTENT_HASH",
		Set: func(c *Config, _ string, raw any) error {
			s, ok := raw.(string)
			if !ok {
				return errors.New("must be a text")
			}
			name, err := core.StrategyName(s)
			if err == nil {
				c.Strategy.Name = name
			}
			return err
		},
		Show: func(c *Config, _ string) string { return QuoteTOML(c.Strategy.Name) }},
	{Table: "consumer", Key: "message_queue_list", Doc: "CONFIG: the queues of this member, each [TOPIC=]BROKER:ID or [TOPIC=]BROKER:FROM-TO",
		Set: func(c *Config, _ string, raw any) error {
			texts, err := textList(raw, `["broker-a:0-3"]`)
			if err == nil {
				c.Strategy.Queues, err = ParseQueueChoices(texts)
			}
			return err
		},
		Show: func(c *Config, _ string) string {
			texts := make([]string, len(c.Strategy.Queues))
			for i, q := range c.Strategy.Queues {
				texts[i] = q.String()
			}
			return TomlList(texts)
		}},
	{Table: "consumer", Key: "consumeridcs", Doc: "MACHINE_ROOM: the machine rooms whose brokers, called ROOM@NAME, this member reads",
		Set: func(c *Config, _ string, raw any) error {
			rooms, err := textList(raw, `["room1"]`)
			if err == nil {
				err = CheckRooms(rooms)
			}
			c.Strategy.Rooms = rooms
			return err
		},
		Show: func(c *Config, _ string) string { return TomlList(c.Strategy.Rooms) }},
	{Table: "consumer", Key: "virtual_node_cnt", Doc: "CONSISTENT_HASH: virtual nodes a member; must be the same for all members",
		Set: func(c *Config, _ string, raw any) error {
			n, ok := raw.(int64)
			if !ok {
				return errors.New("must be a whole number")
			}
			c.Strategy.VirtualNodes = int(n)
			return CheckVirtualNodes(n)
		},
		Show: func(c *Config, _ string) string { return strconv.Itoa(c.Strategy.VirtualNodes) }},
	text("consumer", "sql", "SQL92 expression by which the brokers filter the topics given without tags; \"\" is none, -t 'TOPIC:*' overrides it",
		func(c *Config, _ string) *string { return &c.Sql }),
	boolean("consumer", "post_subscription_when_pull", "send the filter expression with each pull",
		func(c *Config, _ string) *bool { return &c.Consumer.PostSubscriptionWhenPull }),
	boolean("consumer", "orderly", "consume each queue in order, under the broker's lock",
		func(c *Config, _ string) *bool { return &c.Consumer.Orderly }),
	text("consumer", "instance_name", "takes the place of the process id in the client id; must differ between members",
		func(c *Config, _ string) *string { return &c.Consumer.InstanceName }),
	number("consume_thread_min", "listener threads, at least", func(o *engine.Options) *int { return &o.ConsumeThreadMin }),
	number("consume_thread_max", "listener threads, at most", func(o *engine.Options) *int { return &o.ConsumeThreadMax }),
	number("consume_message_batch_max_size", "messages in one call of the listener", func(o *engine.Options) *int { return &o.ConsumeMessageBatchMaxSize }),
	number("pull_batch_size", "messages in one pull", func(o *engine.Options) *int { return &o.PullBatchSize }),
	duration("pull_interval", "pause after a pull that found messages, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.PullInterval }),
	number("consume_concurrently_max_span", "flow control: the largest distance of cached offsets in a queue", func(o *engine.Options) *int64 { return &o.ConsumeConcurrentlyMaxSpan }),
	number("pull_threshold_for_queue", "flow control: messages cached in a queue", func(o *engine.Options) *int64 { return &o.PullThresholdForQueue }),
	number("pull_threshold_size_for_queue", "flow control: MiB cached in a queue", func(o *engine.Options) *int64 { return &o.PullThresholdSizeForQueue }),
	number("pull_threshold_for_topic", "flow control: messages cached in a topic, shared by its queues; -1 is none", func(o *engine.Options) *int64 { return &o.PullThresholdForTopic }),
	number("pull_threshold_size_for_topic", "flow control: MiB cached in a topic, shared by its queues; -1 is none", func(o *engine.Options) *int64 { return &o.PullThresholdSizeForTopic }),
	number("max_reconsume_times", "retries before a message is a dead letter; -1 is 16, or without limit when orderly", func(o *engine.Options) *int32 { return &o.MaxReconsumeTimes }),
	duration("suspend_current_queue_time_millis", "pause before an orderly retry, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.SuspendCurrentQueueTime }),
	duration("consume_timeout", "age at which a listener's call counts as timed out, in minutes", time.Minute, func(o *engine.Options) *time.Duration { return &o.ConsumeTimeout }),
	boolean("consumer", "clean_expired", "send messages back whose listener took longer than consume_timeout",
		func(c *Config, _ string) *bool { return &c.Consumer.CleanExpired }),
	boolean("consumer", "refuse_direct_consumption", "refuse admin tools that want this member to consume one message directly, beside its delivery",
		func(c *Config, _ string) *bool { return &c.Consumer.RefuseDirect }),
	duration("persist_consumer_offset_interval", "how often offsets are committed, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.PersistInterval }),
	duration("heartbeat_broker_interval", "how often brokers get a heartbeat, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.HeartbeatInterval }),
	duration("rebalance_interval", "how often the queues are divided anew, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.RebalanceInterval }),
	duration("await_termination_millis_when_shutdown", "how long leaving waits for running listeners, in milliseconds", time.Millisecond, func(o *engine.Options) *time.Duration { return &o.AwaitTermination }),
	boolean("consumer", "vip_channel_enabled", "ask brokers for members, offsets, locks and send-backs at their port − 2",
		func(c *Config, _ string) *bool { return &c.VipChannel }),
	number("event_buffer", "events kept for a slow reader before some are dropped", func(o *engine.Options) *int { return &o.EventBuffer }),

	choice("consumer", "listener", "what becomes of messages: ack, hold (decide on the screen), fail (all come again) or exec",
		func(c *Config, _ string) *string { return &c.Listen.Name }, Listeners...),
	text("consumer", "exec", "the command of the listener exec, run once a batch with JSON lines on its standard input",
		func(c *Config, _ string) *string { return &c.Listen.Command }),
	{Table: "consumer", Key: "exec_timeout", Doc: "how long a run of it may take before it is killed and the batch refused; \"0s\" is consume_timeout",
		Set: func(c *Config, _ string, raw any) error {
			s, ok := raw.(string)
			if !ok {
				return errors.New(`must be a text such as "30s"`)
			}
			d, err := time.ParseDuration(s)
			if err != nil || d < 0 {
				return errors.New(`must be a duration such as "30s", or "0s"`)
			}
			c.Listen.Timeout = d
			return nil
		},
		Show: func(c *Config, _ string) string { return QuoteTOML(c.Listen.Timeout.String()) }},

	{Table: "screen", Key: "refresh", Doc: "how often the screen takes a new picture, 100ms to 10s",
		Set: func(c *Config, _ string, raw any) error {
			s, ok := raw.(string)
			if !ok {
				return errors.New(`must be a text such as "250ms"`)
			}
			d, err := time.ParseDuration(s)
			if err != nil || d < 100*time.Millisecond || d > 10*time.Second {
				return errors.New(`must be 100ms to 10s, such as "250ms"`)
			}
			c.Screen.Refresh = d
			return nil
		},
		Show: func(c *Config, _ string) string { return QuoteTOML(c.Screen.Refresh.String()) }},
	choice("screen", "glyphs", "unicode, or ascii for terminals that have only that",
		func(c *Config, _ string) *string { return &c.Screen.Glyphs }, "unicode", "ascii"),
}

// KeyBinding stands for every entry of [keys].
var KeyBinding = setting{Table: "keys", Doc: "an action of the screen and the key that does it",
	Set: func(c *Config, name string, raw any) error {
		s, ok := raw.(string)
		if !ok || s == "" {
			return errors.New(`must be the name of a key, such as "R" or "ctrl-r"`)
		}
		if !slices.Contains(page.BindingNames(), name) {
			return errUnknownKey
		}
		c.Keys[name] = s
		return CheckSent(s)
	},
	Show: func(c *Config, name string) string { return QuoteTOML(c.Keys[name]) }}

var (
	colors         = []string{"", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	fromWhereNames = []string{"CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_TIMESTAMP"}
)

func text(table, key, doc string, ref func(*Config, string) *string) setting {
	return setting{Table: table, Key: key, Doc: doc,
		Set: func(c *Config, name string, raw any) error {
			s, ok := raw.(string)
			if !ok {
				return errors.New("must be a text")
			}
			*ref(c, name) = s
			return nil
		},
		Show: func(c *Config, name string) string { return QuoteTOML(*ref(c, name)) }}
}

func choice(table, key, doc string, ref func(*Config, string) *string, allowed ...string) setting {
	s := text(table, key, doc, ref)
	s.Set = func(c *Config, name string, raw any) error {
		i, err := oneOf(raw, allowed...)
		if err == nil {
			*ref(c, name) = allowed[i]
		}
		return err
	}
	return s
}

func boolean(table, key, doc string, ref func(*Config, string) *bool) setting {
	return setting{Table: table, Key: key, Doc: doc,
		Set: func(c *Config, name string, raw any) error {
			b, ok := raw.(bool)
			if !ok {
				return errors.New("must be true or false")
			}
			*ref(c, name) = b
			return nil
		},
		Show: func(c *Config, name string) string { return strconv.FormatBool(*ref(c, name)) }}
}

// number is a whole number of [consumer]; its bounds are engine.Options.Validate's.
func number[T int | int32 | int64](key, doc string, ref func(*engine.Options) *T) setting {
	return setting{Table: "consumer", Key: key, Doc: doc,
		Set: func(c *Config, _ string, raw any) error {
			n, ok := raw.(int64)
			if !ok {
				return errors.New("must be a whole number")
			}
			if int64(T(n)) != n {
				return errors.New("is too large")
			}
			*ref(&c.Consumer) = T(n)
			return nil
		},
		Show: func(c *Config, _ string) string { return strconv.FormatInt(int64(*ref(&c.Consumer)), 10) }}
}

// duration is a duration of [consumer], written as a whole number of units.
func duration(key, doc string, unit time.Duration, ref func(*engine.Options) *time.Duration) setting {
	return setting{Table: "consumer", Key: key, Doc: doc,
		Set: func(c *Config, _ string, raw any) error {
			n, ok := raw.(int64)
			if !ok {
				return errors.New("must be a whole number")
			}
			if d := time.Duration(n) * unit; d/unit != time.Duration(n) {
				return errors.New("is too large")
			}
			*ref(&c.Consumer) = time.Duration(n) * unit
			return nil
		},
		Show: func(c *Config, _ string) string { return strconv.FormatInt(int64(*ref(&c.Consumer)/unit), 10) }}
}

// oneOf finds raw among the allowed words.
func oneOf(raw any, allowed ...string) (int, error) {
	s, ok := raw.(string)
	if i := slices.Index(allowed, s); ok && i >= 0 {
		return i, nil
	}
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = QuoteTOML(a)
	}
	return -1, errors.New("must be " + OrList(quoted))
}

// checkHostPort refuses what cannot be dialled.
func checkHostPort(addr string) error {
	if at := strings.LastIndexByte(addr, ':'); at > 0 && net.ParseIP(addr[:at]) != nil && strings.Contains(addr[:at], ":") {
		return fmt.Errorf("%q must be HOST:PORT, and an IPv6 address in brackets: [%s]:%s", addr, addr[:at], addr[at+1:])
	} else if net.ParseIP(addr) != nil && strings.Contains(addr, ":") {
		return fmt.Errorf("%q must be HOST:PORT, and an IPv6 address in brackets: [%s]:PORT", addr, addr)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || strings.ContainsAny(host, "/ ") {
		return fmt.Errorf("%q must be HOST:PORT", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q must have a port from 1 to 65535", addr)
	}
	return nil
}

// parseConsumeTimestamp reads Java's yyyyMMddHHmmss, or RFC 3339.
func parseConsumeTimestamp(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation("20060102150405", s, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, errors.New("must be such as 20261129143200 or 2026-11-29T14:32:00+08:00")
}

// QuoteTOML shows a text. JSON's escapes are TOML's, those of Go are not.
func QuoteTOML(s string) string {
	line, err := inspect.MarshalPlain(s)
	if err != nil {
		panic(err) // a text
	}
	return strings.TrimSuffix(string(line), "\n")
}

// TomlList shows texts as a TOML list.
func TomlList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = QuoteTOML(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// tomlValue shows a decoded value as it was written.
func tomlValue(v any) string {
	if s, ok := v.(string); ok {
		return QuoteTOML(s)
	}
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, one := range list {
			parts[i] = tomlValue(one)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// namesrvAddress is HOST:PORT, before which http:// may stand as RocketMQ's clients take it
// in NAMESRV_ADDR (Java: NameServerAddressUtils). It says nothing about how to speak there.
func namesrvAddress(s string) (string, error) {
	scheme, rest, found := strings.Cut(s, "://")
	switch {
	case !found:
		return s, checkHostPort(s)
	case strings.EqualFold(scheme, "http"):
		addr := strings.TrimSuffix(rest, "/")
		return addr, checkHostPort(addr)
	case strings.EqualFold(scheme, "https"):
		return "", fmt.Errorf("%q: a name server speaks no HTTP, https:// would not make it TLS either: write %s, and tls = { enable = true } for a configured cluster", s, rest)
	}
	return "", fmt.Errorf("%q must be HOST:PORT, before which only http:// may stand", s)
}

// SplitNamesrv takes HOST:PORT[;HOST:PORT] apart; blanks and commas separate too.
func SplitNamesrv(s string) ([]string, error) {
	list := strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	if len(list) == 0 {
		return nil, fmt.Errorf("%q names no server: HOST:PORT[;HOST:PORT]", s)
	}
	for i, addr := range list {
		var err error
		if list[i], err = namesrvAddress(addr); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// OrList joins words as people do: "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
