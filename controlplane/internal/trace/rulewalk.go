package trace

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// RuleResult is what one rule said of one value.
type RuleResult struct {
	Path       string `json:"path"`
	SchemaPath string `json:"schemaPath"`
	Rule       string `json:"rule"`
	Result     string `json:"result"`
	Message    string `json:"message"`
	Line       string `json:"line"`
	// Cost is in CEL's cost units; it includes the messageExpression's.
	Cost     int64  `json:"cost"`
	Skipped  string `json:"skipped"`
	Forgiven bool   `json:"forgiven"`
}

// What becomes of a rule.
const (
	passed  = "passed"
	failed  = "failed"
	errored = "error"
	skipped = "skipped"
)

// Why a rule is skipped.
const (
	noOldValue      = "no old value"
	nullValue       = "null value"
	schemaErrors    = "schema errors block"
	budgetExhausted = "budget exhausted"
)

// ruleWalk runs each rule alone on each value that it is for, in the order of the server; of the entries of a map, which the
// server takes in random order, in the order of their keys.
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go: Validator.validate
type ruleWalk struct {
	ctx context.Context
	// skip is why no rule is run at all, or "".
	skip    string
	budget  int64
	results []RuleResult
}

// correlation is what ratcheting goes by: validation.go: ratchetingOptions.
type correlation struct {
	current, nearest *common.CorrelatedObject
}

func (c correlation) key(name string) correlation {
	switch {
	case c.current == nil:
		return c
	case c.nearest == nil && (name == "apiVersion" || name == "kind"):
		return correlation{}
	}
	return correlation{current: c.current.Key(name), nearest: c.current}
}

func (c correlation) index(i int) correlation {
	if c.current == nil {
		return c
	}
	return correlation{current: c.current.Index(i), nearest: c.current}
}

func (w *ruleWalk) visit(n *ruleNode, path *field.Path, value, old any, c correlation) {
	if n == nil {
		return
	}
	for _, r := range n.rules {
		w.results = append(w.results, w.run(r, n, path, value, old, c))
	}
	if value == nil {
		return
	}
	switch value := value.(type) {
	case []any:
		if n.items == nil {
			return
		}
		oldItems, _ := old.([]any)
		byKey := common.MakeMapList(&model.Structural{Structural: n.schema}, oldItems)
		for i, item := range value {
			w.visit(n.items, path.Index(i), item, byKey.Get(item), c.index(i))
		}
	case map[string]any:
		oldFields := map[string]any{}
		if cel.MapIsCorrelatable(n.schema.XMapType) {
			oldFields, _ = old.(map[string]any)
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			w.visit(n.additional, path.Key(name), value[name], oldFields[name], c.key(name))
			w.visit(n.properties[name], path.Child(name), value[name], oldFields[name], c.key(name))
		}
	}
}

// run gives the server's own result of one rule.
func (w *ruleWalk) run(r *rule, n *ruleNode, path *field.Path, value, old any, c correlation) RuleResult {
	result := RuleResult{Path: text(path), SchemaPath: r.schemaPath, Rule: r.Rule, Result: skipped}
	switch optional := r.OptionalOldSelf != nil && *r.OptionalOldSelf; {
	case w.skip != "":
		result.Skipped = w.skip
	case value == nil:
		result.Skipped = nullValue
	case w.budget < 0:
		result.Skipped = budgetExhausted
	case old == nil && !optional && r.compile().usesOldSelf:
		result.Skipped = noOldValue
	}
	if result.Skipped != "" {
		return result
	}

	unchanged := c.current
	if unchanged == nil {
		unchanged = c.nearest
	}
	var warnings forgivenErrors
	errs, left := r.compile().validator.Validate(warnings.in(w.ctx), path, nil, value, old, w.budget, cel.WithRatcheting(unchanged))
	result.Cost = w.budget - max(left, 0)
	w.budget = left

	result.Result = passed
	switch {
	case len(errs) > 0:
		result.Result, result.Message, result.Line = outcome(errs[0], n.schema.Type), errs[0].Detail, errs[0].Error()
	case len(warnings) > 0:
		result.Result, result.Line, result.Forgiven = failed, warnings[0], true
		// what it would say if it counted
		errs, _ := r.compile().validator.Validate(w.ctx, path, nil, value, old, celconfig.RuntimeCELCostBudget)
		if len(errs) > 0 {
			result.Message = errs[0].Detail
		}
	}
	return result
}

// forgivenErrors takes the warnings that errors of unchanged values become.
type forgivenErrors []string

func (f *forgivenErrors) in(ctx context.Context) context.Context {
	return warning.WithWarningRecorder(ctx, f)
}

func (f *forgivenErrors) AddWarning(_, text string) { *f = append(*f, text) }

// trouble matches what the server says of a rule that could not be evaluated: validation.go: validateExpressions.
var trouble = regexp.MustCompile(` evaluating rule: |call arguments did not match|no further validation rules will be run|^rule compile`)

// outcome tells a rule that is not met from one that could not be evaluated. The latter names the type in place of the value.
func outcome(err *field.Error, schemaType string) string {
	if err.Type == field.ErrorTypeInternal {
		return errored
	}
	if value, ok := err.BadValue.(string); ok && err.Type == field.ErrorTypeInvalid && value == schemaType && trouble.MatchString(err.Detail) {
		return errored
	}
	return failed
}
