package celcost

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
)

const (
	// near is the part of the limit, one tenth, from which an expression gets advice although it is accepted: to leave
	// room for the others in the schema's total.
	near = 10
	// choices is how many bounds, each enough alone, an advice names.
	choices = 3
)

// adviser looks for what would make the expressions of one schema cheaper.
type adviser struct {
	costs      *costs
	scopes     map[*place]*scope
	estimators map[*expression]*estimator
	advice     map[*expression][]Advice
	// beyond are the expressions over the limit that no bound helps, with the cost of what to write instead, or 0.
	beyond map[*expression]uint64
}

func newAdviser(all *costs) *adviser {
	return &adviser{
		costs: all, scopes: map[*place]*scope{}, estimators: map[*expression]*estimator{},
		advice: map[*expression][]Advice{}, beyond: map[*expression]uint64{},
	}
}

func (a *adviser) advise() (map[*expression][]Advice, error) {
	for _, e := range a.costs.expressions {
		var err error
		switch {
		case !e.compiled:
		case e.cost > ExpressionLimit:
			err = a.over(e)
		case e.cost >= ExpressionLimit/near:
			err = a.near(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if a.costs.total > SchemaLimit {
		if err := a.whole(); err != nil {
			return nil, err
		}
	}
	return a.advice, nil
}

func (a *adviser) over(e *expression) error {
	found, err := a.sufficient(e, ExpressionLimit, choices)
	if err != nil {
		return err
	}
	for _, one := range found {
		a.add(e, one.advice(a, adviseBounds, one.cost))
	}
	if len(found) > 0 {
		return nil
	}
	return a.unhelped(e)
}

func (a *adviser) near(e *expression) error {
	found, err := a.sufficient(e, ExpressionLimit/near, 1)
	if err != nil {
		return err
	}
	for _, one := range found {
		a.add(e, one.advice(a, adviseRoom, one.cost))
	}
	if len(found) == 0 {
		a.add(e, Advice{Kind: adviseNoRoom})
	}
	return nil
}

func (a *adviser) add(e *expression, advice Advice) {
	if advice.Bounds == nil {
		advice.Bounds = []Bound{}
	}
	a.advice[e] = append(a.advice[e], advice)
}

// way is a set of bounds that was confirmed, with the cost of what it was confirmed for.
type way struct {
	b       bounds
	cost    uint64
	oneMore string
}

func (w *way) advice(a *adviser, kind string, cost uint64) Advice {
	return Advice{Kind: kind, Bounds: a.listed(w.b), OneMore: w.oneMore, EstimatedCost: number(cost)}
}

// sufficient finds bounds that bring an expression to a target: each alone if one is enough, else several together.
func (a *adviser) sufficient(e *expression, target uint64, most int) ([]way, error) {
	again, err := a.estimator(e)
	if err != nil {
		return nil, err
	}
	looking := &search{again.candidates, func(b bounds) (bool, error) {
		cost, err := again.cost(b)
		return cost <= target, err
	}}
	confirm := func(b bounds) (uint64, error) { return a.confirm(e, b) }
	return a.ways(looking, target, most, confirm)
}

func (a *adviser) ways(looking *search, target uint64, most int, confirm func(bounds) (uint64, error)) ([]way, error) {
	tries, err := looking.single()
	if err != nil {
		return nil, err
	}
	if len(tries) == 0 {
		several, err := looking.together()
		if several == nil || err != nil {
			return nil, err
		}
		tries = []bounds{several}
	}
	var found []way
	for _, b := range tries {
		if len(found) == most {
			break
		}
		one, err := a.confirmed(b, target, confirm)
		if err != nil {
			return nil, err
		}
		if one != nil {
			found = append(found, *one)
		}
	}
	return found, nil
}

// confirmed is what may be said of bounds once they are compiled: that they are enough (else nil), and, if one more is
// too many for each of them, that they are the greatest.
func (a *adviser) confirmed(b bounds, target uint64, confirm func(bounds) (uint64, error)) (*way, error) {
	if fits, err := a.defaultsStay(b); !fits || err != nil {
		return nil, err
	}
	cost, err := confirm(b)
	if cost > target || err != nil {
		return nil, err
	}
	one := &way{b: b, cost: cost, oneMore: ofAny}
	if len(b) > few {
		one.oneMore = ofEach
	}
	for _, more := range a.oneMore(b) {
		cost, err := confirm(more)
		if err != nil {
			return nil, err
		}
		if cost <= target {
			one.oneMore = ""
		}
	}
	return one, nil
}

// oneMore are the bounds that are too many if these are the greatest: with one more of each in turn, or, where search
// made many the same, of all.
func (a *adviser) oneMore(b bounds) []bounds {
	var greater []bounds
	all := bounds{}
	for key, value := range b {
		all[key] = value + 1
		greater = append(greater, with(b, key, value+1))
	}
	if len(b) > few {
		return []bounds{all}
	}
	return greater
}

// confirm compiles an expression in the schema that has the bounds, as the server would.
func (a *adviser) confirm(e *expression, b bounds) (uint64, error) {
	at := rootPlace(a.bounded(b), a.costs.path)
	for _, s := range e.place.steps {
		at = at.below(s)
	}
	return costAt(at, e, e.text)
}

// costAt compiles one rule of a place, with a text in the stead of the expression. The types are those of the place
// alone: to convert the whole schema for each bound that is tried takes seconds where it is large.
func costAt(at *place, e *expression, text string) (uint64, error) {
	types, err := typesAt(at)
	if err != nil {
		return 0, err
	}
	rule := types.Schema.XValidations[e.index]
	if e.kind == Rule {
		rule.Rule = text
	} else {
		rule.MessageExpression = text
	}
	types.Schema.XValidations = append(types.Schema.XValidations[:0:0], rule)
	compiled, err := compile(types)
	if err != nil {
		return 0, err
	}
	result := compiled[0]
	switch {
	case result.Error != nil:
		return 0, fmt.Errorf("%s: %w", e.path, result.Error)
	case e.kind == Rule:
		return times(result.MaxCost, at.cardinality(result.MaxCardinality)), nil
	case result.MessageExpressionError != nil:
		return 0, fmt.Errorf("%s: %w", e.path, result.MessageExpressionError)
	}
	return result.MessageExpressionMaxCost, nil
}

// defaultsStay tells whether the bounds make no default value invalid: the server would refuse the definition. Only
// default values that hold what is bounded can become so.
func (a *adviser) defaultsStay(b bounds) (bool, error) {
	concerned := false
	for key := range b {
		schema := a.costs.root
		for _, s := range a.costs.known[key].steps {
			schema = s.child(schema)
			concerned = concerned || schema.Default != nil
		}
	}
	if !concerned {
		return true, nil
	}
	var wrong [2]int
	for i, root := range []*apiextensions.JSONSchemaProps{a.costs.root, a.bounded(b)} {
		structural, err := structuralschema.NewStructural(root)
		if err != nil {
			return false, err
		}
		errs, err := defaulting.ValidateDefaults(context.Background(), a.costs.path, structural, true, true)
		if err != nil {
			return false, err
		}
		wrong[i] = len(errs)
	}
	return wrong[1] <= wrong[0], nil
}

// bounded is the schema with the bounds set.
func (a *adviser) bounded(b bounds) *apiextensions.JSONSchemaProps {
	root := a.costs.root
	for key, value := range b {
		root = a.costs.known[key].with(root, value)
	}
	return root
}

func (a *adviser) estimator(e *expression) (*estimator, error) {
	if known := a.estimators[e]; known != nil {
		return known, nil
	}
	within := a.scopes[e.place]
	if within == nil {
		var err error
		if within, err = newScope(a.costs, e.place); err != nil {
			return nil, err
		}
		a.scopes[e.place] = within
	}
	made, err := newEstimator(within, e)
	a.estimators[e] = made
	return made, err
}

// listed are bounds in the order of their paths.
func (a *adviser) listed(b bounds) []Bound {
	list := []Bound{}
	for _, key := range sortedKeys(b) {
		c := a.costs.known[key]
		one := Bound{Path: key, Field: fieldOf(c.steps), Keyword: c.keyword, Value: b[key]}
		if !c.unbounded {
			one.Present = &c.most
		}
		list = append(list, one)
	}
	return list
}

func sortedKeys(b bounds) []string {
	keys := make([]string, 0, len(b))
	for key := range b {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
