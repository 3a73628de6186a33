package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// marker does what foreign text can do to a terminal: it writes the clipboard and the
// title, clears the screen, recolours (in either form of CSI), turns the reading
// direction and breaks the line.
const marker = "\x1b]52;c;aGk=\a\x1b]0;owned\x1b\\\x1b[2J\x1b[31m\u009b32m\u202e\u2066\r\n\t\x00\b\x7fEVIL"

// harmful are the characters that must not reach a terminal: controls but the
// newline, and what turns the direction of reading.
var harmful = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

// poison stands between a program and a sandbox. Names are exchanged on the way, so
// that the program sees hostile ones in every answer and the sandbox plain ones.
// Other texts get the marker too when spoil says so.
type poison struct {
	sb      *sandbox.Sandbox
	mu      sync.Mutex
	proxied map[string]string // the sandbox's address → ours
	names   []poisonedName
	spoil   func(code protocol.RequestCode, text string) bool // whether a text of an answer to such a request gets the marker
	closers []io.Closer
	wg      sync.WaitGroup
}

// poisonedName is a name at both sides; both have as many bytes, so that records keep
// their lengths.
type poisonedName struct{ plain, hostile string }

// poisonName makes a name of a kind.
func poisonName(kind string) poisonedName {
	hostile := marker + kind
	return poisonedName{kind + strings.Repeat("-", len(hostile)-len(kind)), hostile}
}

// between serves a sandbox through a poison and gives the name server's address.
func between(t *testing.T, sb *sandbox.Sandbox, namesrv string, names ...poisonedName) (*poison, string) {
	t.Helper()
	p := &poison{sb: sb, proxied: map[string]string{}, names: names}
	t.Cleanup(func() {
		p.mu.Lock()
		for _, c := range p.closers {
			c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
	client := (&sandboxtest.Target{Namesrv: []string{namesrv}}).Client(t, nil)
	info, err := client.ClusterInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range info.BrokerAddrTable {
		for _, addr := range b.BrokerAddrs {
			p.listen(t, addr)
		}
	}
	return p, p.listen(t, namesrv)
}

// listen serves one address of the sandbox at another one.
func (p *poison) listen(t *testing.T, addr string) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.proxied[addr] = ln.Addr().String()
	p.mu.Unlock()
	p.closes(ln)
	p.wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				in.Close()
				continue
			}
			p.closes(in)
			p.closes(out)
			asked := &askedCodes{codes: map[int32]protocol.RequestCode{}}
			p.wg.Go(func() { p.relay(in, out, func(c *protocol.Command) { p.cure(c); asked.put(c) }) })
			p.wg.Go(func() { p.relay(out, in, func(c *protocol.Command) { p.infect(c, asked.take(c)) }) })
		}
	})
	return ln.Addr().String()
}

// askedCodes has what was asked on a connection, for who sees the answers.
type askedCodes struct {
	mu    sync.Mutex
	codes map[int32]protocol.RequestCode // by opaque
}

func (a *askedCodes) put(c *protocol.Command) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.codes[c.Opaque] = protocol.RequestCode(c.Code)
}

// take is the code of the request that c answers; 0 where c answers none.
func (a *askedCodes) take(c *protocol.Command) protocol.RequestCode {
	a.mu.Lock()
	defer a.mu.Unlock()
	code := a.codes[c.Opaque]
	delete(a.codes, c.Opaque)
	return code
}

func (p *poison) closes(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, c)
}

// relay copies frames and changes each.
func (p *poison) relay(from io.ReadCloser, to io.WriteCloser, change func(*protocol.Command)) {
	defer from.Close()
	defer to.Close()
	for {
		var length [4]byte
		if _, err := io.ReadFull(from, length[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		c, err := protocol.DecodeCommand(frame)
		if err != nil {
			panic(err) // both sides are ours
		}
		change(&c)
		out, err := protocol.AppendFrame(nil, &c, c.Serialize)
		if err != nil {
			panic(err)
		}
		if _, err := to.Write(out); err != nil {
			return
		}
	}
}

// cure puts the sandbox's names into what the program says.
func (p *poison) cure(c *protocol.Command) {
	p.replace(c, func(n poisonedName) (string, string) { return n.hostile, n.plain })
}

// infect puts hostile names, and markers, into what the sandbox says.
func (p *poison) infect(c *protocol.Command, code protocol.RequestCode) {
	p.replace(c, func(n poisonedName) (string, string) { return n.plain, n.hostile })
	if p.spoil == nil {
		return
	}
	spoiled := func(text string) string {
		if p.spoil(code, text) {
			return text + marker
		}
		return text
	}
	c.Remark = spoiled(c.Remark)
	for i := range c.ExtFields {
		c.ExtFields[i].Value = spoiled(c.ExtFields[i].Value)
	}
	if !isJSONBody(c.Body) {
		if code == protocol.GetBrokerConfig && len(c.Body) > 0 {
			c.Body = append(slices.Clone(c.Body), ("\nx=" + strings.ReplaceAll(marker, "\n", "") + "\n")...)
		}
		return
	}
	body := string(inJSON(c.Body, func(text string, member bool) string {
		if member {
			return text
		}
		return spoiled(text)
	}))
	for _, table := range []string{`"table":{`, `"properties":{`} {
		if strings.Contains(body, table+`"`) {
			body = strings.ReplaceAll(body, table, table+jsonOf(marker)+":"+jsonOf(marker)+",")
		}
	}
	c.Body = []byte(body)
}

// jsonText finds the texts of a JSON document, with the colon behind a member's name.
var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?`)

func isJSONBody(body []byte) bool { return len(body) > 0 && (body[0] == '{' || body[0] == '[') }

func jsonOf(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// replace exchanges names and addresses everywhere in a command.
func (p *poison) replace(c *protocol.Command, sides func(poisonedName) (from, to string)) {
	p.mu.Lock()
	var pairs []string
	for _, n := range p.names {
		from, to := sides(n)
		pairs = append(pairs, from, to)
	}
	for real, ours := range p.proxied {
		from, to := sides(poisonedName{real, ours})
		pairs = append(pairs, from, to)
	}
	p.mu.Unlock()
	r := strings.NewReplacer(pairs...)
	c.Remark = r.Replace(c.Remark)
	c.ExtFields = slices.Clone(c.ExtFields)
	for i := range c.ExtFields {
		c.ExtFields[i].Value = r.Replace(c.ExtFields[i].Value)
	}
	switch {
	case len(c.Body) == 0:
	case isJSONBody(c.Body):
		c.Body = inJSON(c.Body, func(text string, _ bool) string { return r.Replace(text) })
	default:
		c.Body = []byte(r.Replace(string(c.Body)))
	}
}

// inJSON changes every text of a JSON document, names of members among them.
func inJSON(body []byte, change func(text string, member bool) string) []byte {
	return jsonText.ReplaceAllFunc(body, func(found []byte) []byte {
		found, member := bytes.CutSuffix(found, []byte(":"))
		var text string
		if json.Unmarshal(found, &text) != nil {
			panic(fmt.Sprintf("%q", found))
		}
		out := []byte(jsonOf(change(text, member)))
		if member {
			out = append(out, ':')
		}
		return out
	})
}
