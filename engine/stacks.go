package engine

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// The bounds of a stack answer. The broker and the tool that asked hold all of
// it, and most of a large dump is the same few stacks over and over.
const (
	maxDump   = 16 << 20  // taken from the runtime
	maxStacks = 256 << 10 // answered
)

// stacks is what this program's goroutines do now, in place of a Java client's
// thread dump: each different stack once, the most frequent first.
func stacks() string {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || n == maxDump {
			return groupStacks(buf[:n], maxStacks)
		}
		buf = make([]byte, min(4*len(buf), maxDump))
	}
}

// varying is what differs between goroutines that do the same: their numbers,
// arguments and addresses, and how long they have waited.
var varying = regexp.MustCompile(`^goroutine \d+ |, \d+ minutes|\([^()]*\)$|\(0x[^()]*\)| \+0x[0-9a-f]+$| in goroutine \d+$`)

// groupStacks takes the goroutines of a dump that have the same stack together,
// and cuts the text at a limit.
func groupStacks(dump []byte, limit int) string {
	type group struct {
		text  string
		count int
	}
	groups := map[string]*group{}
	var order []*group
	goroutines := 0
	for one := range bytes.SplitSeq(bytes.TrimSpace(dump), []byte("\n\n")) {
		goroutines++
		text := string(one)
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = varying.ReplaceAllString(lines[i], "")
		}
		key := strings.Join(lines, "\n")
		g := groups[key]
		if g == nil {
			g = &group{text: text}
			groups[key] = g
			order = append(order, g)
		}
		g.count++
	}
	slices.SortStableFunc(order, func(a, b *group) int { return b.count - a.count })
	var b strings.Builder
	fmt.Fprintf(&b, "%d goroutines in %d different stacks\n", goroutines, len(order))
	for i, g := range order {
		if b.Len()+len(g.text) > limit {
			fmt.Fprintf(&b, "\n%d more stacks are left out: the limit is %d KiB\n", len(order)-i, limit>>10)
			break
		}
		if g.count > 1 {
			fmt.Fprintf(&b, "\n%d times, one of them:", g.count)
		}
		b.WriteString("\n" + g.text + "\n")
	}
	return b.String()
}
