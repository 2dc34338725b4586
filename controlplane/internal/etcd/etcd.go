// Package etcd runs the store of a control plane: one member, in this process, for clients with a certificate only.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"

	"labkit.example/controlplane/internal/logs"
	"labkit.example/controlplane/internal/pki"
)

// Version of the etcd in this program.
var Version = version.Version

const (
	// One member elects itself, so the times for networks between members only delay the start.
	tickMs, electionMs = 10, 100
	// The write-ahead log is preallocated in two segments of 64 MB, most of it for nothing in a small cluster.
	walSegmentBytes = 8 << 20
	// A free port found by asking for one may be taken by another process before etcd listens on it.
	attempts = 10
)

// Config is what differs from one etcd to another.
type Config struct {
	Dir    string
	Server pki.Pair
	CA     string
	Log    *os.File
	// Sync decides whether a write is on disk before it is answered. Without it a crash of the machine may lose
	// or tear the data.
	Sync bool
}

// Server is a running etcd.
type Server struct {
	URL    string
	member *embed.Etcd
	ready  chan struct{}
	err    chan error
	close  func() // once
}

// Start starts etcd on a free port.
func Start(c Config) (*Server, error) {
	s := &Server{ready: make(chan struct{}), err: make(chan error, 1)}
	for attempt := 1; ; attempt++ {
		err := s.start(c)
		var listening *net.OpError
		if err == nil {
			break
		}
		if attempt == attempts || !errors.As(err, &listening) || listening.Op != "listen" {
			return nil, err
		}
	}
	s.close = sync.OnceFunc(s.member.Close)
	go s.watch()
	return s, nil
}

// start runs StartEtcd in a goroutine of its own, because etcd may end the goroutine in which it gives up.
func (s *Server) start(c Config) error {
	config, err := s.configure(c)
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		var err error
		s.member, err = embed.StartEtcd(config)
		started <- err
	}()
	select {
	case err := <-started:
		return err
	case err := <-s.err:
		return err
	}
}

func (s *Server) configure(c Config) (*embed.Config, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	client := url.URL{Scheme: "https", Host: address}
	s.URL = client.String()

	wal.SegmentSizeBytes = walSegmentBytes // etcd has no other setting for it

	config := embed.NewConfig()
	config.Name = "labkit"
	config.Dir = c.Dir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ClientTLSInfo.CertFile, config.ClientTLSInfo.KeyFile = c.Server.Cert, c.Server.Key
	config.ClientTLSInfo.TrustedCAFile = c.CA
	config.ClientTLSInfo.ClientCertAuth = true
	// No peer listens or is dialled: the address only names the member.
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	config.InitialCluster = fmt.Sprintf("%s=%s", config.Name, config.AdvertisePeerUrls[0].String())
	config.TickMs, config.ElectionMs = tickMs, electionMs
	config.UnsafeNoFsync = !c.Sync
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logs.Zap(c.Log, s.fail))
	return config, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// fail reports the first error; the others follow from it.
func (s *Server) fail(err error) {
	select {
	case s.err <- err:
	default:
	}
}

func (s *Server) watch() {
	select {
	case <-s.member.Server.ReadyNotify():
		close(s.ready)
	case <-s.member.Server.StopNotify():
	}
	for err := range s.member.Err() {
		s.fail(err)
	}
}

// Ready is closed when etcd answers.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Err receives why etcd ended by itself.
func (s *Server) Err() <-chan error { return s.err }

// Stop closes etcd. A member that gave up may never close, hence the limit.
func (s *Server) Stop(ctx context.Context) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.close()
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("still running: %w", ctx.Err())
	}
}
