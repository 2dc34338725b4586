//go:build unix

// Package e2e tests the program as its owners use it: they start it, read its line, talk to what it names, and end it.
package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is the control plane under test.
var program string

// TestMain builds the program as README.md says, or takes the one that LABKIT_CONTROLPLANE names.
func TestMain(m *testing.M) {
	if os.Getenv(beParent) != "" {
		os.Exit(parent(os.Args[1:]))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "controlplane-e2e-")
		if err != nil {
			return fail(err)
		}
		defer os.RemoveAll(dir)
		if err := provide(filepath.Join(dir, "controlplane")); err != nil {
			return fail(err)
		}
		return m.Run()
	}())
}

// provide puts the program where any user can run it: some tests are another user than the one who builds.
func provide(path string) error {
	program = path
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	given := os.Getenv("LABKIT_CONTROLPLANE")
	if given == "" {
		return build(path)
	}
	content, err := os.ReadFile(given)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o755)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func build(path string) error {
	if err := readSources(); err != nil {
		return err
	}
	kubernetes, err := run("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	_, err = run("go", "build", "-C", "..", "-trimpath",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion="+strings.TrimSpace(kubernetes), "-o", path, "./cmd/controlplane")
	return err
}

func run(name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := command.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s: %w\n%s", command, err, exit.Stderr)
	}
	return string(out), err
}

// readSources looks at every source, so that `go test` knows that a cached result hangs on them: it sees what this process
// opens, and not what the compiler does.
func readSources() error {
	return filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".go") || strings.HasPrefix(entry.Name(), "go.")) {
			_, err = os.ReadFile(path)
		}
		return err
	})
}
