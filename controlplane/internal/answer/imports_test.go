package answer

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A browser runs these packages too: there is no etcd, no server, no signal there.
func TestNothingOfAServerIsImported(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	unwanted := regexp.MustCompile(`^(go\.etcd\.io/.*|os/signal|k8s\.io/kubernetes/.*|k8s\.io/apiserver/pkg/server|k8s\.io/apiextensions-apiserver/pkg/(apiserver|registry/.*))$`)
	packages := strings.Fields(string(out))
	for _, name := range packages {
		if unwanted.MatchString(name) {
			t.Errorf("%s is imported", name)
		}
	}
	if len(packages) < 100 {
		t.Errorf("only %d packages are listed", len(packages))
	}
}
