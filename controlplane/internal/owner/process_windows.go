package owner

import "golang.org/x/sys/windows"

// watchProcess gives a function that returns when the process has ended.
func watchProcess(pid int) (wait func(), err error) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return nil, err
	}
	return func() { _, _ = windows.WaitForSingleObject(handle, windows.INFINITE) }, nil
}
