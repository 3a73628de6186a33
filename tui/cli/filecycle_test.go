package cli

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// cycleLimit is how many files of a package of the upper house may need each other in a
// circle: whoever reads one of them has to know them all. mostFiles are the packages that
// have more today; their number may only fall.
const cycleLimit = 10

var mostFiles = map[string]int{
	"tui":     26, // the root model: its methods call each other
	"tui/cli": 15, // what a command works with: flags, target, questions, errors
}

func TestFileCycles(t *testing.T) {
	t.Parallel()
	packages := map[string][]goFile{}
	for _, f := range moduleFiles(t) {
		if strings.HasPrefix(f.dir, "tui") && !f.test && !strings.Contains(f.path, "_windows") && !strings.Contains(f.path, "_other") {
			packages[f.dir] = append(packages[f.dir], f)
		}
	}
	for dir, files := range packages {
		largest := largestCycle(usesOf(dir, files))
		limit := max(cycleLimit, mostFiles[dir])
		if n := len(largest); n > limit || mostFiles[dir] > 0 && n < mostFiles[dir] {
			t.Errorf("%s: %d files need each other in a circle, %d are allowed: %s", dir, n, limit, strings.Join(largest, " "))
		}
	}
}

func TestLargestCycle(t *testing.T) {
	uses := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true}, "c": {"b": true, "d": true}, "d": {"e": true}, "e": {"c": true}, "f": {"a": true}}
	if got := largestCycle(uses); !slices.Equal(got, []string{"b", "c", "d", "e"}) {
		t.Errorf("the largest cycle is %q", got)
	}
}

// emptyImporter knows every package and nothing in it: what a file needs of its own
// package is seen without the others.
type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// usesOf says which files of a package use something that another one of it declares.
func usesOf(dir string, files []goFile) map[string]map[string]bool {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyImporter{}, Error: func(error) {}} // what others would have told is missing
	var parsed []*ast.File
	for _, f := range files {
		parsed = append(parsed, f.file)
	}
	fset := files[0].fset
	pkg, err := config.Check(dir, fset, parsed, &info)
	if !errors.As(err, new(types.Error)) && err != nil {
		panic(err)
	}
	fileOf := func(pos token.Pos) string { return path.Base(fset.Position(pos).Filename) }
	uses := map[string]map[string]bool{}
	for _, f := range files {
		uses[path.Base(f.path)] = map[string]bool{}
	}
	for id, o := range info.Uses {
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		if from, to := fileOf(id.Pos()), fileOf(o.Pos()); o.Pkg() == pkg && o.Pos().IsValid() && from != to {
			uses[from][to] = true
		}
	}
	return uses
}

// largestCycle is the largest set of files each of which needs all others of it, by way of
// others or at once.
func largestCycle(uses map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for from := range uses {
		seen, next := map[string]bool{}, []string{from}
		for len(next) > 0 {
			f := next[len(next)-1]
			next = next[:len(next)-1]
			for to := range uses[f] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		reach[from] = seen
	}
	for from := range uses {
		var cycle []string
		for to := range reach[from] {
			if reach[to][from] {
				cycle = append(cycle, to)
			}
		}
		slices.Sort(cycle)
		if len(cycle) > len(largest) {
			largest = cycle
		}
	}
	return largest
}
