package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// eventTypes reads the events and their JSON fields out of the package's source.
func eventTypes(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fields, names := map[string][]string{}, map[string]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "EventName" {
					ret := n.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
					name, _ := strconv.Unquote(ret.Value)
					names[n.Recv.List[0].Type.(*ast.Ident).Name] = name
				}
			case *ast.TypeSpec:
				st, ok := n.Type.(*ast.StructType)
				if !ok {
					break
				}
				list := []string{}
				for _, field := range st.Fields.List {
					if field.Tag == nil {
						continue
					}
					tag, _ := strconv.Unquote(field.Tag.Value)
					name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
					list = append(list, name)
				}
				fields[n.Name.Name] = list
			}
			return true
		})
	}
	byName := map[string][]string{}
	for typ, name := range names {
		if byName[name] != nil {
			t.Errorf("two events are called %s", name)
		}
		byName[name] = fields[typ]
	}
	return byName
}

// specEvent is an event of docs/conformance/events.md 6: the fields that ours has for it, or
// why there is none. A queue, time and group stand in every event's frame.
type specEvent struct {
	ours   string // "": the same name with underscores
	fields string
	none   string // why it is not told
}

var specEvents = map[string]specEvent{
	"consumer.state":        {fields: "from to cause"},
	"config.rejected":       {fields: "property value rule"},
	"client.instance":       {fields: "client_id reused"},
	"route.changed":         {fields: "topic brokers read_queues old_queues"},
	"route.missing":         {fields: "topic"},
	"broker.offline":        {fields: "broker address error"},
	"heartbeat.sent":        {fields: "address rtt_ms error"},
	"heartbeat.skipped":     {fields: "cause"},
	"members.changed":       {fields: "address"},
	"rebalance.begin":       {fields: "trigger"},
	"rebalance.end":         {fields: "trigger topics balanced duration_ms"},
	"rebalance.topic":       {fields: "topic strategy queues members self_index mine"},
	"rebalance.skipped":     {fields: "topic cause"},
	"queue.dropped":         {fields: "cause cached committed_offset"},
	"queue.removed":         {fields: "unlocked"},
	"queue.removal-delayed": {fields: "try_unlock_times cause"},
	"queue.added":           {fields: "next_offset source"},
	"queue.add-failed":      {fields: "cause"},
	"assignment.changed":    {fields: "topic queues sub_version limit_count old_limit_count limit_size_mib old_limit_size_mib"},
	"lock.gained":           {},
	"lock.renewed":          {fields: "age_ms broker"},
	"lock.lost":             {fields: "age_ms"},
	"lock.expired":          {fields: "age_ms"},
	"lock.request-failed":   {fields: "broker queues error"},
	"unlock.sent":           {fields: "queues oneway"},
	"pull.sent":             {none: "one a pull, some thousand a second: the snapshot has each queue's last pull, its offset, broker id and limits"},
	"pull.result":           {none: "as pull.sent: the snapshot has its status, round trip and bounds; what is not usual is an event of its own"},
	"pull.regressed":        {fields: "previous next first_offset"},
	"pull.error":            {fields: "code error delay_ms"},
	"pull.suspended":        {fields: "delay_ms"},
	"flow.begin":            {fields: "cause limit value"},
	"flow.end":              {fields: "cause limit value times duration_ms"},
	"offset.illegal":        {fields: "requested corrected"},
	"offset.fixed":          {fields: "offset"},
	"tags.corrected":        {fields: "offset"},
	"consume.begin":         {fields: "count first_offset last_offset"},
	"consume.end":           {fields: "count first_offset last_offset status return_type rt_ms ack_index"},
	"consume.discarded":     {fields: "first_offset last_offset phase"},
	"sendback.ok":           {fields: "message_id delay_level reconsume_times target"},
	"sendback.failed":       {fields: "message_id error"},
	"retry.local":           {fields: "first_offset count delay_ms"},
	"retry.suspend":         {fields: "delay_ms reconsume_times"},
	"message.expired":       {fields: "message_id age_ms sent_back"},
	"offset.updated":        {none: "one a call of the listener: the snapshot has each queue's committed offset; a change that is none of ours is offset_illegal or reset_end"},
	"offset.persisted":      {none: "every 5 s a queue: the snapshot has what is durable and since when; what cannot be saved is offset_persist_failed"},
	"offset.persist-failed": {fields: "offset error"},
	"offset.forgotten":      {fields: "cause"},
	"pause":                 {fields: "by"},
	"resume":                {fields: "by"},
	"reset.begin":           {fields: "by from to"},
	"reset.queue":           {ours: "reset_end", fields: "from to"},
	"reset.end":             {fields: "by from to"},
	"admin.request":         {fields: "code address result"},
	"shutdown.step":         {fields: "number duration_ms"},
}

// Every event of docs/conformance/events.md 6 is told under its name with its fields, or has
// a reason here why it is not.
func TestEventsOfTheSpecification(t *testing.T) {
	ours := eventTypes(t)
	for name, want := range specEvents {
		told := want.ours
		if told == "" {
			told = strings.NewReplacer(".", "_", "-", "_").Replace(name)
		}
		fields, ok := ours[told]
		switch {
		case want.none != "" && ok:
			t.Errorf("%s is told, and has a reason why it is not: %s", told, want.none)
		case want.none == "" && !ok:
			t.Errorf("%s is not told", told)
		}
		for _, f := range strings.Fields(want.fields) {
			if ok && !slices.Contains(fields, f) {
				t.Errorf("%s has no %s: %v", told, f, fields)
			}
		}
	}
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for name, fields := range ours {
		for _, f := range append([]string{name}, fields...) {
			if f != "-" && !snake.MatchString(f) {
				t.Errorf("%s: %q is not in snake_case", name, f)
			}
		}
		for _, frame := range []string{"kind", "time", "event", "group", "topic_", "broker_", "queue"} {
			if slices.Contains(fields, frame) {
				t.Errorf("%s: the field %s stands in every event's frame", name, frame)
			}
		}
	}
}
