// Package owner knows for whom a control plane runs, and sees when that owner is gone.
package owner

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Owner is the value of --until.
type Owner struct {
	kind string
	pid  int
}

// Parse reads "stdin", "pid:N" or "signal".
func Parse(value string) (Owner, error) {
	kind, number, hasNumber := strings.Cut(value, ":")
	switch {
	case value == "stdin" || value == "signal":
		return Owner{kind: kind}, nil
	case kind == "pid" && hasNumber:
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 {
			return Owner{kind, pid}, nil
		}
	}
	return Owner{}, fmt.Errorf("%q is none of stdin, pid:N, signal", value)
}

func (o Owner) String() string {
	if o.kind == "pid" {
		return fmt.Sprintf("pid:%d", o.pid)
	}
	return o.kind
}

// Gone gives a channel that is closed when the owner is gone: its end of stdin closed, or its process ended.
// It never is for an owner that sends a signal.
func (o Owner) Gone(stdin io.Reader) (<-chan struct{}, error) {
	gone := make(chan struct{})
	switch o.kind {
	case "stdin":
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, stdin) // an unreadable stdin is as gone as a closed one
		}()
	case "pid":
		wait, err := watchProcess(o.pid)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", o.pid, err)
		}
		go func() {
			defer close(gone)
			wait()
		}()
	}
	return gone, nil
}
