package trace

import (
	"context"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"labkit.example/controlplane/internal/definition"
)

// strategy is what the server does to an object of one version, in pieces:
// staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/{strategy,validator}.go. That package cannot be imported
// where there is no etcd, and gives only the whole; a test holds the pieces to the whole.
type strategy struct {
	*definition.Version
	kind       schema.GroupVersionKind
	namespaced bool
}

// prepareForCreate follows strategy.go: PrepareForCreate.
func (a strategy) prepareForCreate(u *unstructured.Unstructured) {
	if a.Status != nil {
		delete(u.Object, "status")
	}
	u.SetGeneration(1)
}

// prepareForUpdate follows strategy.go: PrepareForUpdate.
func (a strategy) prepareForUpdate(u, old *unstructured.Unstructured) {
	if a.Status != nil {
		if status, found := old.Object["status"]; found {
			u.Object["status"] = status
		} else {
			delete(u.Object, "status")
		}
	}
	if !apiequality.Semantic.DeepEqual(withoutMetadata(u.Object), withoutMetadata(old.Object)) {
		u.SetGeneration(old.GetGeneration() + 1)
	}
}

func withoutMetadata(object map[string]any) map[string]any {
	rest := make(map[string]any, len(object))
	for key, value := range object {
		if key != "metadata" {
			rest[key] = value
		}
	}
	return rest
}

// validate gives the errors of all but the rules, and those of an update that did not count: strategy.go: Validate and
// ValidateUpdate; validator.go: Validate and ValidateUpdate. old is nil on create, correlated is nil without ratcheting.
func (a strategy) validate(ctx context.Context, u, old *unstructured.Unstructured, correlated *common.CorrelatedObject) (errs, forgiven field.ErrorList) {
	if typeErrs := a.validateTypeMeta(u); len(typeErrs) > 0 {
		errs = typeErrs
	} else {
		errs = append(errs, a.validateObjectMeta(ctx, u, old)...)
		schemaErrs, schemaForgiven := a.validateSchema(u, old, correlated)
		errs, forgiven = append(errs, schemaErrs...), append(forgiven, schemaForgiven...)
		errs = append(errs, a.validateScale(u)...)
	}
	errs = append(errs, schemaobjectmeta.Validate(ctx, nil, u.Object, a.Structural, false)...)
	listErrs := structurallisttype.ValidateListSetsAndMaps(nil, a.Structural, u.Object)
	if correlated != nil && len(structurallisttype.ValidateListSetsAndMaps(nil, a.Structural, old.Object)) > 0 {
		return errs, append(forgiven, listErrs...)
	}
	return append(errs, listErrs...), forgiven
}

// validateTypeMeta follows validator.go: ValidateTypeMeta.
func (a strategy) validateTypeMeta(u *unstructured.Unstructured) (errs field.ErrorList) {
	if kind := u.GetKind(); kind != a.kind.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+a.kind.Kind))
	}
	if version, want := u.GetAPIVersion(), a.kind.GroupVersion().String(); version != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), version, "must be "+want))
	}
	return errs
}

// validateObjectMeta follows validator.go: validateObjectMetaDeclaratively, validateObjectMetaUpdateDeclaratively.
func (a strategy) validateObjectMeta(ctx context.Context, u, old *unstructured.Unstructured) field.ErrorList {
	beta := utilfeature.DefaultFeatureGate.Enabled(features.DeclarativeValidationBeta)
	path := field.NewPath("metadata")
	metadata, errs := objectMeta(u)
	if len(errs) > 0 {
		return errs
	}
	if old == nil {
		return metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, metadata, nil, a.namespaced,
			metavalidation.NameIsDNSSubdomain, path, beta)
	}
	oldMetadata, errs := objectMeta(old)
	if len(errs) > 0 {
		return errs
	}
	return metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, metadata, oldMetadata, a.namespaced, nil, path, beta)
}

// objectMeta follows validator.go: getObjectMeta.
func objectMeta(u *unstructured.Unstructured) (*metav1.ObjectMeta, field.ErrorList) {
	metadata, path := &metav1.ObjectMeta{}, field.NewPath("metadata")
	raw := u.Object["metadata"]
	if raw == nil {
		return metadata, nil
	}
	content, ok := raw.(map[string]any)
	if !ok {
		return nil, field.ErrorList{field.Invalid(path, raw, fmt.Sprintf("expected map[string]interface{}, got %T", raw))}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, metadata); err != nil {
		return nil, field.ErrorList{field.Invalid(path, raw, err.Error())}
	}
	return metadata, nil
}

// validateSchema compares with the OpenAPI schema. What a create would refuse and this update does not is forgiven.
func (a strategy) validateSchema(u, old *unstructured.Unstructured, correlated *common.CorrelatedObject) (errs, forgiven field.ErrorList) {
	all := apiservervalidation.ValidateCustomResource(nil, u.UnstructuredContent(), a.SchemaValidator)
	if correlated == nil {
		return all, nil
	}
	errs = apiservervalidation.ValidateCustomResourceUpdate(nil, u.UnstructuredContent(), old.UnstructuredContent(), a.SchemaValidator,
		apiservervalidation.WithRatcheting(correlated))
	counted := sets.New[string]()
	for _, err := range errs {
		counted.Insert(err.Error())
	}
	for _, err := range all {
		if !counted.Has(err.Error()) {
			forgiven = append(forgiven, err)
		}
	}
	return errs, forgiven
}

// validateScale follows validator.go: ValidateScaleSpec, ValidateScaleStatus.
func (a strategy) validateScale(u *unstructured.Unstructured) (errs field.ErrorList) {
	if a.Scale == nil {
		return nil
	}
	for _, path := range []string{a.Scale.SpecReplicasPath, a.Scale.StatusReplicasPath} {
		replicas, _, err := unstructured.NestedInt64(u.UnstructuredContent(), names(path)...)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(field.NewPath(path), replicas, err.Error()))
		case replicas < 0:
			errs = append(errs, field.Invalid(field.NewPath(path), replicas, "should be a non-negative integer"))
		case replicas > math.MaxInt32:
			errs = append(errs, field.Invalid(field.NewPath(path), replicas, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	if path := a.Scale.LabelSelectorPath; path != nil {
		selector, _, err := unstructured.NestedString(u.UnstructuredContent(), names(*path)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), selector, err.Error()))
		}
	}
	return errs
}

func names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// blocking gives the error that stands for the rules where an error of the schema keeps them from being run.
// strategy.go: hasBlockingErr
func blocking(errs field.ErrorList) *field.Error {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")
		}
	}
	return nil
}

var standardFinalizers = sets.NewString(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes))

// warnings follows strategy.go: generateWarningsFromObj; validator.go: validateKubeFinalizerName.
func (a strategy) warnings(u, old *unstructured.Unstructured) []string {
	added := sets.NewString(u.GetFinalizers()...)
	if old != nil {
		added = added.Difference(sets.NewString(old.GetFinalizers()...))
	}
	var texts []string
	for _, name := range added.List() {
		for _, message := range utilvalidation.IsQualifiedName(name) {
			texts = append(texts, fmt.Sprintf("metadata.finalizers: %q: %s", name, message))
		}
		if strings.Contains(name, "/") || standardFinalizers.Has(name) {
			continue
		}
		path := ""
		if strings.Contains(name, ".") {
			path = " including a path (/)"
		}
		texts = append(texts, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with other finalizer writers", name, path))
	}
	return texts
}
