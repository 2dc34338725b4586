//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Generous against a busy machine; the budget is measured by the benchmark and not here.
const (
	startLimit = 60 * time.Second
	stopLimit  = 3 * time.Second
)

// announcement is the line that the program prints.
type announcement struct {
	Kubeconfig string
	Server     string
	Etcd       struct{ URL, CA, Cert, Key string }
	Versions   struct{ Kubernetes, Etcd, Go string }
	Pid        int
	StateDir   string
	ThrowAway  bool
	Until      string
}

// process is a started control plane.
type process struct {
	announcement
	line   string // as printed
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	exited chan struct{}
	// cwd and tmp are where it might leave files and must not.
	cwd, tmp string
}

// begin runs the program and does not wait for it to be ready.
func begin(t *testing.T, user *syscall.Credential, args ...string) (*process, io.Reader) {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), exited: make(chan struct{}), cwd: tempDir(t, user), tmp: tempDir(t, user)}
	p.cmd.Dir = p.cwd
	p.cmd.Env = append(os.Environ(), "TMPDIR="+p.tmp, "HOME="+p.cwd)
	p.cmd.Stderr = &p.stderr
	if user != nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		stdout.Close()
	})
	return p, stdout
}

// start runs `serve` and returns when it has said that it is ready.
func start(t *testing.T, user *syscall.Credential, args ...string) *process {
	t.Helper()
	p, stdout := begin(t, user, append([]string{"serve"}, args...)...)
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		lines <- line
	}()
	select {
	case p.line = <-lines:
	case <-time.After(startLimit):
		t.Fatal("not ready")
	}
	if err := json.Unmarshal([]byte(p.line), &p.announcement); err != nil {
		<-p.exited
		t.Fatalf("%q: %v; stderr: %s", p.line, err, p.stderr.String())
	}
	return p
}

// ends waits for an orderly end: in time, with exit code 0, without a word, and without a file where none belongs.
func (p *process) ends(t *testing.T) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(stopLimit):
		t.Fatalf("still there after %v", stopLimit)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 || p.stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, p.stderr.String())
	}
	for _, dir := range []string{p.cwd, p.tmp} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("left in %s: %v, %v", dir, entries, err)
		}
	}
}

// fails runs the program and expects exit code 1 and one line that begins with the state.
func fails(t *testing.T, user *syscall.Credential, state string, args ...string) {
	t.Helper()
	p, _ := begin(t, user, args...)
	select {
	case <-p.exited:
	case <-time.After(startLimit):
		t.Fatal("it runs")
	}
	message := p.stderr.String()
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || strings.Count(message, "\n") != 1 ||
		!strings.HasPrefix(message, "controlplane: "+state+": ") || !strings.Contains(message, "; ") {
		t.Errorf("exit code %d, stderr %q, want one line of %q", code, message, state)
	}
}

// tempDir is a directory of that user's own.
func tempDir(t *testing.T, user *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if user != nil {
		if err := os.Chown(dir, int(user.Uid), int(user.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, limit time.Duration, what string, ask func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = ask(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within %v: %v", what, limit, err)
}

// gone is nil when no process has this number.
func gone(pid int) error {
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("process %d: %v", pid, err)
	}
	return nil
}
