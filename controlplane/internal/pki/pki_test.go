package pki

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	certutil "k8s.io/client-go/util/cert"

	"labkit.example/controlplane/internal/privatetest"
)

var serviceIP = net.IPv4(10, 0, 0, 1)

func prepare(t *testing.T, dir string) *PKI {
	t.Helper()
	p, err := Prepare(dir, serviceIP)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func cert(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	certs, err := certutil.CertsFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return certs[0]
}

func verify(t *testing.T, ca, leaf string, use x509.ExtKeyUsage, name string) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(cert(t, ca))
	_, err := cert(t, leaf).Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{use}, DNSName: name})
	return err
}

func TestLeavesVerifyForWhatTheyAreFor(t *testing.T) {
	p := prepare(t, t.TempDir())
	for _, c := range []struct {
		ca, leaf string
		use      x509.ExtKeyUsage
		name     string
		ok       bool
	}{
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageServerAuth, "127.0.0.1", true},
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageServerAuth, "10.0.0.1", true},
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageServerAuth, "localhost", true},
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageServerAuth, "kubernetes.default.svc", true},
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageServerAuth, "example.org", false},
		{p.CA.Cert, p.Server.Cert, x509.ExtKeyUsageClientAuth, "", false},
		{p.CA.Cert, p.Admin.Cert, x509.ExtKeyUsageClientAuth, "", true},
		{p.CA.Cert, p.Admin.Cert, x509.ExtKeyUsageServerAuth, "", false},
		{p.EtcdCA.Cert, p.EtcdServer.Cert, x509.ExtKeyUsageServerAuth, "127.0.0.1", true},
		{p.EtcdCA.Cert, p.EtcdServer.Cert, x509.ExtKeyUsageClientAuth, "", true},
		{p.EtcdCA.Cert, p.EtcdClient.Cert, x509.ExtKeyUsageClientAuth, "", true},
		{p.EtcdCA.Cert, p.Admin.Cert, x509.ExtKeyUsageClientAuth, "", false},
		{p.CA.Cert, p.EtcdClient.Cert, x509.ExtKeyUsageClientAuth, "", false},
	} {
		if err := verify(t, c.ca, c.leaf, c.use, c.name); (err == nil) != c.ok {
			t.Errorf("%s by %s for use %d, name %q: %v", filepath.Base(c.leaf), filepath.Base(c.ca), c.use, c.name, err)
		}
	}
	if groups := cert(t, p.Admin.Cert).Subject.Organization; !slices.Equal(groups, []string{"system:masters"}) {
		t.Errorf("the administrator is in %v", groups)
	}
}

func TestAuthoritiesAndTheAccountKeyStayAndLeavesAreNew(t *testing.T) {
	dir := t.TempDir()
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	p := prepare(t, dir)
	stay := []string{p.CA.Cert, p.CA.Key, p.EtcdCA.Cert, p.EtcdCA.Key, p.ServiceAccountKey}
	change := []string{p.Server.Cert, p.Server.Key, p.Admin.Cert, p.Admin.Key, p.EtcdServer.Cert, p.EtcdClient.Key}
	before := map[string]string{}
	for _, path := range append(stay, change...) {
		before[path] = read(path)
	}
	prepare(t, dir)
	for _, path := range stay {
		if read(path) != before[path] {
			t.Errorf("%s changed", filepath.Base(path))
		}
	}
	for _, path := range change {
		if read(path) == before[path] {
			t.Errorf("%s did not change", filepath.Base(path))
		}
	}
}

func TestHalfAnAuthorityIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	p := prepare(t, dir)
	if err := os.Remove(p.CA.Cert); err != nil {
		t.Fatal(err)
	}
	p = prepare(t, dir)
	if err := verify(t, p.CA.Cert, p.Admin.Cert, x509.ExtKeyUsageClientAuth, ""); err != nil {
		t.Error(err)
	}
}

func TestADamagedAuthorityIsNotReplacedSilently(t *testing.T) {
	dir := t.TempDir()
	p := prepare(t, dir)
	for _, path := range []string{p.CA.Key, p.EtcdCA.Cert} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("no PEM"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare(dir, serviceIP); err == nil {
			t.Errorf("%s: no error", filepath.Base(path))
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesAreForThisUserOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	prepare(t, dir)
	privatetest.Check(t, dir)
}
