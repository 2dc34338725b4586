package handler

import (
	"encoding/hex"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// MaxBody is the largest body that the server reads.
// staging/src/k8s.io/apiserver/pkg/server/config.go: NewConfig, MaxRequestBodyBytes.
const MaxBody = 3 * 1024 * 1024

// CheckSize follows staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go: limitedReadBody.
func CheckSize(body []byte) error {
	if len(body) > MaxBody {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxBody))
	}
	return nil
}

// CheckDirective answers a value of fieldValidation that the server does not know.
func CheckDirective(fieldValidation string) error {
	switch fieldValidation {
	case metav1.FieldValidationStrict, metav1.FieldValidationWarn, metav1.FieldValidationIgnore:
		return nil
	}
	return fmt.Errorf("fieldValidation %q is none of Strict, Warn, Ignore", fieldValidation)
}

// AfterDecoding gives what follows of an error of decoding: warnings, if the body was decoded and fieldValidation is Warn, or
// the refusal. staging/src/k8s.io/apiserver/pkg/endpoints/handlers/create.go: createHandler; update.go does the same.
func AfterDecoding(err error, decoded bool, fieldValidation, kind string, gvk *schema.GroupVersionKind, body []byte) ([]string, error) {
	if err == nil {
		return nil, nil
	}
	if strict, ok := runtime.AsStrictDecodingError(err); ok && decoded && fieldValidation == metav1.FieldValidationWarn {
		var warnings []string
		for _, e := range strict.Errors() {
			warnings = append(warnings, parseYAMLWarnings(e.Error())...)
		}
		return warnings, nil
	}
	// rest.go: transformDecodeError
	if gvk != nil && len(gvk.Kind) > 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, kind, err))
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summarizeData(body, 30)))
}

// parseYAMLWarnings follows rest.go: parseYAMLWarnings.
func parseYAMLWarnings(text string) []string {
	for _, prefix := range []string{"error converting YAML to JSON: yaml: unmarshal errors:\n", "yaml: unmarshal errors:\n"} {
		if rest, found := strings.CutPrefix(text, prefix); found {
			lines := strings.Split(rest, "\n")
			for i := range lines {
				lines[i] = strings.TrimSpace(lines[i])
			}
			return lines
		}
	}
	return []string{text}
}

// summarizeData follows rest.go: summarizeData.
func summarizeData(data []byte, most int) string {
	text := func(part []byte) string { return hex.EncodeToString(part) }
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		text = func(part []byte) string { return string(part) }
	}
	if len(data) > most {
		return text(data[:most]) + " ..."
	}
	return text(data)
}

// CheckVersion refuses a body of another version than the request's. create.go: createHandler.
func CheckVersion(got, want schema.GroupVersion) error {
	if got == want {
		return nil
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got, want))
}
