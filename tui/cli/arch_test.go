package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says what the packages may import of this module and of others; the
// standard library is free (docs/architecture.md). A name that ends in / allows
// everything below it.
var arrows = map[string][]string{
	"":                             {"tui/cli"},
	"remoting/protocol":            {"github.com/klauspost/compress/", "github.com/pierrec/lz4/"},
	"remoting":                     {"remoting/protocol"},
	"remoting/sandbox":             {"remoting", "remoting/protocol"},
	"remoting/sandbox/sandboxtest": {"remoting", "remoting/protocol", "remoting/sandbox"},
	"store":                        {"remoting", "remoting/protocol"},
	"engine/core":                  {"remoting/protocol"},
	"engine":                       {"engine/core", "remoting", "remoting/protocol"},
	"engine/inspect/message":       {"remoting/protocol", "github.com/itchyny/gojq", "golang.org/x/text/encoding/htmlindex", "golang.org/x/text/encoding/unicode", "golang.org/x/text/transform"},
	"engine/inspect":               {"engine/core", "engine/inspect/message", "remoting", "remoting/protocol"},
	"engine/audit":                 {"engine/inspect", "golang.org/x/sys/unix"},
	"engine/chaos":                 {"remoting", "remoting/protocol"},
	"engine/benchmember":           {"engine", "remoting", "remoting/protocol", "store"},
	"tui/table":                    {"github.com/charmbracelet/x/ansi"},
	"tui/draw":                     {"tui/table", "github.com/charmbracelet/", "github.com/muesli/termenv"},
	"tui/words":                    {"engine", "engine/core", "engine/inspect", "tui/draw"},
	"tui/page": {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "tui/draw", "tui/table", "tui/words",
		"github.com/charmbracelet/"},
	"tui/change":     {"engine", "engine/audit", "engine/core", "engine/inspect", "tui/draw", "tui/page", "tui/table", "tui/words", "github.com/charmbracelet/"},
	"tui/pages":      {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "tui/draw", "tui/page", "tui/table", "tui/words", "github.com/charmbracelet/"},
	"tui/live":       {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "tui/draw", "tui/page", "tui/table", "tui/words", "github.com/charmbracelet/"},
	"tui/tail":       {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "tui/draw", "tui/page", "tui/table", "tui/words", "github.com/charmbracelet/"},
	"tui/background": {"github.com/charmbracelet/lipgloss"},
	"tui": {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "tui/change", "tui/draw", "tui/live", "tui/page", "tui/pages", "tui/table", "tui/tail", "tui/words", "github.com/charmbracelet/", "github.com/muesli/termenv",
		"github.com/aymanbagabas/go-osc52/", "golang.org/x/sys/unix"},
	"tui/cli/config": {"engine", "engine/core", "engine/inspect", "remoting", "remoting/protocol", "tui/page", "github.com/BurntSushi/toml", "github.com/pelletier/go-toml/v2/unstable", "github.com/adrg/xdg", "golang.org/x/sys/unix"},
	"tui/cli": {"engine", "engine/audit", "engine/core", "engine/inspect", "engine/inspect/message", "remoting", "remoting/protocol", "remoting/sandbox", "store", "tui", "tui/background", "tui/change", "tui/cli/config", "tui/draw", "tui/page", "tui/table", "tui/words",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/BurntSushi/toml", "github.com/pelletier/go-toml/v2/unstable", "github.com/adrg/xdg", "github.com/charmbracelet/x/term", "golang.org/x/sys/unix"},
}

// testArrows are those that tests may follow besides, in any package.
var testArrows = []string{
	"remoting", "remoting/protocol", "remoting/sandbox", "remoting/sandbox/sandboxtest", "store",
	"github.com/google/go-cmp/", "github.com/charmbracelet/", "github.com/muesli/termenv", "github.com/creack/pty",
}

// goFile is a parsed file of the module.
type goFile struct {
	path, dir string // from the module's root, with slashes
	test      bool
	file      *ast.File
	fset      *token.FileSet
}

func (f *goFile) at(pos token.Pos) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(pos).Line)
}

// moduleFiles parses every file of the module.
func moduleFiles(t *testing.T) []goFile {
	t.Helper()
	const root = "../.."
	var files []goFile
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		dir := path.Dir(rel)
		if dir == "." {
			dir = ""
		}
		files = append(files, goFile{rel, dir, strings.HasSuffix(name, "_test.go"), parsed, fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestImportArrows(t *testing.T) {
	t.Parallel()
	for _, f := range moduleFiles(t) {
		allowed, known := arrows[f.dir]
		if !known {
			t.Errorf("%s: package %q has no arrows here: say what it may import", f.path, f.dir)
			continue
		}
		for _, imp := range f.file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			own, isOurs := strings.CutPrefix(name, "eyeq/")
			if !isOurs && !strings.Contains(strings.Split(name, "/")[0], ".") {
				continue // the standard library
			}
			if isOurs {
				name = own
			}
			if f.test && (name == f.dir || follows(testArrows, name)) {
				continue
			}
			if !follows(allowed, name) {
				t.Errorf("%s imports %s, which %q may not", f.at(imp.Pos()), name, f.dir)
			}
		}
	}
}

func follows(arrows []string, name string) bool {
	return slices.ContainsFunc(arrows, func(a string) bool {
		return a == name || strings.HasSuffix(a, "/") && strings.HasPrefix(name, a)
	})
}

func TestPackageDocs(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, f := range moduleFiles(t) {
		if _, ok := documented[f.dir]; !ok {
			documented[f.dir] = false
		}
		if f.file.Doc == nil || f.test {
			continue
		}
		switch base := path.Base(f.path); {
		case base == "doc.go", base == "main.go" && f.file.Name.Name == "main":
			documented[f.dir] = true
		default:
			t.Errorf("%s has a package comment; it belongs in doc.go", f.path)
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %q has no doc.go with a package comment", dir)
		}
	}
}

// numberedTODO is one with its issue.
var numberedTODO = regexp.MustCompile(`TODO\(?\s*#?\d+`)

func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, f := range moduleFiles(t) {
		isMain := f.file.Name.Name == "main"
		ast.Inspect(f.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch call := calledName(n); {
				case call == "time.Sleep" && !f.test:
					t.Errorf("%s: time.Sleep outside tests: put a timer into the select", f.at(n.Pos()))
				case (call == "context.Background" || call == "context.TODO") && !f.test && !isMain && f.path != "tui/cli/cli.go":
					t.Errorf("%s: %s: the root context is made in tui/cli/cli.go", f.at(n.Pos()), call)
				case call == "slog.Default" || call == "slog.SetDefault":
					t.Errorf("%s: %s: the logger is passed in", f.at(n.Pos()), call)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil && f.dir != "tui/background" {
					t.Errorf("%s: init: the only one is tui/background's", f.at(n.Pos()))
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "UnixNano" && f.dir == "engine" && !f.test && f.path != "engine/clientid.go" {
					t.Errorf("%s: UnixNano: a wall clock may be set at any time, keep a stamp (engine/clock.go)", f.at(n.Pos()))
				}
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "sync" && n.Sel.Name == "Map" {
					t.Errorf("%s: sync.Map: one owner, or a leaf mutex", f.at(n.Pos()))
				}
			}
			return true
		})
		for _, group := range f.file.Comments {
			for _, c := range group.List {
				if strings.Contains(c.Text, "TODO") && !numberedTODO.MatchString(c.Text) && f.path != "tui/cli/arch_test.go" {
					t.Errorf("%s: a TODO without an issue number", f.at(c.Pos()))
				}
			}
		}
		if f.dir == "remoting/protocol" || f.dir == "engine/core" {
			for _, imp := range f.file.Imports {
				if p := strings.Trim(imp.Path.Value, `"`); p == "log" || p == "log/slog" {
					t.Errorf("%s: %s does not log", f.at(imp.Pos()), f.dir)
				}
			}
		}
	}
}

// calledName is "package.Function" of a call; "" for other calls.
func calledName(n *ast.CallExpr) string {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || id.Obj != nil { // a variable
		return ""
	}
	return id.Name + "." + sel.Sel.Name
}
