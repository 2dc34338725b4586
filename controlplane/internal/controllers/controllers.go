// Package controllers runs the controllers of kube-controller-manager that a cluster without nodes needs.
//
// They are wired here and not by the controller manager's app: that compiles far more, and it lets the garbage collector
// look for new types only every 30 s. Storage migration waits for the garbage collector's monitor of the type, so a
// migration of a new type would wait as long.
package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/storageversionmigrator"

	"labkit.example/controlplane/internal/component"
)

const (
	discoveryResync  = time.Second      // kube-controller-manager: 30 s
	firstMonitorSync = 10 * time.Second // after which the garbage collector begins with the monitors it has
	namespaceResync  = 5 * time.Minute  // as kube-controller-manager

	garbageCollectorWorkers, namespaceWorkers, roleWorkers, accountWorkers = 5, 5, 2, 1
)

// Set is the running controllers.
type Set struct {
	*component.Task
	ready chan struct{}
}

// Ready is closed when the controllers know what is in the cluster: a namespace made now gets its service account at once.
func (s *Set) Ready() <-chan struct{} { return s.ready }

// Start starts all controllers against a server that is ready.
func Start(ctx context.Context, config *rest.Config) (*Set, error) {
	c, err := newClients(config)
	if err != nil {
		return nil, err
	}
	wired, err := c.wire(klog.NewContext(context.WithoutCancel(ctx), klog.Background()))
	if err != nil {
		return nil, err
	}
	s := &Set{ready: make(chan struct{})}
	s.Task = component.Go(ctx, func(ctx context.Context) error {
		var running sync.WaitGroup
		for _, run := range wired {
			running.Go(func() { run(ctx) })
		}
		c.startInformers(ctx)
		if err := c.waitInformers(ctx); err == nil {
			close(s.ready)
		}
		running.Wait()
		c.shared.Shutdown()
		c.monitorInformers.Shutdown()
		if ctx.Err() == nil {
			return fmt.Errorf("every controller ended")
		}
		return nil
	})
	return s, nil
}

// clients are what the controllers share.
type clients struct {
	kubernetes       kubernetes.Interface
	metadata         metadata.Interface
	dynamic          *dynamic.DynamicClient
	definitions      apiextensions.Interface
	discovery        *discovery.DiscoveryClient
	mapper           *restmapper.DeferredDiscoveryRESTMapper
	shared           informers.SharedInformerFactory
	monitorInformers *monitorInformers
	// informersStarted lets the garbage collector start monitors; it is closed last.
	informersStarted chan struct{}
}

func newClients(config *rest.Config) (*clients, error) {
	c := &clients{informersStarted: make(chan struct{})}
	var err error
	if c.kubernetes, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.definitions, err = apiextensions.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.discovery))
	c.shared = informers.NewSharedInformerFactory(c.kubernetes, 0)
	c.monitorInformers = newMonitorInformers(c.shared, c.metadata)
	return c, nil
}

func (c *clients) startInformers(ctx context.Context) {
	c.shared.Start(ctx.Done())
	close(c.informersStarted)
}

func (c *clients) waitInformers(ctx context.Context) error {
	for kind, synced := range c.shared.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%v not read", kind)
		}
	}
	return nil
}

// wire makes every controller; the functions run them until their context ends.
func (c *clients) wire(ctx context.Context) ([]func(context.Context), error) {
	monitors := garbagecollector.NewDependencyGraphBuilder(ctx, c.metadata, c.mapper,
		garbagecollector.DefaultIgnoredResources(), c.monitorInformers, c.informersStarted)
	garbage, err := garbagecollector.NewComposedGarbageCollector(ctx, c.kubernetes, c.metadata, c.mapper, monitors)
	if err != nil {
		return nil, err
	}
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), c.shared.Core().V1().ServiceAccounts(),
		c.shared.Core().V1().Namespaces(), c.kubernetes, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	namespaces := namespace.NewNamespaceController(ctx, c.kubernetes, c.metadata,
		c.kubernetes.Discovery().ServerPreferredNamespacedResources, c.shared.Core().V1().Namespaces(), namespaceResync, v1.FinalizerKubernetes)
	roles := clusterroleaggregation.NewClusterRoleAggregation(c.shared.Rbac().V1().ClusterRoles(), c.kubernetes.RbacV1())

	return append(c.wireMigrator(ctx, monitors),
		func(ctx context.Context) { garbage.Run(ctx, garbageCollectorWorkers, firstMonitorSync) },
		func(ctx context.Context) { garbage.Sync(ctx, c.discovery, discoveryResync) },
		func(ctx context.Context) { accounts.Run(ctx, accountWorkers) },
		func(ctx context.Context) { namespaces.Run(ctx, namespaceWorkers) },
		func(ctx context.Context) { roles.Run(ctx, roleWorkers) },
	), nil
}

// wireMigrator makes the three loops of the storage-version migrator: one names the resource version up to which a
// migration goes, one rewrites the objects, one lets migrations of a type run one after the other.
func (c *clients) wireMigrator(ctx context.Context, monitors *garbagecollector.GraphBuilder) []func(context.Context) {
	migrations := c.shared.Storagemigration().V1().StorageVersionMigrations()
	return []func(context.Context){
		storageversionmigrator.NewResourceVersionController(ctx, c.kubernetes, c.discovery, c.metadata, migrations, c.mapper).Run,
		storageversionmigrator.NewSVMController(ctx, c.kubernetes, c.dynamic, migrations, "storage-version-migrator-controller", c.mapper, monitors).Run,
		storageversionmigrator.NewCustomResourceController(ctx, c.kubernetes, migrations, c.definitions.ApiextensionsV1().CustomResourceDefinitions()).Run,
	}
}
