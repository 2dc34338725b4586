package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

func TestRulesRunAloneAddUpToTheWhole(t *testing.T) {
	s := things(t)
	ran := map[string]int{}
	for _, write := range writes {
		t.Run(write.name, func(t *testing.T) {
			r := Request{Object: write.object, FieldValidation: metav1.FieldValidationIgnore}
			if write.old != "" {
				r.Old = &write.old
			}
			result := follow(t, s, r)
			told := facts[*CEL](t, result, celRules)
			var cost int64
			var lines, forgiven []string
			for _, rule := range told.Rules {
				ran[rule.Result+rule.Skipped]++
				cost += rule.Cost
				switch {
				case rule.Forgiven:
					forgiven = append(forgiven, rule.Line)
				case rule.Line != "":
					lines = append(lines, rule.Line)
				}
				if (rule.Result == failed || rule.Result == errored) != (rule.Line != "") || (rule.Result == skipped) != (rule.Skipped != "") {
					t.Errorf("this makes no sense: %+v", rule)
				}
			}
			if cost != told.Cost {
				t.Errorf("the costs add up to %d, the whole is %d", cost, told.Cost)
			}
			var schema []string
			for _, err := range facts[*Validation](t, result, validation).Errors {
				if !err.Forgiven {
					schema = append(schema, err.Line)
				}
			}
			var whole []string
			for _, line := range result.Lines {
				if !slices.Contains(schema, line) && !strings.Contains(line, "some validation rules were not checked") {
					whole = append(whole, line)
				}
			}
			slices.Sort(lines)
			if !slices.Equal(slices.Compact(lines), whole) {
				t.Errorf("lines:\n got %q\nwant %q", lines, whole)
			}
			if write.old != "" {
				slices.Sort(forgiven)
				if want := facts[*Ratcheting](t, result, ratcheting).Warnings; !slices.Equal(append([]string{}, forgiven...), want) {
					t.Errorf("forgiven:\n got %q\nwant %q", forgiven, want)
				}
			}
		})
	}
	for _, kind := range []string{passed, failed, errored, skipped + noOldValue, skipped + nullValue, skipped + schemaErrors} {
		if ran[kind] == 0 {
			t.Errorf("no rule was %s", kind)
		}
	}
}

func TestARuleTellsWhatItSaidOfWhichValue(t *testing.T) {
	s := things(t)
	result := follow(t, s, Request{Object: thing("{list: [5, 0, 1], s: bad, m: {'a.b': {a: 7}}, lm: [{k: a, v: 1}]}")})
	got := map[string]RuleResult{}
	for _, rule := range facts[*CEL](t, result, celRules).Rules {
		rule.Cost = min(rule.Cost, 1)
		got[rule.Path] = rule
	}
	const spec = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties"
	for path, want := range map[string]RuleResult{
		"":             {SchemaPath: "spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0]", Rule: "self.metadata.name.size() < 20", Result: passed, Cost: 1},
		"spec.list[0]": {SchemaPath: spec + "[list].items.x-kubernetes-validations[0]", Rule: "10 / self > 1", Result: passed, Cost: 1},
		"spec.list[1]": {SchemaPath: spec + "[list].items.x-kubernetes-validations[0]", Rule: "10 / self > 1", Result: errored, Cost: 1,
			Message: "division by zero evaluating rule: 10 / self > 1",
			Line:    `spec.list[1]: Invalid value: "integer": division by zero evaluating rule: 10 / self > 1`},
		"spec.s": {SchemaPath: spec + "[s].x-kubernetes-validations[0]", Rule: "self != 'bad'", Result: failed, Cost: 1,
			Message: "not bad", Line: `spec.s: Invalid value: "bad": not bad`},
		"spec.m[a.b].a": {SchemaPath: spec + "[m].additionalProperties.properties[a].x-kubernetes-validations[0]", Rule: "self != 7", Result: failed, Cost: 1,
			Message: "not seven", Line: "spec.m[a.b].a: Forbidden: not seven"},
		"spec.lm[0].v": {SchemaPath: spec + "[lm].items.properties[v].x-kubernetes-validations[0]", Rule: "self >= oldSelf", Result: skipped, Skipped: noOldValue},
	} {
		want.Path = path
		if got[path] != want {
			t.Errorf("%q:\n got %+v\nwant %+v", path, got[path], want)
		}
	}
}

func TestAForgivenRuleTellsWhatItWouldSay(t *testing.T) {
	result := follow(t, things(t), Request{Old: pointer(thing("{s: bad}")), Object: thing("{s: bad, i: 7}")})
	for _, rule := range facts[*CEL](t, result, celRules).Rules {
		if rule.Path == "spec.s" && (rule.Result != failed || !rule.Forgiven || rule.Message != "not bad" || rule.Line != `spec.s: Invalid value: "bad": not bad`) {
			t.Errorf("got %+v", rule)
		}
	}
}

// costly is a definition with rules that the server just accepts, and that together can cost more than an object may.
const costly = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.t.example.com}
spec:
  group: t.example.com
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              l:
                type: array
                maxItems: 10
                items:
                  type: string
                  maxLength: 45000
                  x-kubernetes-validations:
                  - &costly {rule: "self.matches('%s')"}
                  - *costly
                  - *costly
                  - *costly
                  - *costly
`

func TestRulesAfterAnExhaustedBudgetAreSkipped(t *testing.T) {
	s := serve(t, fmt.Sprintf(costly, "^a*"+strings.Repeat("b?", 98)))
	item := strings.Repeat("a", 45000)
	result := follow(t, s, Request{Object: "apiVersion: t.example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {l: [" + strings.Repeat(item+", ", 9) + item + "]}\n"})
	told := facts[*CEL](t, result, celRules)
	var results []string
	var cost int64
	for _, rule := range told.Rules {
		results = append(results, rule.Result+rule.Skipped)
		cost += rule.Cost
	}
	if cost != told.Cost || cost != celconfig.RuntimeCELCostBudget {
		t.Errorf("the costs add up to %d, the whole is %d", cost, told.Cost)
	}
	if line := "validation failed due to running out of cost budget, no further validation rules will be run"; !strings.HasSuffix(result.Lines[0], line) {
		t.Errorf("got %q", result.Lines)
	}
	if want := []string{passed, errored, skipped + budgetExhausted}; !slices.Equal(slices.Compact(results), want) {
		t.Errorf("got %q, want %q", results, want)
	}
}
