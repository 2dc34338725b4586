package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"k8s.io/klog/v2"

	"labkit.example/controlplane/internal/announce"
	"labkit.example/controlplane/internal/apiserver"
	"labkit.example/controlplane/internal/component"
	"labkit.example/controlplane/internal/controllers"
	"labkit.example/controlplane/internal/etcd"
	"labkit.example/controlplane/internal/fault"
	"labkit.example/controlplane/internal/logs"
	"labkit.example/controlplane/internal/pki"
	"labkit.example/controlplane/internal/statedir"
)

// serve runs a control plane until ctx ends or its owner is gone.
func serve(ctx context.Context, s settings, stdin io.Reader, stdout io.Writer) error {
	versions, err := announce.Built()
	if err != nil {
		return err
	}
	gone, err := s.until.Gone(stdin)
	if err != nil {
		return fault.New("no owner to wait for", err, "name a running process with --until")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-gone
		cancel()
	}()

	dir, err := statedir.Open(s.stateDir, statedir.Marker{Kubernetes: versions.Kubernetes, Etcd: versions.Etcd, ThrowAway: s.throwAway})
	if err != nil {
		return err
	}
	p, err := prepare(dir, s)
	if err != nil {
		return errors.Join(err, dir.Undo())
	}
	defer p.close()
	if err := p.run(ctx, versions, stdout); err != nil {
		return errors.Join(fault.New("control plane stopped", err, "read "+dir.File("controlplane.log")), dir.Close())
	}
	if s.throwAway {
		return dir.Remove()
	}
	return dir.Close()
}

// plane is a control plane that is ready to be started: nothing of it runs yet.
type plane struct {
	settings
	dir      *statedir.Dir
	log      *os.File
	pki      *pki.PKI
	listener net.Listener
}

func prepare(dir *statedir.Dir, s settings) (_ *plane, err error) {
	p := &plane{settings: s, dir: dir}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))); err != nil {
		return nil, fault.New("port taken", err, "name a free one with --port, or leave it out")
	}
	if p.log, err = logs.Open(dir.File("controlplane.log")); err != nil {
		return nil, fault.New("no log file", err, "name another directory with --state-dir")
	}
	if p.pki, err = pki.Prepare(dir.File("pki"), apiserver.ServiceIP); err != nil {
		return nil, fault.New("no certificates", err, "remove "+dir.File("pki")+" if its files are damaged")
	}
	return p, nil
}

func (p *plane) close() {
	if p.listener != nil {
		p.listener.Close()
	}
	if p.log != nil {
		p.log.Close()
	}
}

// run starts etcd, the API server and the controllers, announces them, and stops them again when ctx ends.
func (p *plane) run(ctx context.Context, versions announce.Versions, stdout io.Writer) error {
	fatal := make(chan error, 1)
	logs.Capture(p.log, func(err error) {
		select {
		case fatal <- err:
		default: // the first one is the cause
		}
	})
	server := "https://" + p.listener.Addr().String()
	kubeconfig, err := apiserver.Kubeconfig(server, "labkit", p.pki.CA.Cert, p.pki.Admin)
	if err != nil {
		return err
	}
	client, err := apiserver.Client(kubeconfig)
	if err != nil {
		return err
	}
	var etcdURL string
	starts := []component.Start{
		{Name: "etcd", StopWithin: 700 * time.Millisecond, Begin: func(ctx context.Context) (component.Handle, error) {
			store, err := etcd.Start(ctx, etcd.Config{
				Dir: p.dir.File("etcd"), Server: p.pki.EtcdServer, CA: p.pki.EtcdCA.Cert, Log: p.log, Sync: !p.throwAway,
			})
			if err != nil {
				return nil, err
			}
			etcdURL = store.URL
			return store, nil
		}},
		{Name: "kube-apiserver", StopWithin: 1500 * time.Millisecond, Begin: func(ctx context.Context) (component.Handle, error) {
			return apiserver.Start(ctx, apiserver.Config{Listener: p.listener, Etcd: etcdURL, PKI: p.pki}, client, fatal)
		}},
		{Name: "controllers", StopWithin: 500 * time.Millisecond, Begin: func(ctx context.Context) (component.Handle, error) {
			return controllers.Start(ctx, client)
		}},
	}
	clusterFile := p.dir.File("cluster.json")
	announceReady := func() error {
		if err := statedir.WriteFile(p.dir.File("kubeconfig"), kubeconfig); err != nil {
			return err
		}
		return announce.Announcement{
			Kubeconfig: p.dir.File("kubeconfig"),
			Server:     server,
			Etcd:       announce.Etcd{URL: etcdURL, CA: p.pki.EtcdCA.Cert, Cert: p.pki.EtcdClient.Cert, Key: p.pki.EtcdClient.Key},
			Versions:   versions,
			Pid:        os.Getpid(),
			StateDir:   p.dir.Path(),
			ThrowAway:  p.throwAway,
			Until:      p.until.String(),
		}.Publish(clusterFile, stdout)
	}
	missedLimit := func(name string, err error) { klog.ErrorS(err, "Component did not stop in time", "component", name) }
	err = component.Run(ctx, starts, announceReady, missedLimit)
	if withdrawn := announce.Withdraw(clusterFile); err == nil && withdrawn != nil {
		return fmt.Errorf("announcement not withdrawn: %w", withdrawn)
	}
	return err
}
