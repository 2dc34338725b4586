package announce

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestPublishWritesTheSameLineToBoth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.json")
	a := Announcement{
		Kubeconfig: "/s/kubeconfig", Server: "https://127.0.0.1:1",
		Etcd:     Etcd{URL: "https://127.0.0.1:2", CA: "/ca", Cert: "/cert", Key: "/key"},
		Versions: Versions{Kubernetes: "v1.2.3", Etcd: "3.2.1", Go: "go1"},
		Pid:      7, StateDir: "/s", ThrowAway: true, Until: "stdin",
	}
	var out bytes.Buffer
	if err := a.Publish(path, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"kubeconfig":"/s/kubeconfig","server":"https://127.0.0.1:1",` +
		`"etcd":{"url":"https://127.0.0.1:2","ca":"/ca","cert":"/cert","key":"/key"},` +
		`"versions":{"kubernetes":"v1.2.3","etcd":"3.2.1","go":"go1"},"pid":7,"stateDir":"/s","throwAway":true,"until":"stdin"}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != want {
		t.Errorf("file: %s, %v", content, err)
	}
}

func TestWithdrawDoesNotMindAFileThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.json")
	for range 2 {
		if err := Withdraw(path); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
