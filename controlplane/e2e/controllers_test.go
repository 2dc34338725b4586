//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const controllerLimit = 20 * time.Second

// runsControllers asks for the work of every controller in turn.
func runsControllers(t *testing.T, p *process, a api) {
	a.create(t, "/api/v1/namespaces", object{"metadata": object{"name": "e2e"}})
	t.Run("service accounts: a namespace has its account at once", func(t *testing.T) {
		eventually(t, 2*time.Second, "the account", func() error {
			_, err := a.get("/api/v1/namespaces/e2e/serviceaccounts/default")
			return err
		})
	})
	t.Run("cluster roles: edit gets what is aggregated to it", func(t *testing.T) { aggregates(t, a) })
	t.Run("a new type is served, listed and described", func(t *testing.T) { servesNewType(t, p, a) })
	t.Run("garbage: an object goes with its owner", func(t *testing.T) { collects(t, a) })
	t.Run("storage versions: a migration rewrites the objects", func(t *testing.T) { migrates(t, p, a) })
	t.Run("storage versions: the same for a type that went and came back", func(t *testing.T) {
		a.delete(t, "/apis/storagemigration.k8s.io/v1/storageversionmigrations/things")
		a.delete(t, definition)
		eventually(t, controllerLimit, "the type is gone", func() error { return a.absent(definition) })
		servesNewType(t, p, a)
		migrates(t, p, a)
	})
	t.Run("namespaces: a deletion ends", func(t *testing.T) {
		a.delete(t, "/api/v1/namespaces/e2e")
		eventually(t, controllerLimit, "the namespace is gone", func() error { return a.absent("/api/v1/namespaces/e2e") })
	})
	t.Run("admission policies that change objects are served", func(t *testing.T) {
		if _, err := a.get("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"); err != nil {
			t.Error(err)
		}
	})
}

func aggregates(t *testing.T, a api) {
	a.create(t, "/apis/rbac.authorization.k8s.io/v1/clusterroles", object{
		"metadata": object{"name": "things", "labels": object{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
		"rules":    []object{{"apiGroups": []string{"e2e.example.org"}, "resources": []string{"things"}, "verbs": []string{"get"}}},
	})
	eventually(t, controllerLimit, "the rule in edit", func() error {
		edit, err := a.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/edit")
		if err == nil && !strings.Contains(fmt.Sprint(at(edit, "rules")), "e2e.example.org") {
			err = errors.New("not there")
		}
		return err
	})
}

// version is a version of the test's type.
func version(name string, storage bool) object {
	schema := object{"type": "object", "properties": object{"spec": object{"type": "object", "properties": object{"size": object{"type": "string"}}}}}
	return object{"name": name, "served": true, "storage": storage, "schema": object{"openAPIV3Schema": schema}}
}

const (
	definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.e2e.example.org"
	things     = "/apis/e2e.example.org/v1/namespaces/e2e/things"
	thingKey   = "/registry/e2e.example.org/things/e2e/one"
)

func servesNewType(t *testing.T, p *process, a api) {
	a.create(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object{
		"metadata": object{"name": "things.e2e.example.org"},
		"spec": object{
			"group": "e2e.example.org", "scope": "Namespaced", "names": object{"plural": "things", "kind": "Thing"},
			"versions": []object{version("v1alpha1", true), version("v1", false)},
		},
	})
	eventually(t, controllerLimit, "an object", func() error {
		_, err := a.do(http.MethodPost, things, "application/json", object{
			"apiVersion": "e2e.example.org/v1", "kind": "Thing", "metadata": object{"name": "one"}, "spec": object{"size": "S"},
		})
		return err
	})
	if got := string(p.stored(t, thingKey)); !strings.Contains(got, `"apiVersion":"e2e.example.org/v1alpha1"`) {
		t.Errorf("stored: %q", got)
	}
	for _, path := range []string{"/apis/e2e.example.org/v1", "/openapi/v3/apis/e2e.example.org/v1"} {
		eventually(t, controllerLimit, path, func() error {
			_, err := a.get(path)
			return err
		})
	}
}

func collects(t *testing.T, a api) {
	const configs = "/api/v1/namespaces/e2e/configmaps"
	owner := a.create(t, configs, object{"metadata": object{"name": "owner"}})
	a.create(t, configs, object{"metadata": object{"name": "owned", "ownerReferences": []object{
		{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": at(owner, "metadata", "uid")},
	}}})
	a.delete(t, configs+"/owner")
	eventually(t, controllerLimit, "the owned one is gone", func() error { return a.absent(configs + "/owned") })
}

func migrates(t *testing.T, p *process, a api) {
	a.patch(t, definition, object{"spec": object{"versions": []object{version("v1alpha1", false), version("v1", true)}}})
	a.create(t, "/apis/storagemigration.k8s.io/v1/storageversionmigrations", object{
		"metadata": object{"name": "things"}, "spec": object{"resource": object{"group": "e2e.example.org", "resource": "things"}},
	})
	const migration = "/apis/storagemigration.k8s.io/v1/storageversionmigrations/things"
	status := func(want func(status any) bool) func() error {
		return func() error {
			got, err := a.get(migration)
			if err == nil && !want(got["status"]) {
				err = fmt.Errorf("status %v", got["status"])
			}
			return err
		}
	}
	eventually(t, controllerLimit, "the migration has begun", status(func(s any) bool { return at(s, "resourceVersion") != nil }))
	// A write of another object: without one the migration waits for a bookmark of the watch, up to a minute.
	a.create(t, things, object{"apiVersion": "e2e.example.org/v1", "kind": "Thing", "metadata": object{"name": "two"}})
	eventually(t, controllerLimit, "the migration", status(func(s any) bool {
		return strings.Contains(fmt.Sprint(at(s, "conditions")), "type:Succeeded")
	}))
	if got := string(p.stored(t, thingKey)); !strings.Contains(got, `"apiVersion":"e2e.example.org/v1"`) {
		t.Errorf("stored: %q", got)
	}
}
