package celcost

import (
	"fmt"
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// scope is what the expressions of one place see: their types, which carry the sizes that an estimate goes by.
type scope struct {
	costs *costs
	place *place
	types *apiservercel.DeclType
	envs  map[bool]*celgo.Env // by optionalOldSelf
}

func newScope(all *costs, p *place) (*scope, error) {
	types, err := typesAt(p)
	if err != nil {
		return nil, err
	}
	return &scope{costs: all, place: p, types: types.DeclType, envs: map[bool]*celgo.Env{}}, nil
}

// typesAt converts the schema of one place, as validation's defaultConverter.
func typesAt(p *place) (*validation.CELTypeInfo, error) {
	structural, err := structuralschema.NewStructural(p.schema)
	if err != nil {
		return nil, err
	}
	types := model.SchemaDeclType(structural, p.isRoot())
	if types == nil {
		return nil, fmt.Errorf("%s has no CEL type", p.path)
	}
	return &validation.CELTypeInfo{Schema: structural, DeclType: types}, nil
}

// env is where the expressions of the place are compiled, as prepareEnvSet has it
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go).
func (s *scope) env(optionalOldSelf bool) (*celgo.Env, error) {
	if env := s.envs[optionalOldSelf]; env != nil {
		return env, nil
	}
	self := s.types.MaybeAssignTypeName("selfType")
	old := self.CelType()
	if optionalOldSelf {
		old = types.NewOptionalType(old)
	}
	set, err := baseEnvironment().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []celgo.EnvOption{celgo.Variable(cel.ScopedVarName, self.CelType()), celgo.Variable(cel.OldScopedVarName, old)},
		DeclTypes:         []*apiservercel.DeclType{self},
	})
	if err != nil {
		return nil, err
	}
	s.envs[optionalOldSelf] = set.NewExpressionsEnv()
	return s.envs[optionalOldSelf], nil
}

// estimator estimates one expression again and again with other bounds. A search asks for dozens of estimates; compiling
// for each takes a millisecond, and changing the sizes in the types 20 µs. What a search finds is confirmed by compiling.
type estimator struct {
	expression *expression
	scope      *scope
	env        *celgo.Env
	ast        *celgo.Ast
	// candidates are what the estimate depends on, the outermost first.
	candidates []*candidate
	sized      map[string]*apiservercel.DeclType // types of the candidates inside the place, by key
	unsized    []string                          // parts of the expression whose size nothing tells
	above      []ancestor
}

func newEstimator(s *scope, e *expression) (*estimator, error) {
	rule := e.place.schema.XValidations[e.index]
	env, err := s.env(rule.OptionalOldSelf != nil && *rule.OptionalOldSelf)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(e.text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("%s: %w", e.path, issues.Err())
	}
	one := &estimator{expression: e, scope: s, env: env, ast: ast, sized: map[string]*apiservercel.DeclType{}}
	if e.kind == Rule {
		schema := s.costs.root
		for i, step := range e.place.steps {
			above := ancestor{schema: schema}
			if step.kind != property {
				above.candidate = one.add(e.place.steps[:i:i])
			}
			one.above = append(one.above, above)
			schema = step.child(schema)
		}
		one.above = append(one.above, ancestor{schema: schema})
	}
	if _, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: &sizes{one, true}}); err != nil {
		return nil, fmt.Errorf("%s: %w", e.path, err)
	}
	return one, nil
}

func (one *estimator) add(steps []step) *candidate {
	found := one.scope.costs.candidate(steps)
	if found != nil && !slices.Contains(one.candidates, found) {
		one.candidates = append(one.candidates, found)
	}
	return found
}

// cost is the number that the server would compare with the limit, were these the bounds.
func (one *estimator) cost(b bounds) (uint64, error) {
	for key, node := range one.sized {
		if value, ok := b[key]; ok {
			before := node.MaxElements
			node.MaxElements = one.scope.costs.known[key].elements(value)
			defer func() { node.MaxElements = before }()
		}
	}
	estimated, err := one.env.EstimateCost(one.ast, &library.CostEstimator{SizeEstimator: &sizes{one, false}})
	if err != nil || one.expression.kind == MessageExpression {
		return estimated.Max, err
	}
	return times(estimated.Max, one.cardinality(b)), nil
}

// cardinality of the place, by upstream's own contexts along the way to it.
func (one *estimator) cardinality(b bounds) uint64 {
	at := place{context: validation.RootCELContext(one.above[0].bounded(b))}
	for i, s := range one.expression.place.steps {
		at.context = s.context(at.context, one.above[i+1].bounded(b))
	}
	return at.cardinality(one.expression.assumed)
}

// ancestor is a schema on the way to a place, the place's own at last; candidate is nil if it cannot be bounded.
type ancestor struct {
	schema    *apiextensions.JSONSchemaProps
	candidate *candidate
}

func (a ancestor) bounded(b bounds) *apiextensions.JSONSchemaProps {
	if a.candidate == nil {
		return a.schema
	}
	value, ok := b[a.candidate.key]
	if !ok {
		return a.schema
	}
	copied := *a.schema
	*a.candidate.bound(&copied) = &value
	return &copied
}

// sizes tells the estimate how great a value can be, from the types of the place; as the sizeEstimator of
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, which is not exported. When it listens, it
// also notes what it is asked for.
type sizes struct {
	of      *estimator
	listens bool
}

func (s *sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func (s *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		if s.listens {
			s.of.noteUnsized(element)
		}
		return nil
	}
	node, steps := s.of.scope.resolve(path[1:], s.listens)
	if node == nil {
		return nil
	}
	if s.listens && steps != nil {
		if found := s.of.add(steps); found != nil {
			s.of.sized[found.key] = node
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(node.MaxElements)}
}

// resolve follows an expression's path; if asked also as steps from the schema's root, nil where there is no schema.
func (s *scope) resolve(path []string, wantSteps bool) (*apiservercel.DeclType, []step) {
	node := s.types
	steps, known := slices.Clone(s.place.steps), wantSteps
	for _, name := range path {
		var next step
		switch name {
		case "@items", "@values":
			next = step{kind: items}
			if node.IsMap() {
				next = step{kind: additionalProperties}
			}
			node = node.ElemType
		case "@keys":
			node, known = node.KeyType, false
		default:
			found, ok := node.Fields[name]
			if !ok {
				return nil, nil
			}
			node = found.Type
			var fine bool
			next.name, fine = apiservercel.Unescape(name)
			known = known && fine
		}
		if node == nil {
			return nil, nil
		}
		steps = append(steps, next)
	}
	if !known {
		return node, nil
	}
	return node, steps
}

// noteUnsized remembers a call whose result may be of any size: neither CEL nor a schema bounds it.
func (one *estimator) noteUnsized(element checker.AstNode) {
	expr := element.Expr()
	if expr == nil || expr.Kind() != celast.CallKind || element.Type() == nil {
		return
	}
	switch element.Type().Kind() {
	case types.StringKind, types.BytesKind, types.ListKind, types.MapKind, types.DynKind:
	default:
		return
	}
	if name := expr.AsCall().FunctionName(); strings.HasPrefix(name, "_") || strings.HasPrefix(name, "@") {
		return
	}
	text, err := parser.Unparse(expr, one.ast.NativeRep().SourceInfo())
	if err == nil && !slices.Contains(one.unsized, text) {
		one.unsized = append(one.unsized, text)
	}
}

// isInteger tells whether a part of the expression is an integer; false for one that uses a variable of a macro.
func (one *estimator) isInteger(part string) bool {
	ast, issues := one.env.Compile(part)
	return issues.Err() == nil && (ast.OutputType() == celgo.IntType || ast.OutputType() == celgo.UintType)
}
