package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certutil "k8s.io/client-go/util/cert"

	"labkit.example/controlplane/internal/logs"
	"labkit.example/controlplane/internal/pki"
	"labkit.example/controlplane/internal/privatetest"
)

// store is an etcd of a test and how to reach it.
type store struct {
	*Server
	pki *pki.PKI
}

func start(t *testing.T, dir string) store {
	t.Helper()
	keys, err := pki.Prepare(filepath.Join(dir, "pki"), net.IPv4(10, 0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	log, err := logs.Open(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s, err := Start(Config{Dir: filepath.Join(dir, "etcd"), Server: keys.EtcdServer, CA: keys.EtcdCA.Cert, Log: log, Sync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	select {
	case <-s.Ready():
	case err := <-s.Err():
		t.Fatal(err)
	case <-time.After(10 * time.Second):
		t.Fatal("not ready")
	}
	return store{s, keys}
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Stop(limit); err != nil {
		t.Error(err)
	}
}

// post sends a request of the HTTP gateway; without a pair it shows no certificate.
func (s store) post(t *testing.T, client *pki.Pair, path, body string) (string, error) {
	t.Helper()
	roots, err := certutil.NewPool(s.pki.EtcdCA.Cert)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: roots}
	if client != nil {
		cert, err := tls.LoadX509KeyPair(client.Cert, client.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(content), err
}

const (
	put   = `{"key": "a2V5", "value": "dmFsdWU="}` // key, value
	get   = `{"key": "a2V5"}`
	value = `"value":"dmFsdWU="`
)

func TestAnswersOnlyToItsClientCertificate(t *testing.T) {
	s := start(t, t.TempDir())
	if _, err := s.post(t, &s.pki.EtcdClient, "/v3/kv/put", put); err != nil {
		t.Error(err)
	}
	if got, err := s.post(t, &s.pki.EtcdClient, "/v3/kv/range", get); err != nil || !strings.Contains(got, value) {
		t.Errorf("%s, %v", got, err)
	}
	for name, client := range map[string]*pki.Pair{"no certificate": nil, "the administrator's": &s.pki.Admin} {
		for _, path := range []string{"/v3/kv/range", "/version", "/metrics", "/health"} {
			if got, err := s.post(t, client, path, get); err == nil {
				t.Errorf("%s with %s: %s", path, name, got)
			}
		}
	}
	if _, err := http.Post("http://"+strings.TrimPrefix(s.URL, "https://")+"/v3/kv/range", "application/json", strings.NewReader(get)); err == nil {
		t.Error("plain HTTP is answered")
	}
}

func TestKeepsItsDataOverAStop(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	if _, err := s.post(t, &s.pki.EtcdClient, "/v3/kv/put", put); err != nil {
		t.Fatal(err)
	}
	stop(t, s.Server)
	s = start(t, dir)
	if got, err := s.post(t, &s.pki.EtcdClient, "/v3/kv/range", get); err != nil || !strings.Contains(got, value) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAStopIsNoFailure(t *testing.T) {
	s := start(t, t.TempDir())
	stop(t, s.Server)
	select {
	case err := <-s.Err():
		t.Errorf("got %v", err)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestFilesAreForThisUserOnly(t *testing.T) {
	dir := t.TempDir()
	start(t, dir)
	privatetest.Check(t, filepath.Join(dir, "etcd"))
}

func TestADirectoryThatIsAFileIsAnErrorAndNoExit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "etcd"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := pki.Prepare(filepath.Join(dir, "pki"), net.IPv4(10, 0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	log, err := logs.Open(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := Start(Config{Dir: filepath.Join(dir, "etcd"), Server: keys.EtcdServer, CA: keys.EtcdCA.Cert, Log: log}); err == nil {
		t.Error("no error")
	}
}
