package release

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/tools"
)

// Where a SWE-bench image holds what a sandbox calls {tree}, {env} and {out}.
var imageFolders = strings.NewReplacer("{tree}", "/testbed", "{env}", replay.EnvFolder, "{out}", "/tmp/out")

// evalScript makes the script that the target runs after it applied the model's patch at /testbed: it lays the sealed
// tests over whatever the model left at their paths, runs them between the two markers, and restores the paths. The
// target inserts "…=$?" before the line of the End marker, so the test command must be the line before it.
func evalScript(inst pipeline.Instance, c pipeline.Check, p parser) (string, error) {
	run, err := tools.For(inst.Recipe.Runner)
	if err != nil {
		return "", err
	}
	steps := run.Steps(inst.Recipe, replay.Target{Paths: c.Target})
	var b strings.Builder
	b.WriteString("#!/bin/bash\nset -uxo pipefail\ngit config --global --add safe.directory /testbed\n")
	for _, k := range sortedKeys(inst.Recipe.Env) {
		fmt.Fprintf(&b, "export %s=%s\n", k, quote(imageFolders.Replace(inst.Recipe.Env[k])))
	}
	b.WriteString("mkdir -p /tmp/out\ncd /testbed\n")
	paths := sealedPaths(c)
	if len(paths) > 0 {
		fmt.Fprintf(&b, "rm -rf -- %s\n", quoteAll(paths))
	}
	layFiles(&b, c.Files)
	for _, s := range steps {
		if s.Name == tools.StepTest {
			s.Args = p.args(s.Args)
			b.WriteString(": '>>>>> Start Test Output'\n")
			b.WriteString(stepLine(s))
			break
		}
		b.WriteString(stepLine(s))
	}
	b.WriteString(": '>>>>> End Test Output'\ncd /testbed\n")
	for _, q := range paths {
		fmt.Fprintf(&b, "git checkout -q HEAD -- %[1]s || rm -rf -- %[1]s\n", quote(q))
	}
	return b.String(), nil
}

// sealedPaths are the paths that a check decides on, in order.
func sealedPaths(c pipeline.Check) []string {
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	paths = append(paths, c.Remove...)
	sort.Strings(paths)
	return paths
}

// stepLine is one step as a line of shell.
func stepLine(s replay.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(cd %s && ", quote(path.Join("/testbed", s.Dir)))
	if len(s.Env) > 0 {
		b.WriteString("env ")
	}
	for _, k := range sortedKeys(s.Env) {
		b.WriteString(quote(k+"="+imageFolders.Replace(s.Env[k])) + " ")
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = imageFolders.Replace(a)
	}
	b.WriteString(quoteAll(args) + ")\n")
	return b.String()
}

// layFiles writes the sealed files: text by "git apply" of a patch that creates them, the rest by base64.
func layFiles(b *strings.Builder, files []pipeline.OverlayFile) {
	var patch bytes.Buffer
	var rest []pipeline.OverlayFile
	for _, f := range files {
		if plainText(f) {
			creation(&patch, f)
		} else {
			rest = append(rest, f)
		}
	}
	if patch.Len() > 0 {
		delim := delimiter(patch.String())
		fmt.Fprintf(b, "git apply --verbose --whitespace=nowarn - <<'%[1]s'\n%[2]s%[1]s\n", delim, patch.String())
	}
	for _, f := range rest {
		layRaw(b, f)
	}
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./+@=-]+$`)

// plainText reports whether a file can be in the patch: other contents and paths need an encoding there, and the markers
// in a script would be taken for those of the run.
func plainText(f pipeline.OverlayFile) bool {
	return plainPath.MatchString(f.Path) && len(f.Data) > 0 && utf8.Valid(f.Data) &&
		!bytes.ContainsRune(f.Data, 0) && !bytes.Contains(f.Data, []byte(">>>>>"))
}

// creation appends a patch that creates f.
func creation(b *bytes.Buffer, f pipeline.OverlayFile) {
	n := bytes.Count(f.Data, []byte("\n"))
	whole := bytes.HasSuffix(f.Data, []byte("\n"))
	if !whole {
		n++
	}
	fmt.Fprintf(b, "diff --git a/%[1]s b/%[1]s\nnew file mode %[2]s\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[3]d @@\n", f.Path, f.Mode, n)
	for _, line := range bytes.SplitAfter(f.Data, []byte("\n")) {
		if len(line) > 0 {
			b.WriteByte('+')
			b.Write(line)
		}
	}
	if !whole {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

// delimiter returns a word that does not occur in text.
func delimiter(text string) string {
	d := "EOF_114329324912"
	for strings.Contains(text, d) {
		d += "0"
	}
	return d
}

// layRaw writes a file that a patch cannot carry.
func layRaw(b *strings.Builder, f pipeline.OverlayFile) {
	if dir := path.Dir(f.Path); dir != "." {
		fmt.Fprintf(b, "mkdir -p -- %s\n", quote(dir))
	}
	if f.Mode == "120000" {
		fmt.Fprintf(b, "ln -s -- %s %s\n", quote(string(f.Data)), quote(f.Path))
		return
	}
	fmt.Fprintf(b, "base64 -d > %s <<'EOF_BASE64'\n", quote(f.Path))
	enc := base64.StdEncoding.EncodeToString(f.Data)
	for len(enc) > 76 {
		b.WriteString(enc[:76] + "\n")
		enc = enc[76:]
	}
	b.WriteString(enc + "\nEOF_BASE64\n")
	if f.Mode == "100755" {
		fmt.Fprintf(b, "chmod +x -- %s\n", quote(f.Path))
	}
}

var bareWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quote makes one word of shell.
func quote(s string) string {
	if bareWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteAll makes words of shell.
func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}
