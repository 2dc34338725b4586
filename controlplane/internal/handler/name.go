package handler

import (
	"fmt"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage/names"
)

// CheckName refuses an update whose object has another name, or none.
// staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go: checkName; namer.go: errEmptyName
func CheckName(object metav1.Object, name, namespace string) error {
	switch got := object.GetName(); {
	case got == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: %v",
			name, apierrors.NewBadRequest("name must be provided")))
	case got != name:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", got, name))
	}
	if got := object.GetNamespace(); namespace != "" && got != "" && got != namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("the namespace of the object (%s) does not match the namespace on the request (%s)", got, namespace))
	}
	return nil
}

// Generator gives names with a suffix that is always the same, where the server's is random.
type Generator struct{}

// GenerateName follows staging/src/k8s.io/apiserver/pkg/storage/names/generate.go.
func (Generator) GenerateName(base string) string {
	return base[:min(len(base), names.MaxGeneratedNameLength)] + "xxxxx"
}

// DropDuplicateOwners removes owner references that are there twice, and gives the warning about them, if any.
// staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go: dedupOwnerReferencesAndAddWarning
func DropDuplicateOwners(object metav1.Object) string {
	var kept []metav1.OwnerReference
	var twice []string
	for _, reference := range object.GetOwnerReferences() {
		same := func(other metav1.OwnerReference) bool { return apiequality.Semantic.DeepEqual(other, reference) }
		if slices.ContainsFunc(kept, same) {
			twice = append(twice, string(reference.UID))
		} else {
			kept = append(kept, reference)
		}
	}
	if len(twice) == 0 {
		return ""
	}
	object.SetOwnerReferences(kept)
	return fmt.Sprintf(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such "+
		"requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v", strings.Join(twice, ", "))
}
