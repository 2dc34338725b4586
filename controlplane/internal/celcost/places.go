package celcost

import (
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// step leads from a schema to one below it.
type step struct {
	kind stepKind
	name string // of a property
}

type stepKind int

const (
	property stepKind = iota
	items
	additionalProperties
)

// child is the schema a step leads to, nil if there is none.
func (s step) child(schema *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	switch {
	case s.kind == property:
		if found, ok := schema.Properties[s.name]; ok {
			return &found
		}
	case s.kind == items && schema.Items != nil:
		return schema.Items.Schema
	case s.kind == additionalProperties && schema.AdditionalProperties != nil:
		return schema.AdditionalProperties.Schema
	}
	return nil
}

func (s step) context(parent *validation.CELSchemaContext, child *apiextensions.JSONSchemaProps) *validation.CELSchemaContext {
	switch s.kind {
	case items:
		return parent.ChildItemsContext(child)
	case additionalProperties:
		return parent.ChildAdditionalPropertiesContext(child)
	default:
		return parent.ChildPropertyContext(child, s.name)
	}
}

func (s step) path(parent *field.Path) *field.Path {
	switch s.kind {
	case items:
		return parent.Child("items")
	case additionalProperties:
		return parent.Child("additionalProperties")
	default:
		return parent.Child("properties").Key(s.name)
	}
}

// place is a schema inside a schema.
type place struct {
	steps   []step
	path    *field.Path
	schema  *apiextensions.JSONSchemaProps
	context *validation.CELSchemaContext
}

func rootPlace(root *apiextensions.JSONSchemaProps, path *field.Path) *place {
	return &place{path: path, schema: root, context: validation.RootCELContext(root)}
}

// below is the place one step below, nil if there is no schema.
func (p *place) below(s step) *place {
	child := s.child(p.schema)
	if child == nil {
		return nil
	}
	steps := append(p.steps[:len(p.steps):len(p.steps)], s)
	return &place{steps, s.path(p.path), child, s.context(p.context, child)}
}

// walk visits a place and all below it, in an order that does not change: the server's own order is random.
func (p *place) walk(visit func(*place)) {
	if p == nil {
		return
	}
	visit(p)
	p.below(step{kind: additionalProperties}).walk(visit)
	p.below(step{kind: items}).walk(visit)
	names := make([]string, 0, len(p.schema.Properties))
	for name := range p.schema.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		p.below(step{property, name}).walk(visit)
	}
}

// isRoot tells whether CEL sees apiVersion, kind and metadata here (validation's CELSchemaContext.TypeInfo).
func (p *place) isRoot() bool {
	return len(p.steps) == 0 || p.schema.XEmbeddedResource
}

// compile is what ValidateCustomResourceDefinitionOpenAPISchema does at a place with rules.
func (p *place) compile() ([]cel.CompilationResult, error) {
	types, err := p.context.TypeInfo()
	if err != nil || types == nil {
		return nil, err
	}
	return compile(types)
}

func compile(types *validation.CELTypeInfo) ([]cel.CompilationResult, error) {
	return cel.Compile(types.Schema, types.DeclType, celconfig.PerCallLimit, baseEnvironment(), cel.NewExpressionsEnvLoader())
}

// baseEnvironment is what new rules are compiled in (validation's ValidateCustomResourceDefinition).
func baseEnvironment() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
}

// expression is one rule or messageExpression and its cost.
type expression struct {
	place    *place
	index    int // in x-kubernetes-validations
	kind     string
	text     string
	path     *field.Path
	compiled bool
	// assumed is the cardinality that the server takes in an unbounded place.
	assumed uint64
	cost    uint64
}

// costs are those of one schema.
type costs struct {
	root        *apiextensions.JSONSchemaProps
	path        *field.Path
	expressions []*expression
	total       uint64
	known       map[string]*candidate // by key
}

// newCosts estimates all expressions of a schema. Where the server would not come to estimate them, because the schema
// is not structural, none is compiled.
func newCosts(root *apiextensions.JSONSchemaProps, path *field.Path) (*costs, error) {
	all := &costs{root: root, path: path, known: map[string]*candidate{}}
	structural, err := structuralschema.NewStructural(root)
	sound := err == nil && len(structuralschema.ValidateStructural(path, structural)) == 0
	top := rootPlace(root, path)
	var failed error
	top.walk(func(p *place) {
		if len(p.schema.XValidations) == 0 || failed != nil {
			return
		}
		var compiled []cel.CompilationResult
		if sound {
			if compiled, failed = p.compile(); failed != nil {
				return
			}
		}
		all.observe(p, compiled)
	})
	all.total = top.context.TotalCost.Total
	return all, failed
}

// observe notes the costs at one place, and adds them to the total as the validation does.
func (c *costs) observe(p *place, compiled []cel.CompilationResult) {
	at := p.path.Child("x-kubernetes-validations")
	for i, rule := range p.schema.XValidations {
		one := &expression{place: p, index: i, kind: Rule, text: rule.Rule, path: at.Index(i).Child(Rule)}
		c.expressions = append(c.expressions, one)
		var result cel.CompilationResult
		if compiled != nil {
			result = compiled[i]
		}
		if result.Program != nil {
			one.compiled, one.assumed = true, result.MaxCardinality
			one.cost = times(result.MaxCost, p.cardinality(result.MaxCardinality))
			p.context.TotalCost.ObserveExpressionCost(one.path, one.cost)
		}
		if rule.MessageExpression == "" {
			continue
		}
		message := &expression{
			place: p, index: i, kind: MessageExpression, text: rule.MessageExpression, path: at.Index(i).Child(MessageExpression),
		}
		c.expressions = append(c.expressions, message)
		if result.MessageExpression != nil {
			message.compiled, message.cost = true, result.MessageExpressionMaxCost
			p.context.TotalCost.ObserveExpressionCost(message.path, message.cost)
		}
	}
}

// cardinality is what the server multiplies a rule's cost by (validation's getExpressionCost).
func (p *place) cardinality(assumed uint64) uint64 {
	if p.context.MaxCardinality != nil {
		return *p.context.MaxCardinality
	}
	return assumed
}

// candidate is the schema at those steps from the root, if it can be bounded; the same pointer each time.
func (c *costs) candidate(steps []step) *candidate {
	found := candidateAt(c.root, c.path, steps)
	if found == nil {
		return nil
	}
	if known := c.known[found.key]; known != nil {
		return known
	}
	c.known[found.key] = found
	return found
}
