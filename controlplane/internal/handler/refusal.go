// Package handler says what the API server's request handlers say: the Status of a refusal, the text of a body that cannot be
// decoded, the warnings. The handlers themselves (staging/src/k8s.io/apiserver/pkg/endpoints) keep these functions to themselves.
package handler

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Refusal is a request that the server answers with a failure.
type Refusal struct {
	Status *metav1.Status
	// Lines are the server's errors, sorted, each once: "field: Type: value: detail", or the message of the Status.
	Lines []string
}

func (r *Refusal) Error() string { return r.Status.Message }

// Refuse makes a refusal of any error that a handler meets. The server finds the errors of an object's fields in random order;
// here they are sorted.
func Refuse(err error) *Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	status := statusOf(err)
	if status.Reason != metav1.StatusReasonInvalid || status.Details == nil || len(status.Details.Causes) == 0 {
		return &Refusal{Status: status, Lines: []string{status.Message}}
	}
	// staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go: NewInvalid
	slices.SortStableFunc(status.Details.Causes, func(a, b metav1.StatusCause) int {
		return cmp.Compare(line(a), line(b))
	})
	lines := make([]string, len(status.Details.Causes))
	for i, cause := range status.Details.Causes {
		lines[i] = line(cause)
	}
	lines = slices.Compact(lines)
	errs := make([]error, len(lines))
	for i, text := range lines {
		errs[i] = errors.New(text)
	}
	kind := schema.GroupKind{Group: status.Details.Group, Kind: status.Details.Kind}
	status.Message = fmt.Sprintf("%s %q is invalid: %v", kind.String(), status.Details.Name, utilerrors.NewAggregate(errs))
	return &Refusal{Status: status, Lines: lines}
}

// Lines gives the errors as sorted lines, each once.
func Lines(errs field.ErrorList) []string {
	lines := []string{}
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// line follows staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go: Error.Error.
func line(cause metav1.StatusCause) string { return cause.Field + ": " + cause.Message }

// statusOf follows staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/status.go: ErrorToAPIStatus.
func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		return &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
		}
	}
	status := known.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	return status.DeepCopy()
}
