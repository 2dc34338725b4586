package owner

import (
	"errors"

	"golang.org/x/sys/unix"
)

// watchProcess gives a function that returns when the process has ended. A process descriptor means this very process, even
// when its number is used again, and tells of the end also where nobody collects the dead.
func watchProcess(pid int) (wait func(), err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	return func() {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}, nil
}
