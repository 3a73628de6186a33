package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
)

// newBroker is the commands about brokers.
func newBroker(e *env) *cobra.Command {
	return family("broker", "Brokers and name servers: which there are, and how they do",
		newBrokerList(e), newBrokerShow(e))
}

// brokerJSON is one broker of `broker list`.
type brokerJSON struct {
	Cluster   string   `json:"cluster"`
	Broker    string   `json:"broker"`
	ID        int64    `json:"id"`
	Address   string   `json:"address"`
	Dialled   string   `json:"dialled,omitempty"`
	Version   *string  `json:"version"`
	Role      string   `json:"role"`
	Reachable bool     `json:"reachable"`
	Error     string   `json:"error,omitempty"`
	InTPS     *float64 `json:"in_tps"`
	OutTPS    *float64 `json:"out_tps"`
	Disk      *float64 `json:"disk"`
	PullWait  *int64   `json:"pull_wait_ms"`
	SendWait  *int64   `json:"send_wait_ms"`
	RTT       *float64 `json:"rtt_ms"`
	Clock     *int64   `json:"clock_difference_ms"`
	Started   timeJSON `json:"started"`
	Perm      *string  `json:"perm"`
	PermError string   `json:"perm_error,omitempty"`
	// The used parts of the disk from which it deletes early, and takes no messages.
	DiskClean   *float64 `json:"disk_clean"`
	DiskRefuse  *float64 `json:"disk_refuse"`
	PutFailed   *int64   `json:"put_failed"`
	PutError    string   `json:"put_failed_error,omitempty"`
	Behind      *int64   `json:"behind_bytes"` // a slave's
	BehindError string   `json:"behind_bytes_error,omitempty"`
	Troubles    []string `json:"troubles"`
}

func brokerOf(b *inspect.BrokerRow) brokerJSON {
	j := brokerJSON{
		Cluster: b.Cluster, Broker: b.Broker, ID: b.ID, Address: b.Address, Dialled: b.Dialled, Version: namedOrNull(b.Version), Role: b.Role,
		Reachable: b.Reachable, Error: b.Why.String(), Started: timeJSON(b.Started), Troubles: emptyList(troubleTexts(b)),
	}
	if b.ID != 0 {
		j.Behind, j.BehindError = numberJSON(b.Behind)
	}
	if b.Why.Kind != inspect.ReasonNone {
		return j
	}
	pull, send, rtt := b.PullWait.Milliseconds(), b.SendWait.Milliseconds(), float64(b.RTT.Microseconds())/1000
	j.InTPS, j.OutTPS, j.PullWait, j.SendWait, j.RTT = &b.InTPS, &b.OutTPS, &pull, &send, &rtt
	if b.Disk >= 0 {
		j.Disk = &b.Disk
	}
	j.DiskClean, j.DiskRefuse = &b.Limits.DiskClean, &b.Limits.DiskRefuse
	j.PutFailed, j.PutError = numberJSON(b.PutFailed)
	if b.Perm.Known {
		j.Perm = new(inspect.PermText(int32(b.Perm.Value)))
	} else {
		j.PermError = b.Perm.Why.String()
	}
	if b.ClockKnown {
		ms := b.Clock.Milliseconds()
		j.Clock = &ms
	}
	return j
}

func newBrokerList(e *env) *cobra.Command {
	r := &reading{}
	var servers bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "All brokers with their slaves, and the name servers (-o table|json)",
		Long: `Lists every broker address that the name servers announce, slaves too, and asks each how it is.
IN and OUT are messages a second over the last ten seconds, DISK the used part of the disk that holds
the commit log, PULL WAIT how long the oldest pull waits for a thread. CLOCK is the broker's clock
minus ours, as far as its answers tell: to the second. PERM is what the broker lets clients do
(brokerPermission), BEHIND how much of its master's commit log a slave has not got. The last column
says what keeps a broker from what it is for: its permission, a disk over a limit, requests that it
refuses for being busy, a master that is not there, a clock that is off. DIALLED is there when address_map of the
configuration has another address dialled than the announced one.

A name server that announces other addresses than the first one is marked with the brokers in
which it differs.`,
		Example: `  eyeq broker list
  eyeq broker list --name-servers -o json`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&servers, "name-servers", false, "the name servers instead of the brokers")
	r.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error {
		return r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			all, err := x.Brokers(ctx)
			switch {
			case err != nil:
				return nil, err
			case servers && format == "json":
				return marshalEach(all.Namesrv, namesrvOf)
			case servers:
				return namesrvTable(all.Namesrv), nil
			case format == "json":
				return marshalEach(all.Brokers, brokerOf)
			}
			out := append(brokerTable(e, all.Brokers), '\n')
			return append(out, namesrvTable(all.Namesrv)...), nil
		})
	})
	return cmd
}

// brokerTable has a column of the addresses dialled where some are mapped.
func brokerTable(e *env, brokers []inspect.BrokerRow) []byte {
	mapped := slices.ContainsFunc(brokers, func(b inspect.BrokerRow) bool { return b.Dialled != "" })
	rows := [][]string{{"CLUSTER", "BROKER", "ID", "ADDRESS", "DIALLED", "ROLE", "VERSION", "IN/S", "OUT/S", "DISK", "PULL WAIT", "CLOCK", "UP", "PERM", "BEHIND", ""}}
	for i := range brokers {
		b := &brokers[i]
		row := []string{b.Cluster, b.Broker, strconv.FormatInt(b.ID, 10), b.Address, cmp.Or(b.Dialled, b.Address), b.Role, cmp.Or(b.Version, textUnknown)}
		if b.Why.Kind != inspect.ReasonNone {
			rows = append(rows, append(row, textUnknown, textUnknown, textUnknown, textUnknown, textUnknown, textUnknown, textUnknown, behindText(b), b.Why.String()))
			continue
		}
		rows = append(rows, append(row,
			strconv.FormatFloat(b.InTPS, 'f', 1, 64), strconv.FormatFloat(b.OutTPS, 'f', 1, 64), diskText(b.Disk), inspect.Span(b.PullWait),
			clockText(b), ageText(b.Started, e.now()), permText(b), behindText(b), strings.Join(troubleTexts(b), "; ")))
	}
	if mapped {
		return appendTable(nil, "llrllllrrrrrrlrl", rows)
	}
	for i, row := range rows {
		rows[i] = slices.Delete(row, brokerDialled, brokerDialled+1)
	}
	return appendTable(nil, "llrlllrrrrrrlrl", rows)
}

func permText(b *inspect.BrokerRow) string {
	if !b.Perm.Known {
		return textUnknown
	}
	return inspect.PermText(int32(b.Perm.Value))
}

// behindText is how far a slave is behind its master; "" of a master.
func behindText(b *inspect.BrokerRow) string {
	switch {
	case b.ID == 0:
		return ""
	case !b.Behind.Known:
		return textUnknown
	}
	return inspect.Bytes(b.Behind.Value)
}

func troubleTexts(b *inspect.BrokerRow) []string {
	var texts []string
	for _, t := range b.Troubles() {
		texts = append(texts, t.Text)
	}
	return texts
}

// brokerDialled is the column of the address dialled.
const brokerDialled = 4

func diskText(used float64) string {
	if used < 0 {
		return textUnknown
	}
	return strconv.Itoa(int(used*100+0.5)) + "%"
}

func clockText(b *inspect.BrokerRow) string {
	switch {
	case !b.ClockKnown:
		return textUnknown
	case b.Clock == 0:
		return "same"
	case b.Clock > 0:
		return "+" + inspect.Span(b.Clock)
	}
	return inspect.Span(b.Clock)
}

type namesrvJSON struct {
	Address   string   `json:"address"`
	Dialled   string   `json:"dialled,omitempty"`
	Reachable bool     `json:"reachable"`
	Error     string   `json:"error,omitempty"`
	Current   bool     `json:"current"`
	RTT       *float64 `json:"rtt_ms"`
	Differs   []string `json:"differs"`
}

func namesrvOf(n *inspect.NamesrvRow) namesrvJSON {
	j := namesrvJSON{Address: n.Address, Dialled: n.Dialled, Reachable: n.Reachable, Error: n.Why.String(), Current: n.Current, Differs: emptyList(n.Differs)}
	if n.Reachable {
		ms := float64(n.RTT.Microseconds()) / 1000
		j.RTT = &ms
	}
	return j
}

func namesrvTable(rows []inspect.NamesrvRow) []byte {
	table := [][]string{{"NAME SERVER", "ANSWERS IN", ""}}
	for _, n := range rows {
		var notes []string
		if n.Dialled != "" {
			notes = append(notes, "mapped to "+n.Dialled)
		}
		if n.Current {
			notes = append(notes, "asked first")
		}
		if len(n.Differs) > 0 {
			notes = append(notes, "announces otherwise than the first: "+strings.Join(n.Differs, ", "))
		}
		rtt := n.RTT.Round(10 * time.Microsecond).String()
		if !n.Reachable {
			rtt, notes = textUnknown, append(notes, n.Why.String())
		}
		table = append(table, []string{n.Address, rtt, strings.Join(notes, "; ")})
	}
	return appendTable(nil, "lrl", table)
}

func newBrokerShow(e *env) *cobra.Command {
	r := &reading{}
	cmd := &cobra.Command{
		Use:   "show BROKER[:ID]",
		Short: "All that a broker says of itself, and its settings (-o table|json)",
		Long: `Shows a broker's row of 'broker list', its runtime information in its own words (mqadmin
brokerStatus) and its settings (mqadmin getBrokerConfig). BROKER is a broker's name, with :ID a
slave of it, or an address. Where address_map of the configuration has another address dialled than
the announced one, DIALLED is that.`,
		Example: `  eyeq broker show broker-a
  eyeq broker show broker-a:1 -o json | jq .info`,
		Args:              oneName("broker"),
		ValidArgsFunction: e.completion(true, brokerNames),
	}
	r.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			return brokerShow(ctx, e, x, args[0], format)
		})
	})
	return cmd
}

// brokerDetailJSON is `broker show`.
type brokerDetailJSON struct {
	brokerJSON
	Info        map[string]string `json:"info"`
	Config      map[string]string `json:"config"`
	ConfigError string            `json:"config_error,omitempty"`
}

func brokerShow(ctx context.Context, e *env, x *inspection, name, format string) ([]byte, error) {
	all, err := x.Brokers(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.Brokers, func(b inspect.BrokerRow) bool {
		return name == b.Address || name == b.Dialled || name == b.Broker && b.ID == 0 || name == fmt.Sprintf("%s:%d", b.Broker, b.ID)
	})
	if i < 0 {
		// A name whose master is away is its first slave.
		i = slices.IndexFunc(all.Brokers, func(b inspect.BrokerRow) bool { return name == b.Broker })
	}
	if i < 0 {
		return nil, noSuch("broker", name)
	}
	b := &all.Brokers[i]
	if b.Why.Kind == inspect.ReasonUnreachable {
		return nil, &silentError{fmt.Sprintf("broker %s does not answer: %s", name, b.Why.Text)}
	}
	config, err := x.BrokerConfig(ctx, b.Address)
	if format == "json" {
		j := brokerDetailJSON{brokerJSON: brokerOf(b), Info: b.Info, Config: config}
		if err != nil {
			j.ConfigError = inspect.ReasonOf(err).String()
		}
		return marshal(j)
	}
	if err != nil {
		e.say("settings of %s: %v", name, inspect.ReasonOf(err))
	}
	out := append(brokerTable(e, all.Brokers[i:i+1]), '\n')
	for _, part := range []struct {
		title string
		texts map[string]string
	}{{"RUNTIME", b.Info}, {"SETTING", config}} {
		rows := [][]string{{part.title, "VALUE"}}
		for _, name := range sortedKeys(part.texts) {
			rows = append(rows, []string{name, part.texts[name]})
		}
		out = append(appendTable(out, "ll", rows), '\n')
	}
	return out[:len(out)-1], nil
}
