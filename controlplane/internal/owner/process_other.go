//go:build !linux && !windows

package owner

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

const poll = 200 * time.Millisecond

// watchProcess gives a function that returns when no process has this number any more.
func watchProcess(pid int) (wait func(), err error) {
	alive := func() error {
		if err := unix.Kill(pid, 0); !errors.Is(err, unix.EPERM) {
			return err
		}
		return nil // another user's
	}
	if err := alive(); err != nil {
		return nil, err
	}
	return func() {
		for alive() == nil {
			time.Sleep(poll)
		}
	}, nil
}
