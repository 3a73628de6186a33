package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/sandbox/sandboxtest"
)

func TestAllocateTable(t *testing.T) {
	for name, tt := range map[string]struct{ args, want string }{
		"one strategy": {"--queues 5 --members b,a --strategy avg", `
AVG: 5 queues, 2 members
MEMBER  QUEUES  WHICH
a       3       broker-a:0-2
b       2       broker-a:3-4
`},
		"join and leave": {"--brokers broker-b:2,broker-a:3 --members a,b --join c --leave b --strategy circle", `
AVG_BY_CIRCLE: 5 queues, 2 → 2 members, 2 queues move
MEMBER  QUEUES  WHICH
a       3       broker-a:0,2 broker-b:1
b       2 → 0   leaves
c       0 → 2   broker-a:1 broker-b:0
moves:
b → c  2  broker-a:1 broker-b:0
`},
		"side by side": {"--queues 2 --brokers A@x,B@x --members A@1,A@2 --machine-rooms A --leave A@2", `
MEMBER    AVG    AVG_BY_CIRCLE  CONSISTENT_HASH  MACHINE_ROOM_NEARBY-AVG  MACHINE_ROOM
A@1       2 → 4  2 → 4          1 → 4            2 → 4                    1 → 2
A@2       2 → 0  2 → 0          3 → 0            2 → 0                    1 → 0
(nobody)  0      0              0                0                        2
(moves)   2      2              3                2                        1

AVG: 4 queues, 2 → 1 member, 2 queues move
MEMBER  QUEUES  WHICH
A@1     2 → 4   A@x:0-1 B@x:0-1
A@2     2 → 0   leaves
moves:
A@2 → A@1  2  B@x:0-1

AVG_BY_CIRCLE: 4 queues, 2 → 1 member, 2 queues move
MEMBER  QUEUES  WHICH
A@1     2 → 4   A@x:0-1 B@x:0-1
A@2     2 → 0   leaves
moves:
A@2 → A@1  2  A@x:1 B@x:1

CONSISTENT_HASH: 4 queues, 2 → 1 member, 3 queues move
MEMBER  QUEUES  WHICH
A@1     1 → 4   A@x:0-1 B@x:0-1
A@2     3 → 0   leaves
moves:
A@2 → A@1  3  A@x:1 B@x:0-1

MACHINE_ROOM_NEARBY-AVG: 4 queues, 2 → 1 member, 2 queues move
MEMBER  QUEUES  WHICH
A@1     2 → 4   A@x:0-1 B@x:0-1
A@2     2 → 0   leaves
moves:
A@2 → A@1  2  A@x:1 B@x:1

MACHINE_ROOM: 4 queues, 2 → 1 member, 1 queue moves
MEMBER    QUEUES  WHICH
A@1       1 → 2   A@x:0-1
A@2       1 → 0   leaves
(nobody)  2       B@x:0-1
moves:
A@2 → A@1  1  A@x:1
`},
		"lists": {"--queues 4 --members a,b --leave b --strategy config --list a=broker-a:0-1 --list b=broker-a:1,TopicTest=broker-a:2", `
CONFIG: 4 queues, 2 → 1 member, 1 queue moves
MEMBER    QUEUES  WHICH
a         2       broker-a:0-1
b         2 → 0   leaves
(nobody)  2       broker-a:2-3
moves:
b → (nobody)  1  broker-a:2
`},
		"lists that share": {"--queues 4 --members a,b --strategy config --list a=broker-a:0-2 --list b=broker-a:2", `
CONFIG: 4 queues, 2 members
MEMBER     QUEUES  WHICH
a          3       broker-a:0-2
b          1       broker-a:2
(nobody)   1       broker-a:3
(several)  1       broker-a:2
`},
		"more members than queues": {"--queues 1 --members a,b --strategy avg", `
AVG: 1 queue, 2 members
MEMBER  QUEUES  WHICH
a       1       broker-a:0
b       0       none
`},
		"the last one leaves": {"--queues 2 --members a --leave a --strategy consistent-hash", `
CONSISTENT_HASH: 2 queues, 1 → 0 members, 2 queues move
MEMBER    QUEUES  WHICH
a         2 → 0   leaves
(nobody)  2       broker-a:0-1
moves:
a → (nobody)  2  broker-a:0-1
`},
		// What does not divide goes to the first ids in every topic.
		"several topics": {"-t a,b -t c --queues 5 --members 10.0.0.1@1,10.0.0.1@2 --strategy avg", `
AVG: 15 queues of 3 topics, 2 members
MEMBER      QUEUES  WHICH
10.0.0.1@1  9       a=broker-a:0-2 b=broker-a:0-2 c=broker-a:0-2
10.0.0.1@2  6       a=broker-a:3-4 b=broker-a:3-4 c=broker-a:3-4
`},
	} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, append([]string{"allocate"}, strings.Fields(tt.args)...)).want(t, statusDone, "")
			if diff := cmp.Diff(p.out.String(), strings.TrimPrefix(tt.want, "\n")); diff != "" {
				t.Errorf("stdout (-got +want):\n%s", diff)
			}
		})
	}
}

func TestAllocateJSON(t *testing.T) {
	p := runs(t, strings.Fields("allocate --queues 3 --members b,a --join c --leave a --strategy avg -o json")).want(t, statusDone, "")
	want := `{"strategy":"AVG","members":[{"client_id":"b","queues":["broker-a:0","broker-a:1"]},{"client_id":"c","queues":["broker-a:2"]}],` +
		`"unassigned":[],"moves":[{"queue":"broker-a:0","from":"a","to":"b"},{"queue":"broker-a:1","from":"a","to":"b"},{"queue":"broker-a:2","from":"b","to":"c"}]}` + "\n"
	if diff := cmp.Diff(p.out.String(), want); diff != "" {
		t.Errorf("stdout (-got +want):\n%s", diff)
	}
	p = runs(t, strings.Fields("allocate -t orders,payments --queues 1 --members a --leave a --strategy circle -o json")).want(t, statusDone, "")
	want = `{"strategy":"AVG_BY_CIRCLE","members":[],"unassigned":["orders=broker-a:0","payments=broker-a:0"],` +
		`"moves":[{"queue":"orders=broker-a:0","from":"a","to":null},{"queue":"payments=broker-a:0","from":"a","to":null}]}` + "\n"
	if diff := cmp.Diff(p.out.String(), want); diff != "" {
		t.Errorf("stdout (-got +want):\n%s", diff)
	}
	p = runs(t, strings.Fields("allocate --queues 3 --members b,a -o json")).want(t, statusDone, "")
	var all []struct{ Strategy string }
	if err := json.Unmarshal([]byte(p.out.String()), &all); err != nil || len(all) != 3 {
		t.Errorf("%d strategies, error %v, want AVG, AVG_BY_CIRCLE and CONSISTENT_HASH: %s", len(all), err, p.out)
	}
}

func TestAllocateWrongUse(t *testing.T) {
	for name, tt := range map[string]struct{ args, want string }{
		"no queues":           {"--members a", "which queues? --queues N, or -t TOPIC of a cluster"},
		"no members":          {"--queues 3", "which members? --members A,B,C, or -g GROUP of a cluster"},
		"group without topic": {"--queues 3 -g g", "-g g: needs -t TOPIC too"},
		"too few queues":      {"--queues 0 --members a", "--queues 0: must be 1 to 65535"},
		"too many queues":     {"--queues 65536 --members a", "--queues 65536: must be 1 to 65535"},
		"queues of a broker":  {"--brokers b:x --members a", `--brokers "b:x": must be NAME or NAME:N`},
		"broker twice":        {"--queues 1 --brokers b,b --members a", "--brokers b: is named twice"},
		"broker without name": {"--queues 1 --brokers b, --members a", `--brokers "": must be NAME`},
		"broker uncounted":    {"--brokers b --members a", "how many queues has b? --queues N, or --brokers b:N"},
		"member twice":        {"--queues 1 --members a,a", "--members a: is named twice"},
		"member without name": {"--queues 1 --members a,", "a client id is empty"},
		"joins twice":         {"--queues 1 --members a --join a", `--join "a": must be the client id of a new member`},
		"leaves from nowhere": {"--queues 1 --members a,b --leave c", "--leave c: is not among the members a, b"},
		"topic":               {"-t a=b --queues 1 --members a", `topic "a=b": must be at most 127`},
		"topic twice":         {"-t a,a --queues 1 --members a", "-t a: is named twice"},
		"strategy":            {"--queues 1 --members a --strategy x", "must be avg, circle, config"},
		"config":              {"--queues 1 --members a --strategy config", "--strategy config needs what the members' configurations list: --list MEMBER=BROKER:ID,…"},
		"list alone":          {"--queues 1 --members a --list a=broker-a:0", "--list is for --strategy config"},
		"list of nobody":      {"--queues 1 --members a --strategy config --list b=broker-a:0", "--list b: is not among the members a"},
		"list without member": {"--queues 1 --members a --strategy config --list broker-a:0", `--list "broker-a:0": must be MEMBER=BROKER:ID`},
		"list of no queue":    {"--queues 1 --members a --strategy config --list a=broker-a:0-1", "--list a=broker-a:0-1: there is no queue broker-a:1"},
		"lists in rooms":      {"--queues 1 --members a --strategy machine-room-nearby-config", "there is nothing to compute"},
		"machine-room":        {"--queues 1 --members a --strategy machine-room", "needs the machine rooms"},
		"broker's room":       {"--queues 1 --members A@a --strategy machine-room-nearby", `--strategy machine-room-nearby: no machine room in the name of broker "broker-a"`},
		"member's room":       {"--queues 1 --brokers A@b --members a --strategy machine-room-nearby", `no machine room in the client id "a"`},
		"nodes for avg":       {"--queues 1 --members a --strategy avg --virtual-nodes 3", "--virtual-nodes is for --strategy consistent-hash"},
		"nodes":               {"--queues 1 --members a --strategy consistent-hash --virtual-nodes 1001", "--virtual-nodes 1001: must be 1 to 1000"},
		"format":              {"--queues 1 --members a -o text", "-o text: must be table or json"},
	} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, append([]string{"allocate"}, strings.Fields(tt.args)...)).want(t, statusUsage, tt.want)
			if p.out.String() != "" {
				t.Errorf("stdout = %q, want nothing", p.out)
			}
		})
	}
}

// With a cluster it divides what is there; a member that would join is enough.
func TestAllocateOfACluster(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 6), sandboxtest.Brokers("broker-a"))
	runs(t, strings.Fields("allocate -g g -t orders --namesrv "+namesrv)).want(t, statusNotFound, "group g has no members online at a broker of topic orders")
	runs(t, strings.Fields("allocate -g g -t nothing --namesrv "+namesrv)).want(t, statusNotFound, "topic nothing does not exist")
	member := startLeaving(t, consume(namesrv, "g", "--client-id", "m"))
	put(t, sb, "orders", 1)
	member.out.await(t, `"kind":"message"`)
	p := runs(t, strings.Fields("allocate -g g -t orders --join n --strategy avg --namesrv "+namesrv)).want(t, statusDone, "")
	if want := "AVG: 6 queues, 1 → 2 members, 3 queues move\n"; !strings.HasPrefix(p.out.String(), want) || !strings.Contains(p.out.String(), "m → n  3  broker-a:3-5\n") {
		t.Errorf("stdout = %q, want it to begin with %q", p.out, want)
	}
	p = runs(t, strings.Fields("allocate -t orders --members x,y --strategy circle --namesrv "+namesrv)).want(t, statusDone, "")
	if want := "x       3       broker-a:0,2,4\n"; !strings.Contains(p.out.String(), want) {
		t.Errorf("stdout = %q, want %q in it", p.out, want)
	}
	if got := sb.Members("g"); len(got) != 1 {
		t.Errorf("members of the group = %v, want the one that consumes", got)
	}
}
