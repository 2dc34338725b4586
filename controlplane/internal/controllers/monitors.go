package controllers

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
)

// monitorInformers gives the garbage collector its informers: the shared ones of types compiled in, and for every other
// type a new one each time a monitor is made for it.
//
// Upstream's factory keeps one informer a type for ever. When a type goes and comes back (the same definition deleted and
// made again, a version no longer served and then served again), the old informer is still counting down its back-off of
// up to 30 s since it last met a 404, and a storage migration of the type waits for it: measured 5 to 80 s, and under 1 s
// with a new informer.
type monitorInformers struct {
	shared   informers.SharedInformerFactory
	metadata metadata.Interface

	lock    sync.Mutex
	made    map[schema.GroupVersionResource]informers.GenericInformer // not started yet
	stop    map[schema.GroupVersionResource]chan struct{}             // running
	running sync.WaitGroup
}

func newMonitorInformers(shared informers.SharedInformerFactory, client metadata.Interface) *monitorInformers {
	return &monitorInformers{
		shared: shared, metadata: client,
		made: map[schema.GroupVersionResource]informers.GenericInformer{},
		stop: map[schema.GroupVersionResource]chan struct{}{},
	}
}

// ForResource makes the informer of a new monitor and stops the one that an earlier monitor of the type had.
func (m *monitorInformers) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	if informer, err := m.shared.ForResource(resource); err == nil {
		return informer, nil
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if stop, ok := m.stop[resource]; ok {
		close(stop)
		delete(m.stop, resource)
	}
	m.made[resource] = metadatainformer.NewFilteredMetadataInformer(m.metadata, resource, metav1.NamespaceAll, 0, nil, nil)
	return m.made[resource], nil
}

// Start starts what was made since the last call; Shutdown ends it, not the channel that the garbage collector passes.
func (m *monitorInformers) Start(stop <-chan struct{}) {
	m.shared.Start(stop)
	m.lock.Lock()
	defer m.lock.Unlock()
	for resource, informer := range m.made {
		own := make(chan struct{})
		m.stop[resource] = own
		m.running.Go(func() { informer.Informer().Run(own) })
	}
	clear(m.made)
}

// Shutdown ends every informer made here and waits for it. Call it when the garbage collector has ended.
func (m *monitorInformers) Shutdown() {
	m.lock.Lock()
	for _, stop := range m.stop {
		close(stop)
	}
	clear(m.stop)
	m.lock.Unlock()
	m.running.Wait()
}
