// Package celcost estimates what the rules of a definition cost, as the API server does before it accepts the
// definition, and looks for the bounds that would make a refused rule acceptable.
//
// The numbers are upstream's own: the rules are compiled by apiextensions' schema/cel, at the places and with the
// cardinalities of the validation's CELSchemaContext. This package only walks to the places, in the way of
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go,
// ValidateCustomResourceDefinitionOpenAPISchema, and keeps the numbers that it throws away.
package celcost

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits that the server compares with.
const (
	ExpressionLimit = uint64(validation.StaticEstimatedCostLimit)
	SchemaLimit     = uint64(validation.StaticEstimatedCRDCostLimit)
)

// Kinds of expressions.
const (
	Rule              = "rule"
	MessageExpression = "messageExpression"
)

// Number is a count that may be as great as 2^64-1. JSON readers keep integers exactly up to 2^53 only; greater ones
// are written as strings.
type Number uint64

// MarshalJSON writes a number, or from 2^53 on a string of its digits.
func (n Number) MarshalJSON() ([]byte, error) {
	if n > 1<<53 {
		return json.Marshal(fmt.Sprintf("%d", uint64(n)))
	}
	return json.Marshal(uint64(n))
}

// Result is what the rules of one definition cost.
type Result struct {
	Expressions []*Expression `json:"expressions"`
	Schemas     []Schema      `json:"schemas"`
	// Lines are all the errors for which the server would refuse the definition.
	Lines []string `json:"lines"`
}

// Expression is one rule or messageExpression of one version.
type Expression struct {
	Version    string `json:"version"`
	Path       string `json:"path"`
	Kind       string `json:"kind"`
	Expression string `json:"expression"`
	// EstimatedCost is the number that the server compares with the limit; nil if it could not be compiled.
	EstimatedCost *Number `json:"estimatedCost"`
	// Cardinality is how often the place of the expression can occur in an object; nil is unbounded. The server
	// multiplies the cost of a rule by it, but not that of a messageExpression.
	Cardinality     *Number  `json:"cardinality"`
	ExpressionLimit Number   `json:"expressionLimit"`
	SchemaLimit     Number   `json:"schemaLimit"`
	Share           Share    `json:"share"`
	Advice          []Advice `json:"advice"`
	// Error is what the server says of this expression, its lines joined by line breaks; empty if nothing.
	Error string `json:"error"`
}

// Share is the cost as a part of each limit; 1 is all of it.
type Share struct {
	Expression float64 `json:"expression"`
	Schema     float64 `json:"schema"`
}

// Kinds of advice: what is brought under a limit, or cannot be.
const (
	// adviseBounds brings an expression that is refused under its limit.
	adviseBounds = "bounds"
	// adviseRoom brings an expression that is accepted to a tenth of its limit, to leave room for others.
	adviseRoom = "room"
	// adviseTotal brings the schema's total under its limit.
	adviseTotal = "total"
	// adviseNoBounds, adviseNoRoom, adviseNoTotal: no bounds do that.
	adviseNoBounds = "noBounds"
	adviseNoRoom   = "noRoom"
	adviseNoTotal  = "noTotal"
	// adviseDefaults: bounds that would do make a default value invalid.
	adviseDefaults = "defaults"
)

// Of how many of the bounds one more would be too many.
const (
	ofAny  = "any"
	ofEach = "each"
)

// Advice is one way to a lower cost, estimated anew as if it had been followed, or that there is none. It has no words:
// who shows it says it, in the reader's language.
type Advice struct {
	Kind   string  `json:"kind"`
	Bounds []Bound `json:"bounds"`
	// OneMore is "any" if one more of any of the bounds would be too many, "each" if one more of each, all at once;
	// empty if greater ones may do.
	OneMore string `json:"oneMore,omitempty"`
	// EstimatedCost is that of the expression with the advice followed; nil if there is nothing to follow.
	EstimatedCost *Number `json:"estimatedCost"`
	// Total is the schema's with the advice followed, if that is what it is for.
	Total *Number `json:"total,omitempty"`
	// Expression is what to write instead where no bounds help.
	Expression string `json:"expression,omitempty"`
	// Least is what the expression costs even with the least bounds; nil if it depends on none.
	Least *Number `json:"least,omitempty"`
	// Unsized are parts of the expression whose greatest length is assumed, because nothing tells how long they can be.
	Unsized []string `json:"unsized,omitempty"`
	// Tried is for how many of the costliest expressions bounds were looked for.
	Tried int `json:"tried,omitempty"`
}

// Bound is a keyword of a schema, with the greatest value that does.
type Bound struct {
	Path string `json:"path"`
	// Field is where the schema's values lie in an object: spec.hosts[].labels[*].
	Field   string `json:"field"`
	Keyword string `json:"keyword"`
	Value   int64  `json:"value"`
	// Present is the value that the keyword has now; nil if it has none.
	Present *int64 `json:"present"`
}

// Schema is the total of one version's schema.
type Schema struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Total   Number `json:"total"`
	Limit   Number `json:"limit"`
}

// Estimate returns the costs of a definition in the internal form; lines are those for which the server refuses it.
func Estimate(definition *apiextensions.CustomResourceDefinition, lines []string) (*Result, error) {
	result := &Result{Expressions: []*Expression{}, Schemas: []Schema{}, Lines: append([]string{}, lines...)}
	for _, one := range schemasOf(definition) {
		costs, err := newCosts(one.root, one.path)
		if err != nil {
			return nil, err
		}
		advice, err := newAdviser(costs).advise()
		if err != nil {
			return nil, err
		}
		for _, version := range one.versions {
			result.Schemas = append(result.Schemas, Schema{version, one.path.String(), Number(costs.total), Number(SchemaLimit)})
			for _, e := range costs.expressions {
				result.Expressions = append(result.Expressions, e.answer(version, lines, advice[e]))
			}
		}
	}
	return result, nil
}

func (e *expression) answer(version string, lines []string, advice []Advice) *Expression {
	path, said := e.path.String(), []string(nil)
	for _, line := range lines {
		if strings.HasPrefix(line, path+": ") {
			said = append(said, line)
		}
	}
	if advice == nil {
		advice = []Advice{}
	}
	answer := &Expression{
		Version: version, Path: path, Kind: e.kind, Expression: e.text,
		ExpressionLimit: Number(ExpressionLimit), SchemaLimit: Number(SchemaLimit), Advice: advice, Error: strings.Join(said, "\n"),
	}
	if e.place.context.MaxCardinality != nil {
		answer.Cardinality = number(*e.place.context.MaxCardinality)
	}
	if e.compiled {
		answer.EstimatedCost = number(e.cost)
		answer.Share = Share{float64(e.cost) / float64(ExpressionLimit), float64(e.cost) / float64(SchemaLimit)}
	}
	return answer
}

// versionedSchema is a schema that the server validates by itself: that of one version, or of all when they are equal.
type versionedSchema struct {
	versions []string
	path     *field.Path
	root     *apiextensions.JSONSchemaProps
}

// schemasOf finds the schemas where the validation finds them: in the internal form a schema that all versions share
// lies at the top (pkg/apis/apiextensions/v1/conversion.go), else each version has its own.
func schemasOf(definition *apiextensions.CustomResourceDefinition) []versionedSchema {
	spec := field.NewPath("spec")
	var found []versionedSchema
	var names []string
	for i, version := range definition.Spec.Versions {
		names = append(names, version.Name)
		if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			path := spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema")
			found = append(found, versionedSchema{[]string{version.Name}, path, version.Schema.OpenAPIV3Schema})
		}
	}
	if top := definition.Spec.Validation; top != nil && top.OpenAPIV3Schema != nil {
		found = append(found, versionedSchema{names, spec.Child("validation", "openAPIV3Schema"), top.OpenAPIV3Schema})
	}
	return found
}

func number(value uint64) *Number {
	n := Number(value)
	return &n
}

// times multiplies as the validation's multiplyWithOverflowGuard, which is not exported.
func times(cost, cardinality uint64) uint64 {
	over, product := bits.Mul64(cost, cardinality)
	if over != 0 {
		return ^uint64(0)
	}
	return product
}
