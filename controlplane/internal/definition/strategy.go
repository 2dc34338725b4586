package definition

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"labkit.example/controlplane/internal/handler"
)

// strategy is what the server does to a definition on create and update:
// staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go. That package cannot be imported
// where there is no etcd; a test holds this one to it.
type strategy struct {
	runtime.ObjectTyper
	handler.Generator
}

var (
	_ rest.RESTCreateStrategy = strategy{}
	_ rest.RESTUpdateStrategy = strategy{}
)

func (strategy) NamespaceScoped() bool                         { return false }
func (strategy) AllowCreateOnUpdate(context.Context) bool      { return false }
func (strategy) AllowUnconditionalUpdate(context.Context) bool { return false }
func (strategy) Canonicalize(runtime.Object)                   {}

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	crd := obj.(*apiextensions.CustomResourceDefinition)
	crd.Status = apiextensions.CustomResourceDefinitionStatus{}
	crd.Generation = 1
	storeVersion(crd)
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	crd, oldCRD := obj.(*apiextensions.CustomResourceDefinition), old.(*apiextensions.CustomResourceDefinition)
	crd.Status = *oldCRD.Status.DeepCopy()
	if !apiequality.Semantic.DeepEqual(oldCRD.Spec, crd.Spec) {
		crd.Generation = oldCRD.Generation + 1
	}
	storeVersion(crd)
}

// storeVersion adds the storage version to the stored ones.
func storeVersion(crd *apiextensions.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			if !apiextensions.IsStoredVersion(crd, v.Name) {
				crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
			}
			break
		}
	}
}

func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateCustomResourceDefinition(ctx, obj.(*apiextensions.CustomResourceDefinition))
}

func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateCustomResourceDefinitionUpdate(ctx,
		obj.(*apiextensions.CustomResourceDefinition), old.(*apiextensions.CustomResourceDefinition))
}

func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	spec := &obj.(*apiextensions.CustomResourceDefinition).Spec
	return append(formatWarnings(unrecognizedFormats(spec)), listSetWarnings(spec)...)
}

func (strategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	spec, oldSpec := &obj.(*apiextensions.CustomResourceDefinition).Spec, &old.(*apiextensions.CustomResourceDefinition).Spec
	warnings := formatWarnings(without(unrecognizedFormats(spec), unrecognizedFormats(oldSpec)))
	return append(warnings, without(listSetWarnings(spec), listSetWarnings(oldSpec))...)
}

func without(texts, known []string) []string {
	seen := sets.New(known...)
	var kept []string
	for _, text := range texts {
		if !seen.Has(text) {
			kept = append(kept, text)
		}
	}
	return kept
}

func formatWarnings(formats []string) []string {
	var warnings []string
	for _, format := range formats {
		warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
	}
	return warnings
}

// unrecognizedFormats follows getUnrecognizedFormatsInCRD.
func unrecognizedFormats(crd *apiextensions.CustomResourceDefinitionSpec) []string {
	version := environment.DefaultCompatibilityVersion()
	var formats []string
	for _, schema := range schemas(crd) {
		validation.SchemaHas(schema, func(s *apiextensions.JSONSchemaProps) bool {
			if len(s.Format) > 0 {
				props := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
				formats = append(formats, apiservervalidation.GetUnrecognizedFormats(props, version)...)
			}
			return false
		})
	}
	return formats
}

// listSetWarnings follows getNonScalarListTypeSetWarnings.
func listSetWarnings(crd *apiextensions.CustomResourceDefinitionSpec) []string {
	seen := sets.New[string]()
	for _, schema := range schemas(crd) {
		validation.SchemaHas(schema, func(s *apiextensions.JSONSchemaProps) bool {
			if s.XListType != nil && *s.XListType == "set" && s.Items != nil && s.Items.Schema != nil {
				switch kind := s.Items.Schema.Type; kind {
				case "object", "array":
					seen.Insert(fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", kind))
				}
			}
			return false
		})
	}
	return sets.List(seen)
}

// schemas gives the schema that all versions share, or one for each version.
func schemas(crd *apiextensions.CustomResourceDefinitionSpec) []*apiextensions.JSONSchemaProps {
	var found []*apiextensions.JSONSchemaProps
	if crd.Validation != nil && crd.Validation.OpenAPIV3Schema != nil {
		found = append(found, crd.Validation.OpenAPIV3Schema)
	}
	for _, v := range crd.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			found = append(found, v.Schema.OpenAPIV3Schema)
		}
	}
	return found
}
