package trace

import (
	"bytes"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"labkit.example/controlplane/internal/definition"
	"labkit.example/controlplane/internal/document"
)

// creator follows customresource_handler.go: unstructuredCreator.
type creator struct{}

func (creator) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

// decodeBody decodes as the server decodes the body of a request of this media type. The object may be there beside an error:
// then the error is about strictness only. customresource_handler.go: getOrCreateServingInfoFor, negotiatedSerializer
func decodeBody(doc document.Document, want schema.GroupVersionKind, fieldValidation string) (*unstructured.Unstructured, *schema.GroupVersionKind, error) {
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, creator{}, crdserverscheme.NewUnstructuredObjectTyper(),
		json.SerializerOptions{Yaml: doc.YAML, Strict: fieldValidation != metav1.FieldValidationIgnore})
	obj, gvk, err := serializer.Decode(doc.Data, &want, &unstructured.Unstructured{})
	u, _ := obj.(*unstructured.Unstructured)
	return u, gvk, err
}

// decodeStored decodes what lies in etcd.
// staging/src/k8s.io/apiextensions-apiserver/pkg/cmd/server/options/options.go: NewCRDRESTOptionsGetter
func decodeStored(data []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, u); err != nil {
		return nil, err
	}
	return u, nil
}

// encodeStored gives what lies in etcd.
func encodeStored(u *unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	err := unstructured.UnstructuredJSONScheme.Encode(u, &out)
	return out.Bytes(), err
}

// errWebhook says that only a webhook knows the converted object.
type errWebhook struct{}

func (errWebhook) Error() string { return "strategy: Webhook" }

// convert gives the object in another version, without coercing it. Only the strategy None is known here.
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion: converter.go: crConverter.ConvertToVersion, nop_converter.go
func convert(s *definition.Serving, u *unstructured.Unstructured, version string) (*unstructured.Unstructured, error) {
	from, to := u.GroupVersionKind(), schema.GroupVersion{Group: s.Kind.Group, Version: version}
	if from.Group != to.Group {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from.String(), to)
	}
	if _, known := s.Structural[version]; !known {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", to)
	}
	if _, known := s.Structural[from.Version]; !known {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from.GroupVersion())
	}
	if from.Version != version && s.CRD.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		return nil, errWebhook{}
	}
	out := u.DeepCopy()
	out.SetGroupVersionKind(to.WithKind(from.Kind))
	return out, nil
}
