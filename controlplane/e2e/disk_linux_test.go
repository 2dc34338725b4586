package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a file system of so many bytes.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := tempDir(t, nil)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(bytes)); err != nil {
		t.Skipf("no small disk to fill: mounting one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestADiskThatIsFullAtTheStartIsLeftAsItWas(t *testing.T) {
	for _, bytes := range []int{32 << 10, 4 << 20} { // no room for the certificates; none for etcd
		disk := smallDisk(t, bytes)
		fails(t, nil, "disk full", "serve", "--state-dir", filepath.Join(disk, "new", "state"))
		if entries, err := os.ReadDir(disk); err != nil || len(entries) > 0 {
			t.Errorf("with %d bytes: left %v, %v", bytes, entries, err)
		}
	}
}

func TestADiskThatFillsUpEndsTheClusterWithOneLine(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 24<<20)
	p := start(t, nil, "--state-dir", filepath.Join(disk, "state"))
	a := p.api(t)
	filler, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for zeros := make([]byte, 1<<16); err == nil; {
		_, err = filler.Write(zeros)
	}
	filler.Close()
	big := strings.Repeat("x", 500_000)
	for i := 0; i < 100; i++ {
		if _, err := a.do(http.MethodPost, "/api/v1/namespaces/default/configmaps", "application/json",
			object{"metadata": object{"name": "big" + strconv.Itoa(i)}, "data": object{"x": big}}); err != nil {
			break
		}
	}
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		t.Fatal("it runs")
	}
	message := p.stderr.String()
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || strings.Count(message, "\n") != 1 || !strings.HasPrefix(message, "controlplane: disk full: ") {
		t.Errorf("exit code %d, %s", code, message)
	}
}
