package trace

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/lru"

	"labkit.example/controlplane/internal/definition"
)

// ruleNode holds the rules of one node of a schema, each by itself, in the tree that the server builds of all of them:
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go: validator
type ruleNode struct {
	schema            *structuralschema.Structural
	rules             []*rule
	items, additional *ruleNode
	properties        map[string]*ruleNode
}

// rule is one rule that can be run alone.
type rule struct {
	apiextensionsv1.ValidationRule
	schemaPath string
	compile    func() compiledRule
}

type compiledRule struct {
	validator   *cel.Validator
	usesOldSelf bool
}

// ruleTrees keeps the trees of the versions that were used last.
var (
	ruleTrees     = lru.New(64)
	ruleTreesLock sync.Mutex
)

// rulesOf gives nil for a version without rules.
func rulesOf(v *definition.Version) *ruleNode {
	if v.CEL() == nil {
		return nil
	}
	ruleTreesLock.Lock()
	defer ruleTreesLock.Unlock()
	if known, found := ruleTrees.Get(v); found {
		return known.(*ruleNode)
	}
	tree := newRuleNode(v.Structural, true, v.SchemaPath)
	ruleTrees.Add(v, tree)
	return tree
}

// newRuleNode gives nil where there are no rules. The server would look under allOf too, but lets no rule be there.
func newRuleNode(s *structuralschema.Structural, isResourceRoot bool, path *field.Path) *ruleNode {
	if !hasRules(s) {
		return nil
	}
	n := &ruleNode{schema: s, properties: map[string]*ruleNode{}}
	bare := sync.OnceValue(func() *structuralschema.Structural { return withoutRules(s) })
	for i, each := range s.XValidations {
		n.rules = append(n.rules, newRule(each, bare, isResourceRoot, path.Child("x-kubernetes-validations").Index(i)))
	}
	if s.Items != nil {
		n.items = newRuleNode(s.Items, s.Items.XEmbeddedResource, path.Child("items"))
	}
	for name, property := range s.Properties {
		if hasRules(&property) && model.SchemaDeclType(&property, property.XEmbeddedResource) != nil { // rules see no fields of unknown type
			n.properties[name] = newRuleNode(&property, property.XEmbeddedResource, path.Child("properties").Key(name))
		}
	}
	if more := s.AdditionalProperties; more != nil && more.Structural != nil {
		n.additional = newRuleNode(more.Structural, more.Structural.XEmbeddedResource, path.Child("additionalProperties"))
	}
	return n
}

// newRule compiles at its first run: most rules of a large definition never meet a value.
func newRule(each apiextensionsv1.ValidationRule, bare func() *structuralschema.Structural, isResourceRoot bool, path *field.Path) *rule {
	return &rule{ValidationRule: each, schemaPath: path.String(), compile: sync.OnceValue(func() compiledRule {
		alone := *bare()
		alone.XValidations = apiextensionsv1.ValidationRules{each}
		compiled := compiledRule{validator: cel.NewValidator(&alone, isResourceRoot, celconfig.PerCallLimit)}
		results, err := cel.Compile(&alone, model.SchemaDeclType(&alone, isResourceRoot), celconfig.PerCallLimit,
			environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.StoredExpressionsEnvLoader())
		compiled.usesOldSelf = err == nil && len(results) == 1 && results[0].UsesOldSelf
		return compiled
	})}
}

func hasRules(s *structuralschema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || hasRules(s.Items) || s.AdditionalProperties != nil && hasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, property := range s.Properties {
		if hasRules(&property) {
			return true
		}
	}
	return false
}

// withoutRules copies the schema, as far as its values' types go, without any rule.
func withoutRules(s *structuralschema.Structural) *structuralschema.Structural {
	if s == nil || !hasRules(s) {
		return s
	}
	bare := *s
	bare.XValidations = nil
	bare.Items = withoutRules(s.Items)
	if s.AdditionalProperties != nil {
		bare.AdditionalProperties = &structuralschema.StructuralOrBool{
			Bool: s.AdditionalProperties.Bool, Structural: withoutRules(s.AdditionalProperties.Structural)}
	}
	if s.Properties != nil {
		bare.Properties = make(map[string]structuralschema.Structural, len(s.Properties))
		for name, property := range s.Properties {
			bare.Properties[name] = *withoutRules(&property)
		}
	}
	return &bare
}
