package trace

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"labkit.example/controlplane/internal/document"
)

// The steps of a read follow staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:
// crdConversionRESTOptionsGetter.GetRESTOptions, whose codec decodes, prunes, defaults and converts what lies in etcd.

func (p *path) load() error {
	u, err := decodeStored(p.etcd)
	if err != nil {
		return err
	}
	p.object, p.shown = u, nil
	p.reach(reading, u, nil)
	return nil
}

func (p *path) pruneStored() error {
	done, err := coercer{serving: p.serving, stored: true}.apply(p.object)
	if err != nil {
		return err
	}
	p.reach(readPruning, p.object, &Pruning{Paths: done.unknown, Nulls: done.nulls})
	return nil
}

func (p *path) setStoredDefaults() error {
	setDefaults(p.serving, p.object)
	p.reach(readDefaulting, p.object, &Defaulting{Added: gained(p.before(), p.show(p.object))})
	return nil
}

// convertStored coerces once more, even if the version is right already.
func (p *path) convertStored() error {
	facts := &Conversion{From: p.object.GroupVersionKind().Version, To: p.version.Name}
	converted, err := convert(p.serving, p.object, p.version.Name)
	if err != nil {
		return err
	}
	done, err := coercer{serving: p.serving}.apply(converted)
	if err != nil {
		return err
	}
	facts.Pruned, p.object = done.unknown, converted
	p.reach(readConversion, p.object, facts)
	return nil
}

// setStored takes the text of what lies in etcd, in a version that the definition has.
func (p *path) setStored(kind string) error {
	u, err := p.identifyStored(kind)
	if err != nil {
		return err
	}
	if name := u.GroupVersionKind().Version; p.serving.Structural[name] == nil {
		_, err = p.served(kind, name)
		return err
	}
	return nil
}

// identifyStored takes the text of what lies in etcd, in any version.
func (p *path) identifyStored(kind string) (*unstructured.Unstructured, error) {
	data, err := p.doc.JSON()
	if err != nil {
		return nil, &InputError{Kind: kind, Err: err}
	}
	if document.IsPlain(data) {
		return nil, bad(kind, "this is a list or a plain value, no object")
	}
	u, err := decodeStored(data)
	if err != nil {
		return nil, &InputError{Kind: kind, Err: err}
	}
	if err := p.identify(kind, u); err != nil {
		return nil, err
	}
	if u.GetName() == "" {
		return nil, bad(kind, "the object has no metadata.name, or none that is a text, so it cannot lie in etcd")
	}
	p.etcd = data
	return u, nil
}

// readOld reads the old object as the server reads it before an update, in the version of the request.
func (p *path) readOld() error {
	reader := &path{Request: Request{Object: *p.Old, Operation: Read, Without: p.Without}, serving: p.serving, version: p.version, invented: map[string]bool{}}
	if err := reader.setDocument("old"); err != nil {
		return err
	}
	if err := reader.setStored("old"); err != nil {
		return err
	}
	if err := reader.walk(readSteps); errors.As(err, new(errWebhook)) {
		return err
	} else if err != nil {
		return &InputError{Kind: "old", Err: err}
	}
	p.old = reader.object
	if p.serving.Namespaced && p.old.GetNamespace() == "" {
		p.old.SetNamespace(p.liveNamespace())
	}
	// what the server would have set
	if p.old.GetUID() == "" {
		p.old.SetUID(first(p.object.GetUID(), types.UID("00000000-0000-0000-0000-000000000000")))
		p.invented["uid"] = p.object.GetUID() == ""
	}
	if p.old.GetResourceVersion() == "" {
		p.old.SetResourceVersion(first(p.object.GetResourceVersion(), "1"))
		p.invented["resourceVersion"] = p.object.GetResourceVersion() == ""
	}
	return nil
}

// liveNamespace is where an old object lies whose text does not say so.
func (p *path) liveNamespace() string {
	return first(p.Namespace, p.object.GetNamespace(), "default")
}

// readBack reads what lies in etcd in the version that is asked for.
func (p *path) readBack() error {
	name := p.ReadVersion
	if name == "" {
		name = p.objectVersion
	}
	var err error
	if p.version, err = p.served("request", name); err != nil {
		return err
	}
	if p.Operation == Read {
		p.warnings.Add(p.version.Warning)
	}
	written := p.outcome
	if err := p.take(readSteps); err != nil {
		return err
	}
	if p.outcome.Verdict == Accepted {
		p.outcome.Read = p.show(p.object)
	} else if p.Operation != Read { // it is written all the same; that it cannot be read is no answer to the write
		written.Reason = "it cannot be read back: " + first(p.outcome.Reason, strings.Join(p.outcome.Lines, "; "))
		p.outcome = written
	}
	return nil
}

func first[T comparable](values ...T) T {
	var none T
	for _, value := range values {
		if value != none {
			return value
		}
	}
	return none
}
