package owner

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for an owner: it ends when its standard input closes.
func TestMain(m *testing.M) {
	if os.Getenv("BE_AN_OWNER") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	for _, value := range []string{"stdin", "signal", "pid:1", "pid:4711"} {
		if o, err := Parse(value); err != nil || o.String() != value {
			t.Errorf("%s: got %v, %v", value, o, err)
		}
	}
}

func TestParseRefusesEverythingElse(t *testing.T) {
	for _, value := range []string{"", "pid", "pid:", "pid:0", "pid:-1", "pid:x", "stdin:1", "forever"} {
		if o, err := Parse(value); err == nil || !strings.Contains(err.Error(), "pid:N") {
			t.Errorf("%q: got %v, %v", value, o, err)
		}
	}
}

func TestGoneWhenStandardInputCloses(t *testing.T) {
	r, w := io.Pipe()
	gone := watch(t, "stdin", r)
	stays(t, gone)
	w.Close()
	goes(t, gone)
}

func TestAnOwnerWhoSignalsIsNeverGone(t *testing.T) {
	stays(t, watch(t, "signal", strings.NewReader("")))
}

func TestGoneWhenTheProcessEndsEvenIfNobodyCollectsIt(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "BE_AN_OWNER=1")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	gone := watch(t, Owner{"pid", child.Process.Pid}.String(), nil)
	stays(t, gone)
	stdin.Close()
	goes(t, gone) // not waited for: on Linux it is a zombie now
	_ = child.Wait()
}

func TestAProcessThatDoesNotExistIsNoOwner(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := (Owner{"pid", child.Process.Pid}).Gone(nil); err == nil {
		t.Error("no error")
	}
}

func watch(t *testing.T, value string, stdin io.Reader) <-chan struct{} {
	t.Helper()
	o, err := Parse(value)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := o.Gone(stdin)
	if err != nil {
		t.Fatal(err)
	}
	return gone
}

func stays(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	select {
	case <-gone:
		t.Fatal("gone too early")
	case <-time.After(20 * time.Millisecond):
	}
}

func goes(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Fatal("not noticed")
	}
}
