package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentLinks: every link within the documents leads to a file that is
// there, and to a heading of it where it names one.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	texts := documents(t)
	found := 0
	for path, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			file, heading, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
			} else if heading != "" && !slices.Contains(headings(texts[target]), heading) {
				t.Errorf("%s: link to %s: there is no such heading in %s", path, m[1], target)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d links in all documents, want dozens: does this test still read them?", found)
	}
}

// TestDocumentCommands: every command line shown is one that the program takes,
// by its command, flags and number of arguments.
func TestDocumentCommands(t *testing.T) {
	shown := 0
	for path, text := range documents(t) {
		for line := range strings.Lines(text) {
			words, fault := shellWords(strings.TrimSpace(line))
			switch {
			case !strings.HasPrefix(line, "    ") || len(words) == 0:
				continue
			case words[0] == "eyeq":
				words = words[1:]
			case len(words) > 2 && slices.Equal(words[:3], []string{"go", "run", "."}):
				words = words[3:]
			default:
				continue
			}
			shown++
			if fault == nil {
				fault = commandFault(words)
			}
			if fault != nil {
				t.Errorf("%s: %s: %v", path, strings.TrimSpace(line), fault)
			}
		}
	}
	if shown < 50 {
		t.Errorf("%d command lines in all documents, want dozens: does this test still read them?", shown)
	}
}

func TestCommandFault(t *testing.T) {
	for line, want := range map[string]string{
		"group lag orders-worker --watch":           "",
		"tail orders --jq '.a > 1' -o json > o.txt": "",
		"group reset g --to '-15m' --dry-run | cat": "",
		"grup lag g":            "grup",
		"group lag g --wtach":   "wtach",
		"group lag":             "which group?",
		"topic show orders 'it": "quote",
	} {
		words, err := shellWords(line)
		if err == nil {
			err = commandFault(words)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one with %q", line, err, want)
		}
	}
}

// documents are the texts for people, by their path from here.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// headings are the anchors of a document, as hosts of repositories make them.
func headings(text string) []string {
	var anchors []string
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			kept := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			anchors = append(anchors, strings.ReplaceAll(kept, " ", "-"))
		}
	}
	return anchors
}

// commandFault says why the program would refuse the words before it asks any
// cluster; nil is that it takes them.
func commandFault(words []string) error {
	cmd, args, err := newRoot(&env{getenv: func(string) string { return "" }}).Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if !cmd.Runnable() {
		return fmt.Errorf("%s does nothing by itself", cmd.CommandPath())
	}
	return cmd.ValidateRequiredFlags()
}

// shellWords takes a line apart as a shell does, up to a comment, a pipe, a
// redirection or a background mark.
func shellWords(line string) ([]string, error) {
	var words []string
	word, open, begun := "", rune(0), false
	end := func() {
		if begun {
			words = append(words, word)
		}
		word, begun = "", false
	}
	for _, r := range line {
		switch {
		case open != 0 && r == open:
			open = 0
		case open != 0:
			word += string(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case r == ' ':
			end()
		case strings.ContainsRune("|>&;", r), r == '#' && !begun:
			end()
			return words, nil
		default:
			word += string(r)
			begun = true
		}
	}
	end()
	if open != 0 {
		return words, fmt.Errorf("a quote %c is not closed", open)
	}
	return words, nil
}
