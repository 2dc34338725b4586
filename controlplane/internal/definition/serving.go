package definition

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Serving is what the server needs to serve the objects of an accepted definition.
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go: getOrCreateServingInfoFor
type Serving struct {
	CRD      *apiextensionsv1.CustomResourceDefinition
	Kind     schema.GroupKind
	Resource schema.GroupResource
	// Structural schemas by version, with pruned defaults; nil for a version without a schema.
	Structural     map[string]*structuralschema.Structural
	Versions       map[string]*Version
	StorageVersion string
	Namespaced     bool
}

// Version is one version that is served or stored.
type Version struct {
	Name   string
	Served bool
	// SchemaPath is where the errors of a definition place the schema: spec.validation.openAPIV3Schema, or under spec.versions[i].
	SchemaPath      *field.Path
	Structural      *structuralschema.Structural
	SchemaValidator apiservervalidation.SchemaValidator
	Status          *apiextensions.CustomResourceSubresourceStatus
	Scale           *apiextensions.CustomResourceSubresourceScale
	// Warning is what each request for the version is warned of; "" unless it is deprecated.
	Warning string
	cel     func() *cel.Validator
}

// CEL compiles the rules at its first call; nil if there are none.
// staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go: NewStrategy
func (v *Version) CEL() *cel.Validator { return v.cel() }

// GVK is the kind in this version.
func (s *Serving) GVK(version string) schema.GroupVersionKind { return s.Kind.WithVersion(version) }

// Serve makes ready to serve, once. The definition must be accepted.
func (d *Definition) Serve() (*Serving, error) {
	d.serveOnce.Do(func() { d.serving, d.serveErr = d.serve() })
	return d.serving, d.serveErr
}

func (d *Definition) serve() (*Serving, error) {
	if d.V1 == nil {
		return nil, fmt.Errorf("definition %s is refused", d.Internal.Name)
	}
	crd := d.V1
	storage, err := apihelpers.GetCRDStorageVersion(crd)
	if err != nil {
		return nil, err
	}
	s := &Serving{
		CRD:        crd,
		Kind:       schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind},
		Resource:   schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Status.AcceptedNames.Plural},
		Structural: map[string]*structuralschema.Structural{}, Versions: map[string]*Version{},
		StorageVersion: storage,
		Namespaced:     crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		served := &Version{Name: v.Name, Served: v.Served, SchemaPath: d.SchemaPath(i), Warning: s.warning(v)}
		if err := served.fill(v, crd.Spec.PreserveUnknownFields); err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		s.Structural[v.Name] = served.Structural
		if v.Storage || v.Served {
			s.Versions[v.Name] = served
		}
	}
	return s, nil
}

// SchemaPath is where the server's errors place the schema of the i-th version.
func (d *Definition) SchemaPath(i int) *field.Path {
	path := field.NewPath("spec")
	if d.Internal.Spec.Validation != nil {
		return path.Child("validation", "openAPIV3Schema")
	}
	return path.Child("versions").Index(i).Child("schema", "openAPIV3Schema")
}

func (v *Version) fill(in *apiextensionsv1.CustomResourceDefinitionVersion, preserveUnknownFields bool) (err error) {
	var props *apiextensions.JSONSchemaProps
	if in.Schema != nil {
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(in.Schema, internal, nil); err != nil {
			return err
		}
		props = internal.OpenAPIV3Schema
		v.Structural, err = structuralschema.NewStructural(props)
		if err != nil && !preserveUnknownFields {
			return err
		}
		if !preserveUnknownFields {
			v.Structural = v.Structural.DeepCopy()
			if err := defaulting.PruneDefaults(v.Structural); err != nil {
				return err
			}
		}
	}
	if v.SchemaValidator, _, err = apiservervalidation.NewSchemaValidator(props); err != nil {
		return err
	}
	v.cel = sync.OnceValue(func() *cel.Validator {
		return cel.NewValidator(v.Structural, true, celconfig.PerCallLimit)
	})
	if in.Subresources == nil {
		return nil
	}
	if in.Subresources.Status != nil {
		v.Status = &apiextensions.CustomResourceSubresourceStatus{}
	}
	if in.Subresources.Scale != nil {
		v.Scale = &apiextensions.CustomResourceSubresourceScale{}
		return apiextensionsv1.Convert_v1_CustomResourceSubresourceScale_To_apiextensions_CustomResourceSubresourceScale(in.Subresources.Scale, v.Scale, nil)
	}
	return nil
}

// warning follows customresource_handler.go: getOrCreateServingInfoFor, defaultDeprecationWarning.
func (s *Serving) warning(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", s.CRD.Spec.Group, v.Name, s.CRD.Spec.Names.Kind)
	var better []string
	for _, other := range s.CRD.Spec.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			better = append(better, other.Name)
		}
	}
	if len(better) == 0 {
		return text
	}
	best := slices.MaxFunc(better, version.CompareKubeAwareVersionStrings)
	return text + fmt.Sprintf("; use %s/%s %s", s.CRD.Spec.Group, best, s.CRD.Spec.Names.Kind)
}
