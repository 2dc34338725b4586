package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/fake"
)

var colis = schema.GroupVersionResource{Group: "cours.example.com", Version: "v1", Resource: "colis"}

func TestATypeThatComesBackGetsANewInformerAndTheOldOneStops(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	monitors := newMonitorInformers(informers.NewSharedInformerFactory(nil, 0), fake.NewSimpleMetadataClient(scheme))

	first, err := monitors.ForResource(colis)
	if err != nil {
		t.Fatal(err)
	}
	monitors.Start(nil)
	eventually(t, "the first informer runs", first.Informer().HasSynced)

	second, err := monitors.ForResource(colis)
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Fatal("the informer that may be counting down its back-off was given again")
	}
	eventually(t, "the first informer stops", first.Informer().IsStopped)
	monitors.Start(nil)
	eventually(t, "the second informer runs", second.Informer().HasSynced)

	monitors.Shutdown()
	if !second.Informer().IsStopped() {
		t.Fatal("an informer runs on after Shutdown")
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within 10 s", what)
}
