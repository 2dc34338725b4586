// Package announce tells the owner of a control plane that it is ready and how to reach it.
package announce

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"labkit.example/controlplane/internal/statedir"
)

// Announcement is one line of JSON: on standard output for who started the control plane, in a file for who comes later.
type Announcement struct {
	Kubeconfig string   `json:"kubeconfig"`
	Server     string   `json:"server"`
	Etcd       Etcd     `json:"etcd"`
	Versions   Versions `json:"versions"`
	Pid        int      `json:"pid"`
	StateDir   string   `json:"stateDir"`
	ThrowAway  bool     `json:"throwAway"`
	Until      string   `json:"until"`
}

// Etcd is how to read the store: only a client with this certificate is answered.
type Etcd struct {
	URL  string `json:"url"`
	CA   string `json:"ca"`
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// Versions of the parts.
type Versions struct {
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd"`
	Go         string `json:"go"`
}

// Publish writes the line to the file, then to out.
func (a Announcement) Publish(path string, out io.Writer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if err := statedir.WriteFile(path, line); err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}

// Withdraw removes the file, if it is there.
func Withdraw(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
