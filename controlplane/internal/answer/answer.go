// Package answer answers questions about definitions and objects, one line of JSON for each line of JSON.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"labkit.example/controlplane/internal/definition"
	"labkit.example/controlplane/internal/handler"
	"labkit.example/controlplane/internal/trace"
)

// Answerer answers requests, one at a time.
type Answerer struct {
	definitions *definition.Cache
	// AllowWithout lets a request leave out stages.
	AllowWithout bool
}

// New makes an Answerer that remembers the last definitions.
func New() *Answerer { return &Answerer{definitions: definition.NewCache(32)} }

// request holds what any method may be asked; see the module's README.
type request struct {
	ID              json.RawMessage `json:"id"`
	Do              string          `json:"do"`
	Definition      *string         `json:"definition"`
	OldDefinition   *string         `json:"oldDefinition"`
	Object          *string         `json:"object"`
	Objects         []string        `json:"objects"`
	Old             *string         `json:"old"`
	Operation       string          `json:"operation"`
	ReadVersion     string          `json:"readVersion"`
	FieldValidation string          `json:"fieldValidation"`
	Namespace       string          `json:"namespace"`
	Without         []string        `json:"without"`
}

// methods are what can be asked to do.
var methods map[string]func(*Answerer, *request) (any, error)

func init() {
	methods = map[string]func(*Answerer, *request) (any, error){
		"trace":    (*Answerer).trace,
		"define":   (*Answerer).define,
		"cel-cost": (*Answerer).celCost,
		"preview":  (*Answerer).preview,
	}
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Error says why there is no result.
type Error struct {
	// Kind names the text at fault: request, definition, object, old, oldDefinition; or internal.
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Lines and Status are the server's, if it would have answered.
	Lines  []string       `json:"lines"`
	Status *metav1.Status `json:"status,omitempty"`
}

// fault is an error with its kind.
type fault struct {
	kind string
	error
}

func (f *fault) Unwrap() error { return f.error }

// Line answers one line, and tells whether the answer is a result. It always answers: a panic is an error of kind internal.
func (a *Answerer) Line(line []byte) (answer []byte, ok bool) {
	reply := reply{ID: json.RawMessage("null")}
	reply.Result, reply.Error = a.line(line, &reply.ID)
	answer, err := json.Marshal(reply)
	if err != nil {
		reply.Result, reply.Error = nil, asError(&fault{"internal", err})
		answer, _ = json.Marshal(reply)
	}
	return answer, reply.Error == nil
}

// refuse answers what is no request.
func (a *Answerer) refuse(err error) ([]byte, bool) {
	answer, _ := json.Marshal(reply{ID: json.RawMessage("null"), Error: asError(&fault{"request", err})})
	return answer, false
}

func (a *Answerer) line(line []byte, id *json.RawMessage) (result any, failure *Error) {
	defer func() {
		if cause := recover(); cause != nil {
			result, failure = nil, asError(&fault{"internal", fmt.Errorf("panic: %v", cause)})
		}
	}()
	r, err := parse(line)
	if r != nil && r.ID != nil {
		*id = r.ID
	}
	if err == nil {
		result, err = methods[r.Do](a, r)
	}
	if err != nil {
		return nil, asError(err)
	}
	return result, nil
}

// asError sorts out what is known of an error.
func asError(err error) *Error {
	told := &Error{Kind: "internal", Message: oneLine(err.Error()), Lines: []string{}}
	var refusal *handler.Refusal
	if errors.As(err, &refusal) {
		told.Lines, told.Status = refusal.Lines, refusal.Status
	}
	var input *trace.InputError
	var old *definition.OldError
	var known *fault
	switch {
	case errors.As(err, &input):
		told.Kind = input.Kind
	case errors.As(err, &old):
		told.Kind = "oldDefinition"
	case errors.As(err, &known):
		told.Kind = known.kind
	}
	return told
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// definition gives the definition of a request, registered or refused.
func (a *Answerer) definition(r *request) (*definition.Definition, error) {
	if r.Definition == nil {
		return nil, &fault{"request", errors.New("the request has no definition")}
	}
	validation := r.FieldValidation
	if r.Do != "define" || validation == "" {
		validation = metav1.FieldValidationStrict
	}
	d, err := a.definitions.Get(*r.Definition, r.OldDefinition, validation)
	if err != nil {
		return nil, &fault{"definition", err}
	}
	return d, nil
}

func (a *Answerer) trace(r *request) (any, error) {
	d, err := a.definition(r)
	if err != nil {
		return nil, err
	}
	if d.Refusal != nil {
		return nil, &fault{"definition", d.Refusal}
	}
	switch {
	case r.Object == nil:
		return nil, &fault{"request", errors.New("the request has no object")}
	case len(r.Without) > 0 && !a.AllowWithout:
		return nil, &fault{"request", errors.New("stages can be left out only if the process was started with --allow-without")}
	}
	serving, err := d.Serve()
	if err != nil {
		return nil, err
	}
	return trace.Trace(serving, trace.Request{
		Object: *r.Object, Old: r.Old, Operation: r.Operation, ReadVersion: r.ReadVersion, FieldValidation: r.FieldValidation,
		Namespace: r.Namespace, Without: r.Without,
	})
}

// defined is the result of define.
type defined struct {
	Verdict  string         `json:"verdict"`
	Status   *metav1.Status `json:"status"`
	Lines    []string       `json:"lines"`
	Warnings []string       `json:"warnings"`
	definition.Names
}

func (a *Answerer) define(r *request) (any, error) {
	d, err := a.definition(r)
	if err != nil {
		return nil, err
	}
	result := defined{Verdict: trace.Accepted, Lines: []string{}, Warnings: d.Warnings(), Names: d.Names()}
	if d.Refusal != nil {
		result.Verdict, result.Status, result.Lines = trace.Refused, d.Refusal.Status, d.Refusal.Lines
	}
	return result, nil
}
