package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// report prints a verdict for people.
func report(w io.Writer, l *Ledger, v *Verdict) {
	fmt.Fprintf(w, "RocketMQ %s, profile %s, seed %d, %v, %d queues\n\n", l.Version, l.Plan.Profile, l.Plan.Seed, l.Plan.Length, l.Queues)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(g *GroupVerdict) string) {
		fmt.Fprintf(t, "%s\t", name)
		for _, g := range groups {
			fmt.Fprintf(t, "%s\t", cell(v.Groups[g]))
		}
		fmt.Fprintln(t)
	}
	number := func(f func(g *GroupVerdict) int) func(*GroupVerdict) string {
		return func(g *GroupVerdict) string { return fmt.Sprint(f(g)) }
	}
	fmt.Fprintf(t, "\t%s\t%s\t\n", groups[0], groups[1])
	row("messages sent", number(func(g *GroupVerdict) int { return int(g.Messages) }))
	row("copies stored", number(func(g *GroupVerdict) int { return int(g.Copies) }))
	row("deliveries", number(func(g *GroupVerdict) int { return int(g.Deliveries) }))
	row("lost", number(func(g *GroupVerdict) int { return len(g.Lost) }))
	row("order broken", func(g *GroupVerdict) string {
		if g == v.Groups[Concurrent] {
			return "–"
		}
		return fmt.Sprint(len(g.Breaks))
	})
	row("duplicates", number(func(g *GroupVerdict) int { return len(g.Duplicates) }))
	for _, cause := range causes(v) {
		row(cause, number(func(g *GroupVerdict) int { return g.Causes[cause] }))
	}
	row("quiet times looked at", number(func(g *GroupVerdict) int { return len(g.Windows) }))
	row("longest until all queues were owned", func(g *GroupVerdict) string { return fmt.Sprintf("%.1f s", g.Slowest.Seconds()) })
	t.Flush()

	fmt.Fprintf(w, "\nEvents: %s\n", eventCounts(l))
	for _, g := range groups {
		fmt.Fprintf(w, "\nQueues owned again, %s group, after\n", g)
		for _, win := range v.Groups[g].Windows {
			open := ""
			if win.Open {
				open = " and not until the next event"
			}
			fmt.Fprintf(w, "  %s: %.1f s%s\n", strings.TrimSpace(win.After.String()), win.Owned.Seconds(), open)
		}
	}
	if len(v.Failures) == 0 {
		fmt.Fprintf(w, "\nGood: nothing lost, order kept, every duplicate explained, every queue owned again in time.\n")
		return
	}
	fmt.Fprintf(w, "\nNOT GOOD:\n")
	for _, f := range v.Failures {
		fmt.Fprintf(w, "  %s\n", f)
	}
}

func causes(v *Verdict) []string {
	all := map[string]bool{}
	for _, g := range v.Groups {
		for cause := range g.Causes {
			all[cause] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// eventCounts says how often what happened.
func eventCounts(l *Ledger) string {
	n := map[Kind]int{}
	for _, h := range l.Happenings {
		n[h.Event.Kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, n[kind]))
	}
	return strings.Join(parts, ", ")
}
