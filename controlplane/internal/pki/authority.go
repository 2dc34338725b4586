package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"labkit.example/controlplane/internal/statedir"
)

// A leaf is issued at each start, so this only has to outlast one run. It begins an hour ago, for clocks that are set back.
const (
	leafLife  = 365 * 24 * time.Hour
	clockSlip = time.Hour
)

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

type leaf struct {
	name   string
	groups []string
	uses   []x509.ExtKeyUsage
	hosts  []string
	ips    []net.IP
}

// loadOrMakeAuthority reads the pair, or makes it when one of its files is missing: an interrupted first start leaves one.
func loadOrMakeAuthority(pair Pair, name string) (*authority, error) {
	for _, path := range []string{pair.Cert, pair.Key} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return makeAuthority(pair, name)
		}
	}
	key, err := loadKey(pair.Key)
	if err != nil {
		return nil, err
	}
	certs, err := certutil.CertsFromFile(pair.Cert)
	if err != nil {
		return nil, err
	}
	return &authority{certs[0], key}, nil
}

func makeAuthority(pair Pair, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, write(pair, cert.Raw, key)
}

func (a *authority) issue(l leaf, pair Pair) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: l.name, Organization: l.groups},
		NotBefore:    now.Add(-clockSlip),
		NotAfter:     now.Add(leafLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  l.uses,
		DNSNames:     l.hosts,
		IPAddresses:  l.ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	return write(pair, der, key)
}

// write puts the key first: a certificate without its key is never seen.
func write(pair Pair, cert []byte, key *ecdsa.PrivateKey) error {
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	if err := statedir.WriteFile(pair.Key, keyPEM); err != nil {
		return err
	}
	return statedir.WriteFile(pair.Cert, pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: cert}))
}
