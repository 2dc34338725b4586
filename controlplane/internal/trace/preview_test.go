package trace

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func foresee(t testing.TB, definition, object, version string) *Forecast {
	t.Helper()
	forecast, err := Preview(serve(t, definition), object, version)
	if err != nil {
		t.Fatal(err)
	}
	return forecast
}

// A preview leaves out the stages, and nothing of the outcome.
func TestPreviewSaysWhatTraceSays(t *testing.T) {
	s := things(t)
	for _, spec := range []string{
		"{}", "{i: 0}", "{s: bad, d: null}", "{s: far too long}", "{nul: null, kind: c}", "{list: [1, 10], lm: [{k: a, v: 3, w: 1}, {k: b}]}",
		"{m: {x: {a: 7}, a.b: {b: 1}}, unknown: 1}", "{o: {p: BAD, q: Q}}", "{grow: 3}", "{one: {}}", "{set: [a, a]}", "{replicas: -1}",
	} {
		lying := thing(spec)
		forecast, err := Preview(s, lying, "v1")
		if err != nil {
			t.Fatal(err)
		}
		read := follow(t, s, Request{Object: lying, Operation: Read, ReadVersion: "v1"}).Read
		for name, met := range map[string]struct {
			said Met
			old  *string
		}{"next write": {forecast.NextWrite, &lying}, "created anew": {forecast.CreatedAnew, nil}} {
			body, err := json.Marshal(read)
			if err != nil {
				t.Fatal(err)
			}
			result := follow(t, s, Request{Object: string(body), Old: met.old})
			if got := strings.Replace(met.said.Verdict, Forgiven, Accepted, 1); got != result.Verdict || !slices.Equal(met.said.Lines, result.Lines) {
				t.Errorf("%s of %s: %s %q, traced: %s %q", name, spec, got, met.said.Lines, result.Verdict, result.Lines)
			}
			var lines []string
			for _, complaint := range met.said.Complaints {
				if !complaint.Forgiven {
					lines = append(lines, complaint.Line)
				}
			}
			slices.Sort(lines)
			if !slices.Equal(lines, result.Lines) {
				t.Errorf("%s of %s: complaints %q, lines %q", name, spec, lines, result.Lines)
			}
		}
	}
}

const twoSchemas = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pairs.t.example.com}
spec:
  group: t.example.com
  scope: Namespaced
  names: {kind: Pair, plural: pairs}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      a: {type: string}, gone: {type: string}, filled: {type: string, default: x}, null-in-v2: {type: string, nullable: true}}}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      a: {type: string}, late: {type: string, default: l}, null-in-v2: {type: string}}}}}}}
`

func pair(version, spec string) string {
	return "apiVersion: t.example.com/" + version + "\nkind: Pair\nmetadata: {name: a, namespace: ns}\nspec: " + spec
}

func TestWhatWasNeverStoredIsNotLost(t *testing.T) {
	lying := pair("v1", "{a: b, gone: c, unknown: d, null-in-v2: null}")
	forecast := foresee(t, twoSchemas, lying, "v2")
	same(t, "pruned", forecast.NextRead.Pruned, "[spec.unknown, spec.gone]")
	same(t, "nulls", forecast.NextRead.Nulls, "[spec.null-in-v2]")
	same(t, "defaulted", forecast.NextRead.Defaulted, "[]") // filled was, and then pruned
	same(t, "written", forecast.NextWrite.Pruned, "[]")
	same(t, "filled in", forecast.NextWrite.Defaulted, "[{path: spec.late, value: l}]")

	forecast = foresee(t, twoSchemas, lying, "v1")
	same(t, "pruned", forecast.NextRead.Pruned, "[spec.unknown]")
	same(t, "defaulted", forecast.NextRead.Defaulted, "[{path: spec.filled, value: x}]")
	same(t, "written", forecast.NextWrite.Pruned, "[spec.filled, spec.gone, spec.null-in-v2]")
}

func TestWhatCannotBeReadCannotBeWritten(t *testing.T) {
	forecast := foresee(t, twoSchemas, pair("v0", "{}"), "v2")
	want := `["request to convert CR from an invalid group/version: t.example.com/v0"]`
	same(t, "stored in", forecast.StoredVersion, "v0")
	same(t, "read", forecast.NextRead.Lines, want)
	same(t, "write", forecast.NextWrite.Lines, want)
	same(t, "verdicts", []string{forecast.NextRead.Verdict, forecast.NextWrite.Verdict, forecast.CreatedAnew.Verdict}, "[refused, refused, unknown]")
}

func TestOnlyAWebhookKnows(t *testing.T) {
	webhook := strings.Replace(twoSchemas, "  versions:", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example/c'}}}\n  versions:", 1)
	forecast := foresee(t, webhook, pair("v1", "{}"), "v2")
	same(t, "verdicts", []string{forecast.NextRead.Verdict, forecast.NextWrite.Verdict, forecast.CreatedAnew.Verdict}, "[unknown, unknown, unknown]")
	forecast = foresee(t, webhook, pair("v1", "{}"), "v1")
	same(t, "of what is stored elsewhere", []string{forecast.NextRead.Verdict, forecast.NextWrite.Verdict}, "[accepted, unknown]")
	forecast = foresee(t, webhook, pair("v2", "{}"), "v2")
	same(t, "of what is stored so", []string{forecast.NextRead.Verdict, forecast.NextWrite.Verdict}, "[accepted, accepted]")
}

func TestTheVersionOfAPreview(t *testing.T) {
	s := serve(t, twoSchemas)
	for asked, want := range map[string]string{"": "v2", "v1": "v1"} {
		if got, err := PreviewVersion(s, asked); err != nil || got != want {
			t.Errorf("%q: %s, %v", asked, got, err)
		}
	}
	var input *InputError
	if _, err := PreviewVersion(s, "v3"); !errors.As(err, &input) || err.Error() != "the definition has no version v3, only v1, v2" {
		t.Error(err)
	}
	unserved := serve(t, strings.ReplaceAll(twoSchemas, "served: true", "served: false"))
	if _, err := PreviewVersion(unserved, ""); !errors.As(err, &input) {
		t.Error(err)
	}
}

func TestWhatIsNoObjectOfTheDefinition(t *testing.T) {
	s := serve(t, twoSchemas)
	for text, want := range map[string]string{
		"{": "unexpected", "a: b": "'Kind' is missing", strings.Replace(pair("v1", "{}"), "Pair", "Other", 1): "is a Other of",
		strings.Replace(pair("v1", "{}"), "name: a, ", "", 1): "no metadata.name",
	} {
		var input *InputError
		if _, err := Preview(s, text, "v1"); !errors.As(err, &input) || input.Kind != "object" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func BenchmarkPreview(b *testing.B) {
	s := serve(b, chapter(b, "05-colis-v1.yaml"))
	text := `{"apiVersion":"cours.example.com/v1alpha1","kind":"Colis","metadata":{"name":"x","namespace":"ch54","uid":"u","creationTimestamp":"2024-01-01T00:00:00Z","generation":1,"managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"cours.example.com/v1alpha1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:version":{},"f:worker":{"f:min":{},"f:max":{}}}}}]},"spec":{"version":"1.2.3","worker":{"min":1,"max":2}}}`
	for b.Loop() {
		if _, err := Preview(s, text, "v1"); err != nil {
			b.Fatal(err)
		}
	}
}
