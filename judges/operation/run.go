package operation

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// shellNames start a shell on a text or a file.
var shellNames = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}

// wrappers run the command that follows them, after options of their own; the value says which options take a value.
var wrappers = map[string]string{
	"sudo": "-u -g -h -p -C -D -R -T", "doas": "-u -C", "env": "-u -C -S", "exec": "-a", "command": "", "builtin": "", "time": "-f -o",
	"nohup": "", "nice": "-n", "ionice": "-c -n -p", "timeout": "-s -k", "stdbuf": "-i -o -e", "setsid": "", "unbuffer": "",
	"busybox": "", "chroot": "", "unshare": "", "xargs": "-I -n -P -L -d -a -s -E", "parallel": "-j", "watch": "-n", "flock": "-w",
	"then": "", "do": "", "else": "", "!": "",
}

// run notes a command after what wraps it, and follows shells, eval and source into what they read.
func (s *scope) run(args []string, in stream) stream {
	for range maxDepth {
		if alias, ok := s.vars["alias "+args[0]]; ok {
			args = append(strings.Fields(alias), args[1:]...)
		}
		name := path.Base(args[0])
		options, wraps := wrappers[name]
		if !wraps {
			break
		}
		rest := s.unwrap(name, strings.Fields(options), args[1:])
		if name == "xargs" && !in.piped {
			rest = append(rest, strings.Fields(in.text)...)
		} else if name == "xargs" || name == "parallel" {
			rest = append(rest, unknown)
		}
		if len(rest) == 0 {
			return stream{piped: true}
		}
		args = rest
	}
	s.r.calls = append(s.r.calls, Call{Args: args, Stdin: in.text, Piped: in.piped})
	return s.follow(path.Base(args[0]), args, in)
}

// assignment is a variable before a command.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// unwrap drops a wrapper's own options and what else stands before the command.
func (s *scope) unwrap(name string, valued, args []string) []string {
	for len(args) > 0 {
		a := args[0]
		switch {
		case name == "env" && (a == "-S" || strings.HasPrefix(a, "--split-string")):
			_, text, _ := strings.Cut(a, "=")
			if a == "-S" && len(args) > 1 {
				text, args = args[1], args[1:]
			}
			args = append(strings.Fields(text), args[1:]...)
		case a == "--":
			return args[1:]
		case slices.Contains(valued, a) && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(a, "-") && len(a) > 1:
			args = args[1:]
		case (name == "env" || name == "sudo") && assignment.MatchString(a):
			args = args[1:]
		case (name == "timeout" || name == "flock" || name == "chroot") && len(args) > 1:
			return args[1:] // the time, the lock's file, the new root
		default:
			return args
		}
	}
	return args
}

// follow reads what a call makes a shell read, and returns what the call prints if its text shows that.
func (s *scope) follow(name string, args []string, in stream) stream {
	switch {
	case slices.Contains(shellNames, name):
		s.shell(args[1:], in)
	case name == "eval":
		s.text(strings.Join(args[1:], " "), s.vars)
	case (name == "." || name == "source") && len(args) > 1:
		s.scriptFile(args[1], args[2:])
	case name == "alias" && len(args) > 1:
		for _, a := range args[1:] {
			if k, v, ok := strings.Cut(a, "="); ok {
				s.vars["alias "+k] = v
			}
		}
	case name == "read" && len(args) > 1 && !in.piped:
		s.set(args[len(args)-1], strings.TrimSpace(in.text))
	case name == "echo":
		return stream{text: strings.Join(withoutFlags(args[1:], "-n", "-e", "-E"), " ") + "\n"}
	case name == "printf" && len(args) > 1:
		return printed(args[1], args[2:])
	case name == "cat" || name == "tee":
		return s.copied(name, args[1:], in)
	case (name == "cp" || name == "mv" || name == "ln") && len(args) > 2:
		if text, ok := s.r.file(args[len(args)-2]); ok {
			s.r.write(args[len(args)-1], stream{text: text}, false)
		}
	case strings.Contains(args[0], "/") && s.r.files[path.Clean(args[0])] != "":
		s.scriptFile(args[0], args[1:]) // a file that an earlier command wrote
	}
	return stream{piped: true}
}

// shell follows `sh -c TEXT name args…`, `sh FILE args…` and a shell that reads its input.
func (s *scope) shell(args []string, in stream) {
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args):
			vars := positional(args[min(len(args), i+3):])
			for k, v := range s.vars {
				vars[k] = v
			}
			s.text(args[i+1], vars)
			return
		case a == "-o" || a == "-O", i > 0 && (args[i-1] == "-o" || args[i-1] == "-O"):
		case a == "-s" || a == "-":
			s.standardInput(in)
			return
		case !strings.HasPrefix(a, "-"):
			s.scriptFile(a, args[i+1:])
			return
		}
	}
	s.standardInput(in)
}

// standardInput follows a shell that reads its commands from its input.
func (s *scope) standardInput(in stream) {
	if in.piped {
		s.r.unsure("a shell reads what another command prints")
	}
	s.text(in.text, s.vars)
}

func positional(args []string) map[string]string {
	vars := map[string]string{"@": strings.Join(args, " "), "*": strings.Join(args, " ")}
	for i, a := range args[:min(len(args), 9)] {
		vars[string(rune('1'+i))] = a
	}
	return vars
}

// scriptFile follows a script if it is one that an earlier command wrote, or one of the tree.
func (s *scope) scriptFile(name string, args []string) {
	if text, ok := s.r.file(name); ok {
		s.text(text, positional(args))
	} else if strings.Contains(name, unknown) || strings.HasPrefix(name, "/dev/fd") {
		s.r.unsure("a shell reads a file that the text does not show")
	}
}

func (s *scope) text(text string, vars map[string]string) {
	if strings.Contains(text, unknown) {
		s.r.unsure("a shell reads a text that is not all shown: %.100q", text)
	}
	s.r.script(strings.ReplaceAll(text, unknown, "UNKNOWN"), vars, s.depth+1)
}

func (s *scope) copied(name string, args []string, in stream) stream {
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if name == "tee" {
		for _, n := range names {
			s.r.write(n, in, slices.Contains(args, "-a"))
		}
		return in
	}
	if len(names) == 0 {
		return in
	}
	var out stream
	for _, n := range names {
		text, ok := s.r.file(n)
		out = both(out, stream{text: text, piped: !ok})
	}
	return out
}

// printed is what printf prints, for formats of %s only.
func printed(format string, args []string) stream {
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", "%%", "%").Replace(format)
	if n := strings.Count(format, "%s"); n > 0 {
		for i := range max(n, len(args)) {
			arg := ""
			if i < len(args) {
				arg = args[i]
			}
			if i < n {
				plain = strings.Replace(plain, "%s", arg, 1)
			} else {
				plain += " " + arg
			}
		}
	}
	return stream{text: plain, piped: otherFormat.MatchString(format)}
}

// otherFormat matches what printed does not know.
var otherFormat = regexp.MustCompile(`%[^s%]|\\[^nt]`)

func withoutFlags(args []string, flags ...string) []string {
	for len(args) > 0 && slices.Contains(flags, args[0]) {
		args = args[1:]
	}
	return args
}
