package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// git runs the git program in one bare repository of ours, with an environment that holds nothing but what is listed here.
type git struct {
	dir   string   // the bare repository
	extra []string // more environment, which wins over the rest
	held  *os.File // a lock that children inherit: it holds until the last of them ends, also when this process was killed
	// mask makes git's words fit to be shown; nil where no address is given to it.
	mask *strings.Replacer
}

// settings switch off whatever could run a program or change what git prints. A mirror's own configuration is empty, but for
// what `git init` writes.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null",
	"-c", "core.quotePath=false", "-c", "core.commitGraph=true", "-c", "protocol.ext.allow=never", "-c", "gc.auto=0",
	"-c", "maintenance.auto=false", "-c", "rerere.enabled=false", "-c", "fetch.recurseSubmodules=false",
	// Newer versions of git read the attributes of HEAD in a bare repository. The empty tree has none.
	"-c", "attr.tree=" + emptyTree, "-c", "advice.all=false",
	// A server that falls silent must not hold a mirror's lock for ever.
	"-c", "http.lowSpeedLimit=100", "-c", "http.lowSpeedTime=120",
}

// The ids of the empty tree, which git knows without storing it.
const (
	emptyTree    = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTree256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// networkEnv names the variables that a fetch over the network may see.
var networkEnv = []string{
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSH_AUTH_SOCK",
}

func (g git) env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC", "GIT_DIR=" + g.dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL=none",
	}
	return append(env, g.extra...)
}

// overNetwork is g for the commands that talk to another machine.
func (g git) overNetwork() git {
	env := []string{"GIT_ALLOW_PROTOCOL=https:http:ssh:git", "GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
	for _, name := range networkEnv {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	g.extra = append(env, g.extra...)
	return g
}

// command prepares a child that dies with ctx, and its own children with it.
func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir = g.dir
	cmd.Env = g.env()
	if g.held != nil {
		cmd.ExtraFiles = []*os.File{g.held}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output runs git and returns what it printed.
func (g git) output(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := g.stream(ctx, stdin, args, func(r *bufio.Reader) error {
		_, err := r.WriteTo(&out)
		return err
	})
	return out.Bytes(), err
}

// stream runs git and hands what it prints to read, which may stop early with an error.
func (g git) stream(ctx context.Context, stdin io.Reader, args []string, read func(*bufio.Reader) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := g.command(inner, args...)
	cmd.Stdin = stdin
	var stderr tail
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting git %s: %w", args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting git %s: %w", args[0], err)
	}
	readErr := read(bufio.NewReaderSize(pipe, 1<<16))
	if readErr != nil {
		cancel()
	}
	waitErr := cmd.Wait()
	said := stderr.String()
	if g.mask != nil {
		said = g.mask.Replace(said)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("running git %s: %w", args[0], context.Cause(ctx))
	case cmd.ProcessState.ExitCode() > 0:
		// git's own words explain a reader's complaint about output that was cut short.
		return gitError(args[0], waitErr, said)
	case readErr != nil:
		return fmt.Errorf("reading git %s: %w", args[0], readErr)
	case waitErr != nil:
		return gitError(args[0], waitErr, said)
	}
	return nil
}

// missing finds the object that git could not read in what it says of a failure.
var missing = regexp.MustCompile(`(?i)(?:unable to (?:read|find)|could not (?:read|parse)|cannot read|failed to (?:traverse|unpack)|` +
	`bad (?:tree |commit )?object|bad revision|unknown revision|missing (?:blob|tree|commit|object)|not a valid (?:object|commit)|` +
	`ambiguous argument)[^\n]*?\b([0-9a-f]{64}|[0-9a-f]{40})\b`)

func gitError(command string, err error, stderr string) error {
	stderr = strings.TrimSpace(stderr)
	if m := missing.FindStringSubmatch(stderr); m != nil {
		return fmt.Errorf("running git %s: %w: %s", command, ErrMissingObject, m[1])
	}
	if stderr == "" {
		return fmt.Errorf("running git %s: %w", command, err)
	}
	return fmt.Errorf("running git %s: %w: %s", command, err, stderr)
}

// tail keeps the end of what a child says on standard error.
type tail struct{ buf []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*tailSize {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.buf[max(0, len(t.buf)-tailSize):]) }
