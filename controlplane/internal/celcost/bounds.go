package celcost

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Keywords that bound what a rule goes over.
const (
	maxItems      = "maxItems"
	maxProperties = "maxProperties"
	maxLength     = "maxLength"
)

// candidate is a schema whose size may be bounded.
type candidate struct {
	steps   []step
	key     string // its path, as the server spells it
	schema  *apiextensions.JSONSchemaProps
	keyword string
	// least is the smallest bound that contradicts nothing beside it; most the greatest worth trying.
	least, most int64
	unbounded   bool
}

// bounds are values for some candidates, by the candidates' keys.
type bounds map[string]int64

// candidateAt is the candidate at a path from the root, nil if there is nothing to bound.
func candidateAt(root *apiextensions.JSONSchemaProps, path *field.Path, steps []step) *candidate {
	schema := root
	for _, s := range steps {
		if schema = s.child(schema); schema == nil {
			return nil
		}
		path = s.path(path)
	}
	found := &candidate{steps: steps, key: path.String(), schema: schema, keyword: keywordOf(schema)}
	if found.keyword == "" {
		return nil
	}
	current := *found.bound(schema)
	found.most, found.unbounded = celconfig.MaxRequestSizeBytes, current == nil
	if current != nil {
		found.most = max(*current, 0)
	}
	found.least = leastOf(schema)
	return found
}

// keywordOf is what bounds a schema; the server looks at no bound of times and durations
// (k8s.io/apiserver/pkg/cel/common/schemas.go, SchemaDeclType).
func keywordOf(schema *apiextensions.JSONSchemaProps) string {
	switch {
	case schema.XIntOrString:
		return maxLength
	case schema.Type == "array":
		return maxItems
	case schema.Type == "object" && schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return maxProperties
	case schema.Type == "string" && schema.Format != "date" && schema.Format != "date-time" && schema.Format != "duration":
		return maxLength
	}
	return ""
}

// leastOf is the smallest bound that leaves room for what the schema itself asks for.
func leastOf(schema *apiextensions.JSONSchemaProps) int64 {
	least := int64(1)
	for _, smallest := range []*int64{schema.MinItems, schema.MinProperties, schema.MinLength} {
		if smallest != nil {
			least = max(least, *smallest)
		}
	}
	values := schema.Enum
	if schema.Default != nil {
		values = append(values[:len(values):len(values)], *schema.Default)
	}
	for _, value := range values {
		switch value := value.(type) {
		case string:
			least = max(least, int64(utf8.RuneCountInString(value)))
		case []any:
			least = max(least, int64(len(value)))
		case map[string]any:
			least = max(least, int64(len(value)))
		}
	}
	return least
}

// bound is where a schema keeps the candidate's keyword.
func (c *candidate) bound(schema *apiextensions.JSONSchemaProps) **int64 {
	switch c.keyword {
	case maxItems:
		return &schema.MaxItems
	case maxProperties:
		return &schema.MaxProperties
	default:
		return &schema.MaxLength
	}
}

// elements is the size that CEL takes for the candidate with that bound: upstream's conversion of a schema like it
// without what lies below, on which the size of a bounded one does not depend.
func (c *candidate) elements(value int64) int64 {
	small := &structuralschema.Structural{ValueValidation: &structuralschema.ValueValidation{Format: c.schema.Format}}
	small.Type, small.XIntOrString = c.schema.Type, c.schema.XIntOrString
	text := &structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	switch c.keyword {
	case maxItems:
		small.Items, small.ValueValidation.MaxItems = text, &value
	case maxProperties:
		small.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: text}
		small.ValueValidation.MaxProperties = &value
	default:
		small.ValueValidation.MaxLength = &value
	}
	return model.SchemaDeclType(small, false).MaxElements
}

// with is the schema with the candidate's bound set; what does not lie on the way to it is shared.
func (c *candidate) with(root *apiextensions.JSONSchemaProps, value int64) *apiextensions.JSONSchemaProps {
	return replaced(root, c.steps, func(schema *apiextensions.JSONSchemaProps) { *c.bound(schema) = &value })
}

func replaced(
	schema *apiextensions.JSONSchemaProps, steps []step, change func(*apiextensions.JSONSchemaProps),
) *apiextensions.JSONSchemaProps {
	copied := *schema
	if len(steps) == 0 {
		change(&copied)
		return &copied
	}
	child := replaced(steps[0].child(schema), steps[1:], change)
	switch steps[0].kind {
	case items:
		copied.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: child}
	case additionalProperties:
		copied.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: child}
	default:
		copied.Properties = maps.Clone(schema.Properties)
		copied.Properties[steps[0].name] = *child
	}
	return &copied
}

// fieldOf says in an object's terms where a schema's values lie: spec.hosts[].labels[*]. The root itself has
// nothing to bound: the server wants properties there.
func fieldOf(steps []step) string {
	var said strings.Builder
	for _, s := range steps {
		switch {
		case s.kind == items:
			said.WriteString("[]")
		case s.kind == additionalProperties:
			said.WriteString("[*]")
		case strings.ContainsAny(s.name, ".[]"):
			fmt.Fprintf(&said, "[%q]", s.name)
		default:
			said.WriteString("." + s.name)
		}
	}
	return strings.TrimPrefix(said.String(), ".")
}
