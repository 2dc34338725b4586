// Package trace follows one object through the API server: every stage of a write and of a read, in the server's order and with
// the server's functions. It decides nothing itself; each stage names the file that it follows.
package trace

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"labkit.example/controlplane/internal/definition"
)

// The operations.
const (
	Create = "create" // a POST of the object
	Update = "update" // a PUT of the object over the old one
	Read   = "read"   // a GET of the object that lies in etcd
)

// Request is one object to be followed. Empty fields have defaults.
type Request struct {
	// Object and Old are texts of one document each. Old, and the Object of a Read, are what lies in etcd.
	Object string
	Old    *string
	// Operation is Update by default if there is an old object, else Create.
	Operation string
	// ReadVersion is the version in which the object is read back; by default its own.
	ReadVersion string
	// FieldValidation is Strict (the default, as kubectl asks), Warn or Ignore.
	FieldValidation string
	// Namespace of the request; by default the object's, else "default".
	Namespace string
	// Without names stages that are left out, or "swap:A,B" for two that change places: for a proof that this would be noticed.
	Without []string
}

// The verdicts.
const (
	Accepted = "accepted"
	Refused  = "refused"
	Unknown  = "unknown"
)

// Result is what became of the object.
type Result struct {
	Operation string `json:"operation"`
	Verdict   string `json:"verdict"`
	// Reason says why a verdict is unknown, or why what was written cannot be read back.
	Reason   string         `json:"reason"`
	Status   *metav1.Status `json:"status"`
	Lines    []string       `json:"lines"`
	Warnings []string       `json:"warnings"`
	Stages   []Stage        `json:"stages"`
	// Stored is the object in etcd, Read the same read back; nil if there is none.
	Stored map[string]any `json:"stored"`
	Read   map[string]any `json:"read"`
}

// InputError says which text of a request makes no request to the server.
type InputError struct {
	Kind string // "request", "object" or "old"
	Err  error
}

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func bad(kind, format string, args ...any) error {
	return &InputError{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Trace follows the object of a request through the server that serves the definition. The error is an *InputError, or tells of
// a fault of this program.
func Trace(s *definition.Serving, request Request) (*Result, error) {
	p, err := newPath(s, request)
	if err != nil {
		return nil, err
	}
	if err := p.follow(); err != nil {
		return nil, err
	}
	return p.result(), nil
}
