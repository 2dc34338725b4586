//go:build unix

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"labkit.example/controlplane/internal/privatetest"
)

// nobody is a user without rights, when the test may become one.
func nobody() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534}
}

func TestAClusterToThrowAway(t *testing.T) {
	t.Parallel()
	user := nobody()
	dir := filepath.Join(tempDir(t, user), "new", "state")
	p := start(t, user, "--state-dir", dir, "--throw-away")
	a := p.api(t)

	t.Run("says the same on standard output and in its file", func(t *testing.T) {
		file, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
		if err != nil || string(file) != p.line {
			t.Errorf("file %q, line %q, %v", file, p.line, err)
		}
		if p.Pid != p.cmd.Process.Pid || p.StateDir != dir || !p.ThrowAway || p.Until != "stdin" || p.Server != a.url {
			t.Errorf("%+v", p.announcement)
		}
	})
	t.Run("is of the version it says", func(t *testing.T) {
		version, err := a.get("/version")
		if err != nil || version["gitVersion"] != p.Versions.Kubernetes || !strings.HasPrefix(p.Versions.Kubernetes, "v1.") {
			t.Errorf("%v, %v; said %v", version, err, p.Versions)
		}
	})
	t.Run("lets no stranger in", func(t *testing.T) {
		response, err := p.stranger(t, filepath.Join(dir, "pki", "ca.crt")).Get(p.Server + "/api/v1/namespaces")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("the API server says %s", response.Status)
		}
		for _, path := range []string{"/v3/kv/range", "/version", "/metrics"} {
			if response, err := p.stranger(t, p.Etcd.CA).Post(p.Etcd.URL+path, "application/json", strings.NewReader("{}")); err == nil {
				response.Body.Close()
				t.Errorf("etcd answers %s with %s", path, response.Status)
			}
		}
	})
	t.Run("keeps its files to itself", func(t *testing.T) { privatetest.Check(t, dir) })
	t.Run("is not shared", func(t *testing.T) {
		fails(t, user, "state directory in use", "serve", "--state-dir", dir)
	})
	t.Run("runs the controllers", func(t *testing.T) { runsControllers(t, p, a) })

	watch, err := a.client.Get(a.url + "/api/v1/namespaces?watch=true") // held open over the stop
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	p.stdin.Close()
	p.ends(t)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the state directory: %v", err)
	}
}

func TestAClusterToKeep(t *testing.T) {
	t.Parallel()
	user := nobody()
	dir := filepath.Join(tempDir(t, user), "state")
	config := object{"metadata": object{"name": "kept"}, "data": object{"a": "1"}}

	p := start(t, user, "--state-dir", dir, "--until", "signal")
	p.stdin.Close() // nobody's: the owner signals
	p.api(t).create(t, "/api/v1/namespaces/default/configmaps", config)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if _, err := os.Stat(filepath.Join(dir, "cluster.json")); err != nil {
		t.Errorf("not killed in the middle: %v", err)
	}

	p = start(t, user, "--state-dir", dir)
	if kept, err := p.api(t).get("/api/v1/namespaces/default/configmaps/kept"); err != nil || at(kept, "data", "a") != "1" {
		t.Errorf("after a kill: %v, %v", kept, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(t)
	if _, err := os.Stat(filepath.Join(dir, "cluster.json")); !os.IsNotExist(err) {
		t.Errorf("the announcement after the end: %v", err)
	}
	privatetest.Check(t, dir)

	fails(t, user, "state directory not empty", "serve", "--state-dir", dir, "--throw-away")
	marker := filepath.Join(dir, "version.json")
	if err := os.WriteFile(marker, []byte(`{"kubernetes": "v1.30.0", "etcd": "3.5.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, user, "state directory of another version", "serve", "--state-dir", dir)
}

func TestEndsWithTheProcessItWaitsFor(t *testing.T) {
	t.Parallel()
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	dir := tempDir(t, nil)
	p := start(t, nil, "--state-dir", dir, "--throw-away", "--until", "pid:"+strconv.Itoa(other.Process.Pid))
	p.stdin.Close()
	if _, err := p.api(t).get("/api/v1/namespaces/default"); err != nil {
		t.Error(err)
	}
	_ = other.Process.Kill()
	p.ends(t)
	_ = other.Wait()
	fails(t, nil, "no owner to wait for", "serve", "--state-dir", dir, "--until", "pid:"+strconv.Itoa(other.Process.Pid))
}

const beParent = "CONTROLPLANE_E2E_PARENT"

// parent is what a killed parent runs: it starts the program and waits for it.
func parent(args []string) int {
	command := exec.Command(args[0], args[1:]...)
	if _, err := command.StdinPipe(); err != nil {
		return 1
	}
	if err := command.Start(); err != nil {
		return 1
	}
	fmt.Println(command.Process.Pid)
	_ = command.Wait()
	return 0
}

func TestAKilledParentLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t, nil), "state")
	command := exec.Command(os.Args[0], program, "serve", "--state-dir", dir, "--throw-away")
	command.Env = append(os.Environ(), beParent+"=1")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, startLimit, "ready", func() error {
		_, err := os.Stat(filepath.Join(dir, "cluster.json"))
		return err
	})
	_ = command.Process.Kill()
	_ = command.Wait()
	eventually(t, stopLimit, "the state directory is gone", func() error {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			return fmt.Errorf("%s: %v", dir, err)
		}
		return nil
	})
	eventually(t, stopLimit, "the process is gone", func() error { return goneOrZombie(pid) })
}

// goneOrZombie is for a process whose parent was killed: who collects it then may never do so.
func goneOrZombie(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && strings.Contains(string(stat), ") Z ") {
		return nil
	}
	return gone(pid)
}

func TestAPortThatIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	dir := filepath.Join(tempDir(t, nil), "new", "state")
	fails(t, nil, "port taken", "serve", "--state-dir", dir, "--port", port)
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("something is left: %v", err)
	}
}

func TestADirectoryThatIsNotWritable(t *testing.T) {
	dir := tempDir(t, nobody())
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	fails(t, nobody(), "state directory cannot be used", "serve", "--state-dir", dir)
	fails(t, nobody(), "state directory cannot be used", "serve", "--state-dir", filepath.Join(dir, "new"))
}

func TestWrongUsageIsExitCode2(t *testing.T) {
	for _, args := range [][]string{
		{}, {"serv"}, {"serve"}, {"serve", "--state-dir", "d", "more"}, {"serve", "--state-dir", "d", "--until", "noon"},
		{"serve", "--state-dir", "d", "--port", "70000"}, {"serve", "--statedir", "d"},
	} {
		p, _ := begin(t, nil, args...)
		<-p.exited
		if code := p.cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(p.stderr.String(), "usage: controlplane serve") {
			t.Errorf("%q: exit code %d, %s", args, code, p.stderr.String())
		}
	}
}

func TestVersionNamesAllThree(t *testing.T) {
	out, err := run(program, "version")
	if err != nil || !strings.HasPrefix(out, "Kubernetes v1.") || !strings.Contains(out, ", etcd 3.") || !strings.Contains(out, ", go1.") {
		t.Errorf("%q, %v", out, err)
	}
}
