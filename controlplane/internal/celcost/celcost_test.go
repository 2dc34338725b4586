package celcost

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pair = `"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}}`

// rich is a schema with everything an estimate goes by.
const rich = `{"type": "object", "required": ["name", "list"], "properties": {
	"name": {"type": "string"}, "short": {"type": "string", "maxLength": 40}, "kind": {"type": "string", "enum": ["a", "longest"]},
	"time": {"type": "string", "format": "date-time"}, "blob": {"type": "string", "format": "byte"},
	"port": {"x-kubernetes-int-or-string": true}, "my-dashed": {"type": "string"}, "n": {"type": "integer"},
	"list": {"type": "array", "items": {"type": "string"}},
	"hosts": {"type": "array", "maxItems": 50, "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"},
		"tags": {"type": "object", "additionalProperties": {"type": "string"}, %s}}}},
	"deep": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", %s}}}}, %s}`

var expressions = []string{
	"self.name == self.short", "self.name.startsWith(self.short)", "self.name.matches('^a+$')", "self.list.all(x, x in self.list)",
	"self.hosts.all(h, h.n.contains(self.name))", "self.list.map(x, x + self.name).exists(y, y == self.short)",
	"self.hosts.exists(h, has(h.tags) && h.tags.all(k, k != h.n && h.tags[k].size() > 1))", "self.list.isSorted()",
	"self.deep.all(k, self.deep[k].all(x, x.matches(self.name)))", "self.my__dash__dashed == self.name", "self.list == oldSelf.list",
	"string(self.port) == self.name", "self.blob == self.blob && self.time > timestamp('2020-01-01T00:00:00Z')",
	"self.list.filter(x, x == self.kind).size() < 3", "self.name.split(',').all(x, x in self.list)",
	"quantity(self.name).compareTo(quantity(self.short)) < 0", "self.?name.orValue('') != self.list.join(',')",
	"(self.n > 2 ? self.name : self.short) == self.kind", "self.list.exists(x, self.deep.exists(k, x == k))",
	"self.hosts.map(h, h.n).isSorted() && cidr(self.name).prefixLength() == 8",
}

// richDefinitions have each expression in turn at the top, and rules in a map in a list and in a list in a map.
func richDefinitions() []string {
	var all []string
	for _, text := range expressions {
		all = append(all, withSpec(fmt.Sprintf(rich, rule("self.size() < 9"), rule("self == self.trim()"), rule(text))))
	}
	return all
}

func TestEstimatingAgainAgreesWithCompilingWhateverTheBounds(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	texts := richDefinitions()
	files, err := filepath.Glob("../../../crd/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal("the chapter's definitions are not there", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(text), "\n---\n") {
			if strings.Contains(document, "kind: CustomResourceDefinition") {
				texts = append(texts, document)
			}
		}
	}
	checked := 0
	for _, text := range texts {
		definition, _ := definitionOf(t, text)
		for _, schema := range schemasOf(definition) {
			costs, err := newCosts(schema.root, schema.path)
			if err != nil {
				t.Fatal(err)
			}
			a := newAdviser(costs)
			for _, e := range costs.expressions {
				if !e.compiled {
					t.Errorf("%s does not compile: %s", e.path, e.text)
					continue
				}
				again, err := a.estimator(e)
				if err != nil {
					t.Fatal(err)
				}
				if cost, err := again.cost(bounds{}); err != nil || cost != e.cost {
					t.Errorf("%s: %d without bounds, compiled %d (%v)", e.text, cost, e.cost, err)
				}
				for range 12 {
					b := bounds{}
					for _, c := range again.candidates {
						if random.Intn(3) > 0 {
							b[c.key] = random.Int63n(1 << random.Intn(20))
						}
					}
					cost, err := again.cost(b)
					compiled, compileErr := a.confirm(e, b)
					if err != nil || compileErr != nil || cost != compiled {
						t.Errorf("%s with %v: %d, compiled %d (%v, %v)", e.text, b, cost, compiled, err, compileErr)
					}
					checked++
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d bounds were tried", checked)
	}
}

func TestAdvisedBoundsAreAcceptedAndOneMoreIsNot(t *testing.T) {
	bounded := 0
	for _, text := range richDefinitions() {
		result := estimated(t, text)
		for _, e := range result.Expressions {
			if *e.EstimatedCost <= Number(ExpressionLimit) {
				if strings.Contains(e.Error, "exceeds") {
					t.Errorf("%s costs %d and is refused: %s", e.Expression, *e.EstimatedCost, e.Error)
				}
				continue
			}
			if !strings.Contains(e.Error, "exceeds budget") || len(e.Advice) == 0 {
				t.Errorf("%s is over the limit: said %q, advice %v", e.Expression, e.Error, e.Advice)
			}
			for _, advice := range e.Advice {
				if len(advice.Bounds) == 0 {
					continue
				}
				bounded++
				if advice.OneMore == "" {
					t.Errorf("%s: the greatest bounds were not found: %v", e.Expression, advice.Bounds)
				}
				said := func(more map[string]int64) bool {
					definition, _ := definitionOf(t, text)
					follow(definition, advice.Bounds, more)
					return contains(refused(definition), e.Path+": Forbidden: estimated rule cost exceeds")
				}
				if said(nil) && advice.Kind != adviseTotal {
					t.Errorf("%s is still refused with %v", e.Expression, advice.Bounds)
				}
				for _, b := range advice.Bounds {
					if advice.Kind != adviseTotal && !said(map[string]int64{b.Path: 1}) {
						t.Errorf("%s is accepted with one more than %v of %v", e.Expression, b, advice.Bounds)
					}
				}
			}
		}
	}
	if bounded < 10 {
		t.Errorf("only %d advices with bounds", bounded)
	}
}

// many is a spec of lists, each with one rule of a known cost: 5 for each pair.
func many(sizes ...int) string {
	var lists []string
	for i, size := range sizes {
		lists = append(lists, fmt.Sprintf(`"l%d": {"type": "array", "maxItems": %d, "items": {%s, %s}}`, i, size, pair, rule("self.min <= self.max")))
	}
	return withSpec(fmt.Sprintf(`{"type": "object", "properties": {%s}}`, strings.Join(lists, ", ")))
}

func TestTheVerdictTurnsExactlyAtTheLimits(t *testing.T) {
	at := 2_000_000 // times 5 is the limit of an expression
	full := []int{at, at, at, at, at, at, at, at, at}
	for _, c := range []struct {
		name  string
		text  string
		fine  bool
		total uint64
	}{
		{"an expression at its limit", many(at), true, 10_000_000},
		{"an expression over it", many(at + 1), false, 10_000_005},
		{"a schema at its limit", many(append(full, at)...), true, 100_000_000},
		{"a schema over it", many(append(full, at-1, 2)...), false, 100_000_005},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := estimated(t, c.text)
			if fine := len(result.Lines) == 0; fine != c.fine {
				t.Errorf("accepted: %v, %v", fine, result.Lines)
			}
			if result.Schemas[0].Total != Number(c.total) {
				t.Errorf("total %d, want %d", result.Schemas[0].Total, c.total)
			}
		})
	}
}

func TestAdviceOnTheTotalBringsTheSchemaUnderItsLimit(t *testing.T) {
	at := 2_000_000
	text := many(at, at, at, at, at, at, at, at, at, at, at)
	definition, lines := definitionOf(t, text)
	result, err := Estimate(definition, lines)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range result.Expressions {
		for _, advice := range e.Advice {
			if advice.Kind != adviseTotal {
				continue
			}
			found++
			one, _ := definitionOf(t, text)
			follow(one, advice.Bounds, nil)
			if lines := refused(one); len(lines) > 0 {
				t.Errorf("%v: %v", advice.Bounds, lines)
			}
			for _, b := range advice.Bounds {
				one, _ := definitionOf(t, text)
				follow(one, advice.Bounds, map[string]int64{b.Path: 1})
				if len(refused(one)) == 0 {
					t.Errorf("one more than %v is accepted", advice.Bounds)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no advice on the total")
	}
}

func TestNestedListsNeedSeveralBounds(t *testing.T) {
	inner := fmt.Sprintf(`{"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", %s}}}`, rule("self != 'x'"))
	result := estimated(t, withSpec(fmt.Sprintf(`{"type": "array", "items": %s}`, inner)))
	e := result.costliest()
	if e.Cardinality != nil {
		t.Errorf("cardinality %d, want none", *e.Cardinality)
	}
	text := withSpec(fmt.Sprintf(`{"type": "array", "maxItems": 3000, "items": %s}`,
		strings.Replace(strings.Replace(inner, `{"type": "object"`, `{"type": "object", "maxProperties": 3000`, 1), `{"type": "array"`, `{"type": "array", "maxItems": 10`, 1)))
	result = estimated(t, text)
	if e = result.costliest(); *e.Cardinality != 90_000_000 {
		t.Errorf("cardinality %d", *e.Cardinality)
	}
	if len(e.Advice) == 0 || e.Advice[0].Bounds[0].Value >= 3000 {
		t.Errorf("advice %v", e.Advice)
	}
}

func TestNoBoundHelpsAMessageOfStringsAndFormatDoes(t *testing.T) {
	for text, want := range map[string]string{
		"'a' + string(self.min)":                         `"a%d".format([self.min])`,
		"'100% ' + string(self.min) + self.name + 'z'":   `"100%% %d%sz".format([self.min, self.name])`,
		"has(self.min) ? 'm ' + string(self.min) : 'no'": `has(self.min) ? "m %d".format([self.min]) : "no"`,
		"self.list.map(x, 'x' + string(x)).join(',')":    "",
	} {
		spec := fmt.Sprintf(`{"type": "object", "properties": {"min": {"type": "integer"}, "name": {"type": "string", "maxLength": 9},
			"list": {"type": "array", "maxItems": 3, "items": {"type": "integer"}}}, %s}`, message(text))
		e := estimated(t, withSpec(spec)).costliest()
		if e.Kind != MessageExpression || len(e.Advice) != 1 {
			t.Fatalf("%s: %v", text, e)
		}
		advice := e.Advice[0]
		if advice.Kind != adviseNoBounds || len(advice.Bounds) > 0 || advice.Expression != want {
			t.Errorf("%s: %s, %q", text, advice.Kind, advice.Expression)
		}
		if want == "" {
			continue
		}
		again := estimated(t, withSpec(strings.Replace(spec, fmt.Sprintf("%q", text), fmt.Sprintf("%q", want), 1)))
		if len(again.Lines) > 0 || *again.costliest().EstimatedCost != *advice.EstimatedCost {
			t.Errorf("%s costs %d, not %d: %v", want, *again.costliest().EstimatedCost, *advice.EstimatedCost, again.Lines)
		}
	}
}

func TestAnAdviceKeepsDefaultValuesValid(t *testing.T) {
	items := `"items": {"type": "string", "maxLength": 100000}`
	for _, spec := range []string{
		`{"type": "object", "properties": {"l": {"type": "array", "default": %s, ` + items + `, %s}}}`,
		`{"type": "object", "default": {"l": %s}, "properties": {"l": {"type": "array", ` + items + `, %s}}}`,
	} {
		three := withSpec(fmt.Sprintf(spec, `["a", "b", "c"]`, rule("self.all(x, self.all(y, x != y || x == y))")))
		e := estimated(t, three).costliest()
		for _, advice := range e.Advice {
			for _, b := range advice.Bounds {
				if b.Keyword == maxItems && b.Value < 3 {
					t.Errorf("%v makes the default invalid", b)
				}
			}
		}
		if len(e.Advice) == 0 {
			t.Error("no advice")
		}
	}
}

func TestWhatDoesNotCompileHasNoCostAndTheServersLine(t *testing.T) {
	spec := fmt.Sprintf(`{%s, "x-kubernetes-validations": [{"rule": "self.zz > 0", "messageExpression": "'m'"}]}`, pair)
	result := estimated(t, withSpec(spec))
	first, second := result.Expressions[0], result.Expressions[1]
	if first.EstimatedCost != nil || !strings.Contains(first.Error, "undefined field 'zz'") {
		t.Errorf("%+v", first)
	}
	if second.EstimatedCost != nil || second.Error != "" {
		t.Errorf("%+v", second)
	}
}

func TestASchemaThatIsNotStructuralIsNotEstimated(t *testing.T) {
	result := estimated(t, withSpec(fmt.Sprintf(`{"properties": {"a": {"type": "string"}}, %s}`, rule("self.a == 'a'"))))
	if len(result.Lines) == 0 || len(result.Expressions) != 1 || result.Expressions[0].EstimatedCost != nil {
		t.Errorf("%+v", result)
	}
}

func TestNumbersThatJSONReadersRoundAreStrings(t *testing.T) {
	for n, want := range map[Number]string{5: "5", 1 << 53: "9007199254740992", 1<<53 + 1: `"9007199254740993"`} {
		if said, err := json.Marshal(n); err != nil || string(said) != want {
			t.Errorf("%d is %s (%v)", n, said, err)
		}
	}
}
