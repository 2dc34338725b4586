// Package definition registers a CustomResourceDefinition that is only a text, as the API server registers one: decoded,
// defaulted, converted, validated with the server's own functions, and made ready to serve its objects. It knows no cluster.
package definition

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"labkit.example/controlplane/internal/handler"
)

// Definition is what the server makes of a text. All of it is to be read only: definitions are shared by requests.
type Definition struct {
	// Internal is the form that the server validates: defaulted, and with what all versions share moved to the top.
	// It is there for a refused definition too.
	Internal *apiextensions.CustomResourceDefinition
	// V1 is the form in which it is served and from which objects are served; nil when the definition is refused.
	V1 *apiextensionsv1.CustomResourceDefinition
	// Refusal is nil when the server accepts the definition.
	Refusal *handler.Refusal

	warnings  handler.Warnings
	serveOnce sync.Once
	serving   *Serving
	serveErr  error
}

// Create is a POST of text. The error is for a text that is no definition at all, or that cannot be decoded: then it holds a
// *handler.Refusal. A definition that is refused for its content is no error, see Refusal.
func Create(text, fieldValidation string) (*Definition, error) {
	d, crd, ctx, err := begin(text, fieldValidation)
	if err != nil || d.Refusal != nil {
		return d, err
	}
	// staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go: create
	rest.WipeObjectMetaSystemFields(crd)
	rest.FillObjectMetaSystemFields(crd)
	return d, d.finish(rest.BeforeCreate(strategy{ObjectTyper: scheme}, ctx, crd))
}

// Update is a PUT of text over old, a text of what the cluster holds. An old text without a status is taken as registered and
// established, just as its text says; it is not judged.
func Update(text, old, fieldValidation string) (*Definition, error) {
	live, err := Live(old)
	if err != nil {
		return nil, &OldError{err}
	}
	d, crd, ctx, err := begin(text, fieldValidation)
	if err != nil || d.Refusal != nil {
		return d, err
	}
	if err := handler.CheckName(crd, live.Name, ""); err != nil {
		d.Refusal = handler.Refuse(err)
		return d, nil
	}
	if crd.ResourceVersion == "" {
		crd.ResourceVersion = live.ResourceVersion
	}
	if crd.UID == "" {
		crd.UID = live.UID
	}
	// staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go: Update
	return d, d.finish(rest.BeforeUpdate(strategy{ObjectTyper: scheme}, ctx, crd, live))
}

// OldError says that it is the old definition that cannot be understood.
type OldError struct{ error }

func (e *OldError) Unwrap() error { return e.error }

// begin decodes; d.Internal is the decoded object itself.
func begin(text, fieldValidation string) (*Definition, *apiextensions.CustomResourceDefinition, context.Context, error) {
	crd, warnings, err := decode(text, fieldValidation)
	if err != nil {
		return nil, nil, nil, err
	}
	d := &Definition{Internal: crd}
	d.warnings.Add(warnings...)
	ctx := d.warnings.In(genericapirequest.WithNamespace(context.Background(), metav1.NamespaceNone))
	if crd.GenerateName != "" && crd.Name == "" {
		crd.Name = strategy{}.GenerateName(crd.GenerateName)
	}
	return d, crd, ctx, nil
}

// finish takes the verdict, and the form to be served.
func (d *Definition) finish(verdict error) error {
	if verdict != nil {
		d.Refusal = handler.Refuse(verdict)
		return nil
	}
	d.V1 = &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(d.Internal, d.V1, nil); err != nil {
		return err
	}
	accept(d.V1)
	return nil
}

// accept plays the controllers that accept the names and establish the definition.
// staging/src/k8s.io/apiextensions-apiserver/pkg/controller/{status,establish}
func accept(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status.AcceptedNames = crd.Spec.Names
	for _, kind := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		if apihelpers.FindCRDCondition(crd, kind) == nil {
			apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{Type: kind, Status: apiextensionsv1.ConditionTrue})
		}
	}
}

// Live gives the definition that the cluster holds, of its text.
func Live(text string) (*apiextensions.CustomResourceDefinition, error) {
	crd, _, err := decode(text, metav1.FieldValidationIgnore)
	if err != nil {
		return nil, err
	}
	held := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(crd, held, nil); err != nil {
		return nil, err
	}
	if len(held.Status.Conditions) == 0 {
		accept(held)
	}
	if held.UID == "" {
		rest.FillObjectMetaSystemFields(held)
	}
	if held.ResourceVersion == "" {
		held.ResourceVersion = "1"
	}
	if held.Generation == 0 {
		held.Generation = 1
	}
	if storage, err := apihelpers.GetCRDStorageVersion(held); err == nil && len(held.Status.StoredVersions) == 0 {
		held.Status.StoredVersions = []string{storage} // strategy.go: PrepareForCreate
	}
	live := &apiextensions.CustomResourceDefinition{}
	return live, scheme.Convert(held, live, nil)
}

// Warnings are the texts of the Warning headers.
func (d *Definition) Warnings() []string { return d.warnings.Texts() }

// Names is what a reader wants to know first of a definition.
type Names struct {
	Name           string   `json:"name"`
	Group          string   `json:"group"`
	Kind           string   `json:"kind"`
	Plural         string   `json:"plural"`
	Scope          string   `json:"scope"`
	Versions       []Listed `json:"versions"`
	StoredVersions []string `json:"storedVersions"`
	Conversion     string   `json:"conversion"`
}

// Listed is one of a definition's versions.
type Listed struct {
	Name       string `json:"name"`
	Served     bool   `json:"served"`
	Storage    bool   `json:"storage"`
	Deprecated bool   `json:"deprecated"`
}

// Names works for a refused definition too.
func (d *Definition) Names() Names {
	spec := &d.Internal.Spec
	names := Names{
		Name: d.Internal.Name, Group: spec.Group, Kind: spec.Names.Kind, Plural: spec.Names.Plural, Scope: string(spec.Scope),
		Versions: []Listed{}, StoredVersions: append([]string{}, d.Internal.Status.StoredVersions...),
	}
	if spec.Conversion != nil {
		names.Conversion = string(spec.Conversion.Strategy)
	}
	for _, v := range spec.Versions {
		names.Versions = append(names.Versions, Listed{Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated})
	}
	return names
}

func notADefinition(apiVersion, kind string) error {
	if kind == "" {
		return fmt.Errorf("this is not a CustomResourceDefinition: it has no kind")
	}
	return fmt.Errorf("this is not a CustomResourceDefinition: it is a %s of %q", kind, apiVersion)
}
