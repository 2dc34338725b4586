package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Stage is one step on an object's way. Its JSON holds the facts beside the name.
type Stage struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Source string `json:"source"`
	// Object is the object after the stage; nil if the stage did not change it.
	Object map[string]any `json:"object,omitempty"`
	Facts  any            `json:"-"`
}

// MarshalJSON writes the facts beside the name.
func (s Stage) MarshalJSON() ([]byte, error) {
	type plain Stage
	head, err := json.Marshal(plain(s))
	if err != nil || s.Facts == nil {
		return head, err
	}
	facts, err := json.Marshal(s.Facts)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", s.Name, err)
	}
	if bytes.Equal(facts, []byte("{}")) {
		return head, nil
	}
	return slices.Concat(head[:len(head)-1], []byte(","), facts[1:]), nil
}

// The names of the stages, in the server's order.
const (
	decoding       = "decoding"
	pruning        = "pruning"
	defaulting     = "defaulting"
	admission      = "admission"
	preparing      = "preparing"
	validation     = "validation"
	celRules       = "cel"
	ratcheting     = "ratcheting"
	conversion     = "conversion"
	storing        = "storing"
	reading        = "reading"
	readPruning    = "read-pruning"
	readDefaulting = "read-defaulting"
	readConversion = "read-conversion"
	handlerFile    = "staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go: "
	strategyFile   = "staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go: "
)

// about holds a stage's title and the place in Kubernetes' sources that it follows.
var about = map[string][2]string{
	decoding:       {"The body becomes an object", "staging/src/k8s.io/apimachinery/pkg/runtime/serializer/json/json.go: Serializer.Decode"},
	pruning:        {"Fields that the schema does not know are dropped", handlerFile + "unstructuredSchemaCoercer.apply"},
	defaulting:     {"Absent fields get the schema's defaults", handlerFile + "unstructuredDefaulter.Default"},
	admission:      {"Webhooks and policies may change the object", "staging/src/k8s.io/apiserver/pkg/endpoints/handlers/create.go: createHandler"},
	preparing:      {"Fields that belong to the server are set", strategyFile + "PrepareForCreate, PrepareForUpdate"},
	validation:     {"Values are compared with the schema", strategyFile + "Validate, ValidateUpdate"},
	celRules:       {"CEL rules are run", "staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go: Validator.Validate"},
	ratcheting:     {"Errors in what did not change are forgiven", "staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/validation/ratcheting.go: ratchetingValueValidator.Validate"},
	conversion:     {"The object is converted to the storage version", handlerFile + "schemaCoercingConverter.ConvertToVersion"},
	storing:        {"The object is written to etcd", "staging/src/k8s.io/apiserver/pkg/storage/etcd3/store.go: Create, GuaranteedUpdate"},
	reading:        {"The object is read from etcd", "staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/helpers.go: UnstructuredJSONScheme"},
	readPruning:    {"Fields that the stored version's schema does not know are dropped", handlerFile + "schemaCoercingDecoder.Decode"},
	readDefaulting: {"Absent fields get the defaults of the stored version", handlerFile + "unstructuredDefaulter.Default"},
	readConversion: {"The object is converted to the version that was asked for", handlerFile + "schemaCoercingConverter.Convert"},
}

// Decoding tells what a strict decoder complains of.
type Decoding struct {
	Unknown    []string `json:"unknown"`
	Duplicated []string `json:"duplicated"`
	// Errors are the decoder's own texts, or the one that ended the decoding.
	Errors []string `json:"errors"`
}

// Pruning tells what was dropped: unknown fields, and nulls of fields that may not be null and have no default.
type Pruning struct {
	Paths []string `json:"paths"`
	Nulls []string `json:"nulls"`
}

// Defaulting tells what was added.
type Defaulting struct {
	Added []Added `json:"added"`
}

// Added is a value that was put in.
type Added struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Admission tells that nobody may change the object.
type Admission struct {
	Configured bool   `json:"configured"`
	Text       string `json:"text"`
}

// Preparing tells what the server did not take from the request, and kept of the old object.
type Preparing struct {
	Dropped    []string `json:"dropped"`
	Kept       []string `json:"kept"`
	Generation int64    `json:"generation"`
}

// Validation tells all errors in values.
type Validation struct {
	Errors []FieldError `json:"errors"`
}

// FieldError is one error of the server. A forgiven one did not count, because the value had it before.
type FieldError struct {
	Line     string `json:"line"`
	Field    string `json:"field"`
	Type     string `json:"type"`
	Detail   string `json:"detail"`
	Value    any    `json:"value"`
	Forgiven bool   `json:"forgiven"`
}

// CEL tells what the rules said. Cost and budget are in CEL's cost units, for the whole object.
type CEL struct {
	Rules  []RuleResult `json:"rules"`
	Cost   int64        `json:"cost"`
	Budget int64        `json:"budget"`
}

// Ratcheting tells which errors did not count, and which of them became warnings.
type Ratcheting struct {
	Forgiven []string `json:"forgiven"`
	Warnings []string `json:"warnings"`
}

// Conversion tells from which version to which, and what the target's schema does not know.
type Conversion struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Pruned []string `json:"pruned"`
}

// Storing tells where in etcd, and how many bytes.
type Storing struct {
	Key   string `json:"key"`
	Bytes int    `json:"bytes"`
}
