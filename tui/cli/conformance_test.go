package cli

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/conformance says for each rule of RocketMQ's consumer where it lives and which test
// holds it, a file a chapter. The test below holds the tables to the code: what a row names
// must be there.
func TestConformanceTable(t *testing.T) {
	t.Parallel()
	const dir = "../../docs/conformance"
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	chapters, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(chapters) < 2 {
		t.Fatalf("chapters %q, %v", chapters, err)
	}
	code := indexCode(t)
	var all strings.Builder
	for _, chapter := range chapters {
		name := filepath.Base(chapter)
		if name == "README.md" {
			continue
		}
		text, err := os.ReadFile(chapter)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		faults, rows := tableFaults(string(text), code)
		for _, fault := range faults {
			t.Errorf("docs/conformance/%s: %s", name, fault)
		}
		if !regexp.MustCompile(`\]\(` + regexp.QuoteMeta(name) + fmt.Sprintf(`\) \| .* \| %d \|`, rows)).Match(index) {
			t.Errorf("docs/conformance/README.md: no row names %s with its %d rules", name, rows)
		}
	}
	// The seed article's points, the reference's traps and the Go client's bugs.
	for prefix, n := range map[string]int{"S": 85, "T": 50, "G": 42} {
		for i := 1; i <= n; i++ {
			if id := fmt.Sprintf("%s%02d", prefix, i); !regexp.MustCompile(`\|[^|\n]*\b` + id + `\b`).MatchString(all.String()) {
				t.Errorf("docs/conformance: no row names %s", id)
			}
		}
	}
}

func TestConformanceTableFaults(t *testing.T) {
	code := &codeIndex{
		names: map[string]map[string]bool{"engine/orderly.go": {"orderly": true}},
		tests: map[string]map[string]bool{"engine": {"TestOrderly": true}},
	}
	const head = "| rule | where | held by |\n| --- | --- | --- |\n"
	const place, held = "[engine/orderly.go](../../engine/orderly.go) `orderly`", "`engine` TestOrderly"
	for name, tt := range map[string]struct{ row, want string }{
		"fine":           {"| a rule (S55)<br>as both | " + place + " | `engine` TestOrderly/some_case |", ""},
		"rule of threes": {"| rule of threes<br>as wished | " + place + " | " + held + " |", "second line"},
		"not built":      {"| a rule<br>not built: nobody calls it | – | – |", ""},
		"empty cell":     {"| a rule<br>as both |  | " + held + " |", "empty"},
		"no rule":        {"| <br>as both | " + place + " | " + held + " |", "empty"},
		"cells":          {"| a rule<br>as both | S55 |", "2 cells"},
		"no second line": {"| a rule | " + place + " | " + held + " |", "second line"},
		"no reason":      {"| a rule<br>not built | – | – |", "second line"},
		"no file":        {"| a rule<br>as both | [engine/none.go](../../engine/none.go) `orderly` | " + held + " |", "engine/none.go"},
		"no such name":   {"| a rule<br>as both | [engine/orderly.go](../../engine/orderly.go) `nothing` | " + held + " |", "nothing"},
		"no such test":   {"| a rule<br>as both | " + place + " | `engine` TestNone |", "TestNone"},
		"without a test": {"| a rule<br>as both | " + place + " | – |", "no test"},
		"without a file": {"| a rule<br>as both | – | " + held + " |", "no file"},
	} {
		t.Run(name, func(t *testing.T) {
			faults, rows := tableFaults(head+tt.row+"\n", code)
			if rows != 1 {
				t.Errorf("%d rows, want 1", rows)
			}
			switch {
			case tt.want == "" && len(faults) > 0:
				t.Errorf("faults %q, want none", faults)
			case tt.want != "" && !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, tt.want) }):
				t.Errorf("faults %q, want one with %q", faults, tt.want)
			}
		})
	}
}

// codeIndex has what the table may name.
type codeIndex struct {
	names map[string]map[string]bool // declared in a file, by its path from the root
	tests map[string]map[string]bool // test functions of a directory
}

func indexCode(t *testing.T) *codeIndex {
	t.Helper()
	c := &codeIndex{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, f := range moduleFiles(t) {
		names := map[string]bool{}
		ast.Inspect(f.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			}
			return true
		})
		c.names[f.path] = names
		if !f.test {
			continue
		}
		if c.tests[f.dir] == nil {
			c.tests[f.dir] = map[string]bool{}
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				c.tests[f.dir][fn.Name.Name] = true
			}
		}
	}
	return c
}

var (
	tableRow  = regexp.MustCompile(`^\|(.*)\|\s*$`)
	codeLink  = regexp.MustCompile(`\[[^\]]+\]\(\.\./\.\./([^)]+)\)`)
	codeName  = regexp.MustCompile("`([^`]+)`")
	testName  = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]\w*$`)
	testWords = regexp.MustCompile("`([^`]+)`|\\b((?:Test|Fuzz|Benchmark)[A-Z]\\w*)")
	asForms   = regexp.MustCompile(`^(as both|as Java 5\.3\.3|as Java 4\.9\.7|better: .|not built: .)`)
)

// tableFaults says what is wrong with the rows of tables of three columns: the rule, with
// how it stands to the reference on a second line; where; held by. It counts the rows.
func tableFaults(text string, code *codeIndex) (faults []string, rows int) {
	for n, line := range strings.Split(text, "\n") {
		m := tableRow.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "| ---") || line == "| rule | where | held by |" {
			continue
		}
		rows++
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("line %d: %s: %s", n+1, fmt.Sprintf(format, args...), line))
		}
		cells := strings.Split(strings.ReplaceAll(m[1], `\|`, "¦"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 3 {
			fault("%d cells, not 3", len(cells))
			continue
		}
		rule, as, _ := strings.Cut(cells[0], "<br>")
		if rule == "" || slices.Contains(cells, "") {
			fault("an empty cell")
		}
		if !asForms.MatchString(as) {
			fault("the rule's second line must begin with as both, as Java 5.3.3, as Java 4.9.7, better: or not built: with a reason")
		}
		rest := strings.HasPrefix(as, "not built")
		if !rest || cells[1] != "–" {
			for _, f := range placeFaults(cells[1], code) {
				fault("%s", f)
			}
		}
		if !rest || cells[2] != "–" {
			for _, f := range testFaults(cells[2], code) {
				fault("%s", f)
			}
		}
	}
	return faults, rows
}

// placeFaults checks links to files, each followed by names declared in it.
func placeFaults(cell string, code *codeIndex) (faults []string) {
	links := codeLink.FindAllStringSubmatchIndex(cell, -1)
	if len(links) == 0 {
		return []string{"no file is named"}
	}
	for i, l := range links {
		file := cell[l[2]:l[3]]
		if path.Ext(file) != ".go" {
			if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
				faults = append(faults, file+" does not exist")
			}
			continue
		}
		names, ok := code.names[file]
		if !ok {
			faults = append(faults, file+" does not exist")
			continue
		}
		end := len(cell)
		if i+1 < len(links) {
			end = links[i+1][0]
		}
		for _, m := range codeName.FindAllStringSubmatch(cell[l[1]:end], -1) {
			for part := range strings.SplitSeq(m[1], ".") {
				if !names[part] {
					faults = append(faults, fmt.Sprintf("%s has no %s", file, m[1]))
				}
			}
		}
	}
	return faults
}

// testFaults checks test functions, each after the directory it is in.
func testFaults(cell string, code *codeIndex) (faults []string) {
	dir, found := "", false
	for _, m := range testWords.FindAllStringSubmatch(cell, -1) {
		if m[1] != "" {
			dir = strings.Trim(m[1], "/")
			continue
		}
		found = true
		if !code.tests[dir][m[2]] {
			faults = append(faults, fmt.Sprintf("package %q has no %s", dir, m[2]))
		}
	}
	if !found {
		faults = append(faults, "no test is named")
	}
	return faults
}
