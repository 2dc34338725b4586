// Package apiserver runs kube-apiserver in this process, with the same flags as the program would get.
package apiserver

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"labkit.example/controlplane/internal/component"
	"labkit.example/controlplane/internal/pki"
)

const (
	serviceRange = "10.0.0.0/24"
	readyPoll    = 20 * time.Millisecond
)

// ServiceIP is the address of the Service "kubernetes": the first of the range.
var ServiceIP = net.IPv4(10, 0, 0, 1)

// Config is what differs from one API server to another.
type Config struct {
	// Listener is where it serves. It is open already, so nobody else can have taken its port.
	Listener net.Listener
	Etcd     string
	PKI      *pki.PKI
}

// flags are kube-apiserver's own.
func (c Config) flags() []string {
	return []string{
		"--etcd-servers=" + c.Etcd,
		"--etcd-cafile=" + c.PKI.EtcdCA.Cert,
		"--etcd-certfile=" + c.PKI.EtcdClient.Cert,
		"--etcd-keyfile=" + c.PKI.EtcdClient.Key,

		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.Listener.Addr().(*net.TCPAddr).Port),
		"--advertise-address=127.0.0.1", // else it looks for a network interface, and fails without one
		"--tls-cert-file=" + c.PKI.Server.Cert,
		"--tls-private-key-file=" + c.PKI.Server.Key,

		"--client-ca-file=" + c.PKI.CA.Cert,
		"--anonymous-auth=false", // no right that somebody gives to everybody is given to every process of this machine
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.PKI.ServiceAccountKey,
		"--service-account-signing-key-file=" + c.PKI.ServiceAccountKey,

		"--service-cluster-ip-range=" + serviceRange,
		"--endpoint-reconciler-type=none", // no other API server, and no Pod to reach this one
		"--profiling=false",
	}
}

// slowHooks write the default roles and priority classes. They begin with a sleep of a second; all else is ready before.
var slowHooks = []string{"poststarthook/rbac/bootstrap-roles", "poststarthook/scheduling/bootstrap-system-priority-classes"}

// Server is a running kube-apiserver.
type Server struct {
	*component.Task
	serving, ready chan struct{}
}

// Start starts the server. client is how its readiness is asked for. fatal receives what the server says when it wants to
// end the process.
func Start(ctx context.Context, c Config, client *rest.Config, fatal <-chan error) (*Server, error) {
	opts, err := c.complete(ctx)
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, err
	}
	s := &Server{serving: make(chan struct{}), ready: make(chan struct{})}
	s.Task = component.Go(ctx, func(ctx context.Context) error {
		go s.waitReady(ctx, clientset)
		return endOn(ctx, fatal, func(ctx context.Context) error { return app.Run(ctx, opts) })
	})
	return s, nil
}

// endOn runs the function until it returns or fatal has an error.
func endOn(ctx context.Context, fatal <-chan error, run func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case err := <-ended:
		return err
	case err := <-fatal:
		return err
	}
}

func (c Config) complete(ctx context.Context) (options.CompletedOptions, error) {
	s := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range s.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(c.flags()); err != nil {
		return options.CompletedOptions{}, err
	}
	s.SecureServing.Listener = c.Listener
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return options.CompletedOptions{}, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // as kube-apiserver does: its own clients' warnings are for nobody
	opts, err := s.Complete(ctx)
	if err != nil {
		return options.CompletedOptions{}, err
	}
	return opts, utilerrors.NewAggregate(opts.Validate())
}

func (s *Server) waitReady(ctx context.Context, client kubernetes.Interface) {
	if isReady(ctx, client, slowHooks...) {
		close(s.serving)
	}
	if isReady(ctx, client) {
		close(s.ready)
	}
}

// isReady asks /readyz until it says ok; it gives up when ctx ends.
func isReady(ctx context.Context, client kubernetes.Interface, except ...string) bool {
	err := wait.PollUntilContextCancel(ctx, readyPoll, true, func(ctx context.Context) (bool, error) {
		request := client.Discovery().RESTClient().Get().AbsPath("/readyz")
		for _, check := range except {
			request.Param("exclude", check)
		}
		return request.Do(ctx).Error() == nil, nil
	})
	return err == nil
}

// Serving is closed when system:masters can work with every type: all is ready but the default roles and priority classes.
func (s *Server) Serving() <-chan struct{} { return s.serving }

// Ready is closed when /readyz says ok.
func (s *Server) Ready() <-chan struct{} { return s.ready }
