//go:build !windows

package statedir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked")

const errDiskFull = unix.ENOSPC

// tryLock holds the lock until the file is closed or the process is gone. It is flock(2), which fcntl.flock of Python
// and flock(1) see too.
func tryLock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
