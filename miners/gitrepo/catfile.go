package gitrepo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// object is what `git cat-file --batch` tells of one.
type object struct {
	id   string
	kind string // blob, tree, commit or tag
	data []byte
}

// pool keeps `git cat-file --batch` children. Each serves one caller at a time; there are as many as callers at once, of which
// maxIdle stay.
type pool struct {
	git  git
	mu   sync.Mutex
	idle []*reader
}

const maxIdle = 4

func newPool(g git) *pool { return &pool{git: g} }

// read reads the object of a name: an id, or an id with ^{tree} or the like. The name must not have a newline.
func (p *pool) read(ctx context.Context, name string) (object, error) {
	var found object
	err := p.use(ctx, func(r *reader) error {
		if _, err := io.WriteString(r.in, name+"\n"); err != nil {
			return err
		}
		var err error
		found, err = r.object(name)
		return err
	})
	return found, err
}

// use lends a child to f. A child that died while it was idle is replaced once, without a word.
func (p *pool) use(ctx context.Context, f func(*reader) error) error {
	for {
		r, fresh, err := p.take()
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, r.kill)
		err = f(r)
		if !stop() {
			r.end()
			return fmt.Errorf("reading objects: %w", context.Cause(ctx))
		}
		if err == nil || isMissing(err) {
			p.give(r)
			return err
		}
		words := r.end()
		if fresh {
			return fmt.Errorf("reading objects: %w", gitErrorOr(err, words))
		}
	}
}

func gitErrorOr(err error, stderr string) error {
	if stderr == "" {
		return err
	}
	return gitError("cat-file", err, stderr)
}

func (p *pool) take() (r *reader, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		r, p.idle = p.idle[n-1], p.idle[:n-1]
		return r, false, nil
	}
	r, err = newReader(p.git)
	return r, true, err
}

func (p *pool) give(r *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, r)
		return
	}
	go r.end()
}

func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, r := range idle {
		r.end()
	}
}

// reader is one child.
type reader struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail
	kill   context.CancelFunc
}

// newReader starts a child that outlives the call: its context ends only by kill.
func newReader(g git) (*reader, error) {
	ctx, kill := context.WithCancel(context.Background())
	r := &reader{cmd: g.command(ctx, "cat-file", "--batch"), kill: kill}
	r.cmd.Stderr = &r.stderr
	in, err := r.cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = r.cmd.StdoutPipe(); err == nil {
			r.in, r.out = in, bufio.NewReaderSize(out, 1<<16)
			err = r.cmd.Start()
		}
	}
	if err != nil {
		kill()
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	return r, nil
}

// end stops the child and returns its last words.
func (r *reader) end() string {
	r.in.Close()
	r.kill()
	_ = r.cmd.Wait() // it was killed: its exit code says nothing
	return strings.TrimSpace(r.stderr.String())
}

// object reads the answer to a request for name.
func (r *reader) object(name string) (object, error) {
	line, err := r.out.ReadString('\n')
	if err != nil {
		return object{}, unexpectedEOF(err)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || !objectID.MatchString(fields[0]) {
		return object{}, missingObject(name)
	}
	size, err := strconv.ParseInt(fields[2], 10, 63)
	if err != nil {
		return object{}, fmt.Errorf("reading the size of %s: %w", name, err)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return object{}, unexpectedEOF(err)
	}
	return object{id: fields[0], kind: fields[1], data: data[:size:size]}, nil
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// missingObject is the error of a name that has no object; the child that said so is fine.
type missingObject string

func (e missingObject) Error() string { return ErrMissingObject.Error() + ": " + string(e) }

func (e missingObject) Unwrap() error { return ErrMissingObject }

func isMissing(err error) bool {
	_, ok := err.(missingObject)
	return ok
}
