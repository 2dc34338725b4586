// Package pki makes the certificates and keys of a cluster.
//
// Two authorities, as kubeadm has them, stay for the life of the state directory: one for the API server and its clients,
// one for etcd, so that an administrator's certificate opens no way around the API. Everything signed by them is issued
// anew at each start.
package pki

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/keyutil"

	"labkit.example/controlplane/internal/statedir"
)

// Pair is a certificate and its key, as PEM files.
type Pair struct{ Cert, Key string }

// PKI holds the paths of all files.
type PKI struct {
	CA, Server, Admin              Pair
	EtcdCA, EtcdServer, EtcdClient Pair
	ServiceAccountKey              string
}

var (
	serverUse = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	clientUse = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	bothUses  = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
)

// Prepare makes what is missing in the directory and issues all leaf certificates. serviceIP is the address of the
// Service "kubernetes".
func Prepare(dir string, serviceIP net.IP) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	pair := func(name string) Pair {
		return Pair{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	}
	p := &PKI{
		CA: pair("ca"), Server: pair("apiserver"), Admin: pair("admin"),
		EtcdCA: pair("etcd-ca"), EtcdServer: pair("etcd-server"), EtcdClient: pair("etcd-client"),
		ServiceAccountKey: filepath.Join(dir, "service-accounts.key"),
	}
	cluster, err := loadOrMakeAuthority(p.CA, "labkit")
	if err != nil {
		return nil, err
	}
	etcd, err := loadOrMakeAuthority(p.EtcdCA, "labkit-etcd")
	if err != nil {
		return nil, err
	}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	leaves := []struct {
		authority *authority
		pair      Pair
		leaf      leaf
	}{
		{cluster, p.Server, leaf{name: "kube-apiserver", uses: serverUse, ips: append(loopback, serviceIP), hosts: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}}},
		{cluster, p.Admin, leaf{name: "labkit-admin", groups: []string{"system:masters"}, uses: clientUse}},
		// etcd's HTTP gateway dials etcd itself with the server's certificate, so this needs the client's use as well.
		{etcd, p.EtcdServer, leaf{name: "etcd", uses: bothUses, ips: loopback, hosts: []string{"localhost"}}},
		{etcd, p.EtcdClient, leaf{name: "etcd-client", uses: clientUse}},
	}
	for _, l := range leaves {
		if err := l.authority.issue(l.leaf, l.pair); err != nil {
			return nil, fmt.Errorf("certificate of %s: %w", l.leaf.name, err)
		}
	}
	return p, keepOrMakeKey(p.ServiceAccountKey)
}

func keepOrMakeKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pem, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	return statedir.WriteFile(path, pem)
}

// loadKey reads a private key that can sign.
func loadKey(path string) (crypto.Signer, error) {
	key, err := keyutil.PrivateKeyFromFile(path)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s: a %T cannot sign", path, key)
	}
	return signer, nil
}
