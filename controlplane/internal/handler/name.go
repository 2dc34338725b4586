package handler

import (
	"fmt"

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
