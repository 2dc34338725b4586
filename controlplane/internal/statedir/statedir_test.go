package statedir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	durable   = Marker{Kubernetes: "v1.37.2", Etcd: "3.7.0"}
	throwAway = Marker{Kubernetes: "v1.37.2", Etcd: "3.7.0", ThrowAway: true}
)

func open(t *testing.T, path string, marker Marker) *Dir {
	t.Helper()
	d, err := Open(path, marker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func refused(t *testing.T, path string, marker Marker, state string) {
	t.Helper()
	d, err := Open(path, marker)
	if err == nil {
		d.Close()
		t.Fatalf("opened, want %q", state)
	}
	if !strings.HasPrefix(err.Error(), state+": ") {
		t.Errorf("got %q, want %q", err, state)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestANewDirectoryIsForThisUserOnly(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "a", "b"), durable)
	for path, mode := range map[string]os.FileMode{d.Path(): 0o700, d.File("lock"): 0o600, d.File("version.json"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestAnEmptyDirectoryOfOthersIsClosedToThem(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, path, durable)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestWaitsForOneThatIsEnding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	d := open(t, path, durable)
	ended := make(chan error)
	time.AfterFunc(100*time.Millisecond, func() { ended <- d.lock.Close() })
	open(t, path, durable)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	d := open(t, path, durable)
	write(t, d.File("cluster.json"), `{"pid": 4711}`)
	refused(t, path, durable, "state directory in use")
	refused(t, path, throwAway, "state directory in use")
	if !exists(d.File("version.json")) || !exists(d.File("cluster.json")) {
		t.Error("the refused one took files away")
	}
	if _, err := Open(path, durable); !strings.Contains(err.Error(), "pid 4711") {
		t.Errorf("%v does not name the holder", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, durable)
	if exists(again.File("cluster.json")) {
		t.Error("the announcement of the one before is still there")
	}
}

func TestAnotherVersionIsRefusedAndUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	open(t, path, durable).Close()
	for _, other := range []Marker{{Kubernetes: "v1.38.0", Etcd: "3.7.0"}, {Kubernetes: "v1.37.2", Etcd: "3.8.0"}} {
		refused(t, path, other, "state directory of another version")
	}
	write(t, filepath.Join(path, "version.json"), "{")
	refused(t, path, durable, "state directory of an unknown version")
}

func TestWhatWasMadeToBeThrownAwayIsNotUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	open(t, path, throwAway).Close()
	refused(t, path, durable, "state directory of a cluster to throw away")
	refused(t, path, throwAway, "state directory not empty")
}

func TestADirectoryOfSomebodyElseIsRefusedAndUntouched(t *testing.T) {
	path := t.TempDir()
	write(t, filepath.Join(path, "letter.txt"), "dear")
	refused(t, path, durable, "not a state directory")
	refused(t, path, throwAway, "not a state directory")
	if entries, _ := os.ReadDir(path); len(entries) != 1 {
		t.Errorf("now there are %v", entries)
	}
}

func TestAPathThatCannotBeADirectoryIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	refused(t, file, durable, "state directory cannot be used")
	refused(t, filepath.Join(file, "s"), durable, "state directory cannot be used")
	if !exists(file) {
		t.Error("the file is gone")
	}
}

func TestUndoTakesBackWhatWasMade(t *testing.T) {
	root := t.TempDir()
	d := open(t, filepath.Join(root, "a", "b"), durable)
	write(t, d.File("x"), "")
	if err := d.Undo(); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(root, "a")) {
		t.Error("a is still there")
	}

	empty := t.TempDir()
	if err := open(t, empty, durable).Undo(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(empty); err != nil || len(entries) != 0 {
		t.Errorf("a directory that was there and empty: %v, %v", entries, err)
	}

	used := filepath.Join(root, "used")
	open(t, used, durable).Close()
	if err := open(t, used, durable).Undo(); err != nil {
		t.Fatal(err)
	}
	if !exists(filepath.Join(used, "version.json")) {
		t.Error("a used directory lost its marker")
	}
}

func TestRemoveTakesAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	d := open(t, path, throwAway)
	if err := os.MkdirAll(d.File("etcd", "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if exists(path) {
		t.Error("still there")
	}
}

func TestWriteFileReplacesAsAWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "d", "x"), "")
	if err := WriteFile(filepath.Join(dir, "d"), nil); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("something is left: %v, %v", entries, err)
	}
}
