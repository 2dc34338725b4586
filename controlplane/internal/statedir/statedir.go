// Package statedir is the directory in which a control plane keeps everything it writes.
//
// One control plane at a time uses a directory (a lock), only one version of it (a marker), and only this user reads it.
// A directory that is thrown away must have been new or empty, so that removing it takes nothing of anybody else's.
package statedir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"labkit.example/controlplane/internal/fault"
)

const (
	lockPoll  = 20 * time.Millisecond
	lockLimit = 2 * time.Second
)

// Marker tells which control plane wrote a directory.
type Marker struct {
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd"`
	// ThrowAway marks a directory whose data was never synced: after a crash it may be torn.
	ThrowAway bool `json:"throwAway"`
}

// Dir is an open, locked state directory.
type Dir struct {
	path string
	lock *os.File
	// created is the topmost directory that Open made, "" if the directory was there.
	created string
	// fresh means that nothing was in it.
	fresh bool
}

// Open makes the directory if needed, locks it and marks it. An error leaves nothing behind that Open made.
func Open(path string, marker Marker) (_ *Dir, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fault.New("no state directory", err, "name another with --state-dir")
	}
	d := &Dir{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Undo())
		}
	}()
	if err := d.make(); err != nil {
		return nil, unusable(err)
	}
	if err := d.take(); err != nil {
		return nil, err
	}
	if err := d.mark(marker); err != nil {
		return nil, err
	}
	// Left by a control plane that was killed: nobody answers there any more.
	if err := os.Remove(d.File("cluster.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unusable(err)
	}
	return d, nil
}

// File is the path of a file in the directory.
func (d *Dir) File(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

// Path is the absolute path of the directory.
func (d *Dir) Path() string { return d.path }

// Close gives the directory back.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	defer func() { d.lock = nil }()
	return d.lock.Close()
}

// Remove removes the directory and all in it.
func (d *Dir) Remove() error {
	// The lock goes last: until then nobody else can begin in here.
	if err := d.empty("lock"); err != nil {
		return err
	}
	return errors.Join(d.Close(), os.RemoveAll(d.path))
}

// Undo removes what was written to a directory that was new or empty, and closes it. It is for a start that failed before
// anything ran.
func (d *Dir) Undo() error {
	if !d.fresh {
		return d.Close()
	}
	err := d.empty("lock")
	err = errors.Join(err, d.Close(), d.empty())
	if d.created != "" {
		err = errors.Join(err, os.RemoveAll(d.created))
	}
	return err
}

func (d *Dir) empty(except ...string) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, entry := range entries {
		if len(except) > 0 && entry.Name() == except[0] {
			continue
		}
		err = errors.Join(err, os.RemoveAll(d.File(entry.Name())))
	}
	return err
}

func (d *Dir) make() error {
	for missing := d.path; ; missing = filepath.Dir(missing) {
		if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		d.created = missing
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		d.fresh = d.created != ""
		return err
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	d.fresh = len(entries) == 0
	return nil
}

// take locks the directory. It writes nothing into a directory that is not a state directory.
func (d *Dir) take() error {
	if !d.fresh {
		if _, err := os.Stat(d.File("version.json")); err != nil {
			return fault.New("not a state directory", fmt.Errorf("%s is not empty and has no version.json", d.path),
				"name an empty or a new directory with --state-dir")
		}
	}
	file, err := os.OpenFile(d.File("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return unusable(err)
	}
	if err := waitForLock(file); err != nil {
		file.Close()
		d.fresh = false // another one's
		if !errors.Is(err, errLocked) {
			return fault.New("state directory cannot be locked", fmt.Errorf("%s: %w", file.Name(), err),
				"name a directory on a local disk with --state-dir")
		}
		return fault.New("state directory in use", fmt.Errorf("%s is locked by %s", file.Name(), d.holder()),
			"stop that one, or name another directory with --state-dir")
	}
	d.lock = file
	return os.Chmod(d.path, 0o700)
}

// waitForLock gives a control plane that was just killed the time to be gone: its process is seen as dead before the
// kernel has closed the last of its files.
func waitForLock(file *os.File) error {
	err := errLocked
	_ = wait.PollUntilContextTimeout(context.Background(), lockPoll, lockLimit, true, func(context.Context) (bool, error) {
		err = tryLock(file)
		return !errors.Is(err, errLocked), nil
	})
	return err
}

func (d *Dir) holder() string {
	var running struct{ Pid int }
	content, err := os.ReadFile(d.File("cluster.json"))
	if err != nil || json.Unmarshal(content, &running) != nil || running.Pid == 0 {
		return "another control plane that is starting or stopping"
	}
	return fmt.Sprintf("the control plane with pid %d", running.Pid)
}

func (d *Dir) mark(want Marker) error {
	path := d.File("version.json")
	if d.fresh {
		content, err := json.Marshal(want)
		if err != nil {
			return err
		}
		if err := WriteFile(path, append(content, '\n')); err != nil {
			return unusable(err)
		}
		return nil
	}
	if want.ThrowAway {
		return fault.New("state directory not empty", fmt.Errorf("%s was used before", d.path),
			"name an empty or a new directory with --state-dir, or leave --throw-away out")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return unusable(err)
	}
	var found Marker
	if err := json.Unmarshal(content, &found); err != nil {
		return fault.New("state directory of an unknown version", fmt.Errorf("%s: %w", path, err),
			"name another directory with --state-dir")
	}
	if found.Kubernetes != want.Kubernetes || found.Etcd != want.Etcd {
		return fault.New("state directory of another version",
			fmt.Errorf("%s says Kubernetes %s with etcd %s, this is %s with %s", path, found.Kubernetes, found.Etcd, want.Kubernetes, want.Etcd),
			"name another directory with --state-dir, or use the control plane of that version")
	}
	if found.ThrowAway {
		return fault.New("state directory of a cluster to throw away",
			fmt.Errorf("%s says throwAway: its data was never synced to disk", path),
			"remove the directory, or name another with --state-dir")
	}
	return nil
}

// Describe says what an error met while using a state directory means: a full disk is that wherever it shows.
func Describe(err error, state, nextAct string) error {
	if errors.Is(err, errDiskFull) {
		return fault.New("disk full", err, "free some space, or name a directory on another disk with --state-dir")
	}
	return fault.New(state, err, nextAct)
}

func unusable(err error) error {
	return Describe(err, "state directory cannot be used", "name a directory that you can write to with --state-dir")
}
