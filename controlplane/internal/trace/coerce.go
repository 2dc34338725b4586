package trace

import (
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"labkit.example/controlplane/internal/definition"
)

// coercer brings an object into the form that decoding into a Go type would give it.
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go: unstructuredSchemaCoercer
type coercer struct {
	serving *definition.Serving
	// stored is set for what comes from etcd: invalid metadata is dropped there, elsewhere it is an error.
	stored bool
}

// coerced tells what was dropped.
type coerced struct {
	unknown []string
	nulls   []string
}

// apply follows unstructuredSchemaCoercer.apply. Unknown fields are recorded always, for the trace; the server does so if asked.
func (c coercer) apply(u *unstructured.Unstructured) (coerced, error) {
	done := coerced{unknown: []string{}, nulls: []string{}}
	kind, foundKind, err := unstructured.NestedString(u.UnstructuredContent(), "kind")
	if err != nil {
		return done, err
	}
	apiVersion, foundAPIVersion, err := unstructured.NestedString(u.UnstructuredContent(), "apiVersion")
	if err != nil {
		return done, err
	}
	objectMeta, foundObjectMeta, unknown, err := schemaobjectmeta.GetObjectMetaWithOptions(u.Object, schemaobjectmeta.ObjectMetaOptions{
		DropMalformedFields:     c.stored,
		ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return done, err
	}
	done.unknown = append(done.unknown, unknown...)

	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return done, err
	}
	if (schema.GroupKind{Group: gv.Group, Kind: kind}) == c.serving.Kind {
		structural := c.serving.Structural[gv.Version]
		if !c.serving.CRD.Spec.PreserveUnknownFields {
			done.unknown = append(done.unknown, structuralpruning.PruneWithOptions(u.Object, structural, true,
				structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
			var before map[string]any
			if holdsNull(u.Object) { // few do
				before = runtime.DeepCopyJSON(u.Object)
			}
			structuraldefaulting.PruneNonNullableNullsWithoutDefaults(u.Object, structural)
			done.nulls = lost(before, u.Object)
		}
		err, unknown := schemaobjectmeta.CoerceWithOptions(nil, u.Object, structural, false, schemaobjectmeta.CoerceOptions{
			DropInvalidFields:       c.stored,
			ReturnUnknownFieldPaths: true,
		})
		if err != nil {
			return done, err
		}
		done.unknown = append(done.unknown, unknown...)
		if c.stored && objectMeta.Generation == 0 {
			objectMeta.Generation = 1
		}
	}

	if foundKind {
		u.SetKind(kind)
	}
	if foundAPIVersion {
		u.SetAPIVersion(apiVersion)
	}
	if foundObjectMeta {
		if err := schemaobjectmeta.SetObjectMeta(u.Object, objectMeta); err != nil {
			return done, err
		}
	}
	return done, nil
}

func holdsNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, each := range value {
			if holdsNull(each) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsNull)
	}
	return false
}

// setDefaults follows customresource_handler.go: unstructuredDefaulter.Default.
func setDefaults(s *definition.Serving, u *unstructured.Unstructured) {
	if gvk := u.GroupVersionKind(); gvk.GroupKind() == s.Kind {
		structuraldefaulting.Default(u.UnstructuredContent(), s.Structural[gvk.Version])
	}
}
