package answer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func chapter(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "crd", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

type told struct {
	ID     any            `json:"id"`
	Result map[string]any `json:"result"`
	Error  *Error         `json:"error"`
}

func ask(t testing.TB, a *Answerer, r map[string]any) told {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, a, line)
}

func read(t testing.TB, a *Answerer, line []byte) told {
	t.Helper()
	answer, ok := a.Line(line)
	var got told
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if ok != (got.Error == nil) || (got.Error == nil) != (got.Result != nil) || bytes.ContainsRune(answer, '\n') {
		t.Errorf("ok is %t: %s", ok, answer)
	}
	return got
}

func TestATraceIsAnsweredWithTheIDOfTheRequest(t *testing.T) {
	a := New()
	for _, id := range []any{nil, 1.0, "x", []any{"a"}} {
		got := ask(t, a, map[string]any{"id": id, "do": "trace", "definition": chapter(t, "04-colis-complet.yaml"), "object": chapter(t, "objects/mini.yaml")})
		if got.Result["verdict"] != "accepted" || mustJSON(got.ID) != mustJSON(id) {
			t.Errorf("got %v of %v", got.Result["verdict"], got.ID)
		}
	}
}

func mustJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

func TestDefineGivesTheVerdictAndWhatTheDefinitionIs(t *testing.T) {
	a := New()
	got := ask(t, a, map[string]any{"do": "define", "definition": chapter(t, "05-colis-v1.yaml")})
	want := `{"conversion":"None","group":"cours.example.com","kind":"Colis","lines":[],"name":"colis.cours.example.com","plural":"colis",` +
		`"scope":"Namespaced","status":null,"storedVersions":["v1"],"verdict":"accepted","versions":[` +
		`{"deprecated":true,"name":"v1alpha1","served":true,"storage":false},{"deprecated":false,"name":"v1","served":true,"storage":true}],"warnings":[]}`
	if mustJSON(got.Result) != want {
		t.Errorf("got %s", mustJSON(got.Result))
	}
	got = ask(t, a, map[string]any{"do": "define", "definition": chapter(t, "06-colis-v1-seul.yaml"), "oldDefinition": chapter(t, "04-colis-complet.yaml")})
	if got.Result["verdict"] != "refused" || len(got.Result["lines"].([]any)) != 1 || got.Result["status"].(map[string]any)["code"] != 422.0 {
		t.Errorf("got %v", got.Result)
	}
}

func TestABadRequestIsOneLineThatNamesTheTextAtFault(t *testing.T) {
	a := New()
	definition, object := chapter(t, "04-colis-complet.yaml"), chapter(t, "objects/mini.yaml")
	deep := func(levels int) string {
		return strings.Replace(object, "spec:", "spec: {x: "+strings.Repeat("[", levels)+strings.Repeat("]", levels)+"}\nxspec:", 1)
	}
	for name, c := range map[string]struct {
		change  map[string]any
		kind    string
		message string
	}{
		"no do":                    {map[string]any{"do": nil}, "request", `do is "", none of`},
		"unknown do":               {map[string]any{"do": "dance"}, "request", `do is "dance", none of`},
		"unknown member":           {map[string]any{"objct": "x"}, "request", `unknown field "objct"`},
		"a number for a text":      {map[string]any{"object": 3}, "request", "cannot unmarshal number"},
		"no definition":            {map[string]any{"definition": nil}, "request", "no definition"},
		"no object":                {map[string]any{"object": nil}, "request", "no object"},
		"unknown operation":        {map[string]any{"operation": "patch"}, "request", `operation "patch" is none of`},
		"update of nothing":        {map[string]any{"operation": "update"}, "request", "needs an old object"},
		"create over something":    {map[string]any{"operation": "create", "old": object}, "request", "has no old object"},
		"unknown field validation": {map[string]any{"fieldValidation": "Maybe"}, "request", `fieldValidation "Maybe" is none of`},
		"unknown read version":     {map[string]any{"readVersion": "v9"}, "request", "no version v9, only v1alpha1"},
		"without, not allowed":     {map[string]any{"without": []string{"pruning"}}, "request", "--allow-without"},

		"an empty definition":       {map[string]any{"definition": " \n"}, "definition", "the text holds no document"},
		"a definition of comments":  {map[string]any{"definition": "# nothing\n---\n# more\n"}, "definition", "the text holds no document"},
		"two definitions":           {map[string]any{"definition": definition + "\n---\n" + definition}, "definition", "the text holds 2 documents"},
		"no definition but a thing": {map[string]any{"definition": object}, "definition", "this is not a CustomResourceDefinition: it is a Colis of"},
		"no kind":                   {map[string]any{"definition": "a: 1"}, "definition", "not a CustomResourceDefinition: it has no kind"},
		"no YAML":                   {map[string]any{"definition": "a: ["}, "definition", "yaml: line 1"},
		"no JSON":                   {map[string]any{"definition": "{"}, "definition", "unexpected end of JSON input"},
		"a list":                    {map[string]any{"definition": "- a\n"}, "definition", "it is a list or a plain value, no object"},
		"a number":                  {map[string]any{"definition": "5"}, "definition", "it is a list or a plain value, no object"},
		"an unknown field":          {map[string]any{"definition": strings.Replace(definition, "spec:", "spec:\n  foo: 1", 1)}, "definition", `unknown field "spec.foo"`},
		"a refused definition":      {map[string]any{"definition": chapter(t, "03-a-default-vide.yaml")}, "definition", "no such key: min evaluating rule"},
		"a definition of v1beta1": {map[string]any{"definition": strings.Replace(chapter(t, "01-colis-minimal.yaml"), "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1)},
			"definition", "does not match the expected API version (apiextensions.k8s.io/v1)"},
		"a definition that is too large": {map[string]any{"definition": definition + "#" + strings.Repeat("x", 3<<20)}, "definition", "Request entity too large: limit is 3145728"},

		"an empty object":                {map[string]any{"object": ""}, "object", "the text holds no document"},
		"two objects":                    {map[string]any{"object": object + "\n---\n" + object}, "object", "the text holds 2 documents"},
		"another kind":                   {map[string]any{"object": "apiVersion: v1\nkind: Pod\n"}, "object", "the object is a Pod of v1, the definition is of Colis in the group cours.example.com"},
		"a list of objects":              {map[string]any{"object": "apiVersion: v1\nkind: List\nitems: []\n"}, "object", "the object is a List of v1"},
		"a list of its own":              {map[string]any{"object": "apiVersion: cours.example.com/v1alpha1\nkind: ColisList\nitems: []\n"}, "object", "the object is a ColisList"},
		"an unknown version":             {map[string]any{"object": "apiVersion: cours.example.com/v9\nkind: Colis\n"}, "object", "no version v9, only v1alpha1"},
		"no apiVersion":                  {map[string]any{"object": "kind: Colis\n"}, "object", "no apiVersion"},
		"deeper than can be shown":       {map[string]any{"object": deep(600)}, "object", "nested more than 500 levels deep"},
		"an old object without name":     {map[string]any{"old": "apiVersion: cours.example.com/v1alpha1\nkind: Colis\n"}, "old", "no metadata.name"},
		"an old object called 5":         {map[string]any{"old": "apiVersion: cours.example.com/v1alpha1\nkind: Colis\nmetadata: {name: 5}\n"}, "old", "or none that is a text"},
		"an old object that is a list":   {map[string]any{"old": "- a"}, "old", "this is a list or a plain value, no object"},
		"an old object of another kind":  {map[string]any{"old": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"}, "old", "the object is a Pod"},
		"an old object that is none":     {map[string]any{"old": "a: ["}, "old", "yaml: line 1"},
		"an old definition that is none": {map[string]any{"do": "define", "object": nil, "oldDefinition": "a: 1"}, "oldDefinition", "not a CustomResourceDefinition"},
	} {
		t.Run(name, func(t *testing.T) {
			r := map[string]any{"id": 7, "do": "trace", "definition": definition, "object": object}
			for key, value := range c.change {
				if r[key] = value; value == nil {
					delete(r, key)
				}
			}
			got := ask(t, a, r)
			if got.Error == nil || got.Error.Kind != c.kind || !strings.Contains(got.Error.Message, c.message) || strings.Contains(got.Error.Message, "\n") || got.ID != 7.0 {
				t.Errorf("got %+v of %v, want %s: %s", got.Error, got.ID, c.kind, c.message)
			}
		})
	}
}

func TestWhatTheServerWouldAnswerIsAVerdict(t *testing.T) {
	a := New()
	definition, object := chapter(t, "04-colis-complet.yaml"), chapter(t, "objects/mini.yaml")
	nested := func(levels int) string {
		return `{"apiVersion":"cours.example.com/v1alpha1","kind":"Colis","metadata":{"name":"a"},"spec":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "}"
	}
	bomb := "apiVersion: cours.example.com/v1alpha1\nkind: Colis\nmetadata: {name: a}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		one := "*a" + string(rune('0'+i)) + ", "
		bomb += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(one, 8) + one[:3] + "]\n"
	}
	for name, c := range map[string]struct {
		object, line string
		code         float64
	}{
		"no JSON":             {`{"a":`, "the object provided is unrecognized (must be of type Colis): couldn't get version/kind; json parse error: unexpected end of JSON input ({\"a\":)", 400},
		"two in one":          {"{}{}", "the object provided is unrecognized (must be of type Colis): couldn't get version/kind; json parse error: invalid character '{' after top-level value ({}{})", 400},
		"no YAML":             {"a: [", "the object provided is unrecognized (must be of type Colis): yaml: line 1: did not find expected node content (613a205b)", 400},
		"no kind":             {`{"apiVersion":"cours.example.com/v1alpha1"}`, "", 400},
		"too large":           {object + "#" + strings.Repeat("x", 3<<20), "Request entity too large: limit is 3145728", 413},
		"too deep":            {nested(10001), "the object provided is unrecognized (must be of type Colis): couldn't get version/kind; json parse error: invalid character '[' exceeded max depth (", 400},
		"a bomb":              {bomb, "document contains excessive aliasing", 400},
		"beyond 64 bits":      {strings.Replace(object, "spec:", "spec:\n  api: {replicas: 9223372036854775808}", 1), "spec.api.replicas: Invalid value:", 422},
		"half of a character": {`{"apiVersion":"cours.example.com/v1alpha1","kind":"Colis","metadata":{"name":"\ud800"},"spec":{"version":"1.0.0"}}`, "metadata.name: Invalid value: \"\ufffd\"", 422},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, a, map[string]any{"do": "trace", "definition": definition, "object": c.object})
			if got.Error != nil || got.Result["verdict"] != "refused" {
				t.Fatalf("got %+v %v", got.Error, got.Result["verdict"])
			}
			lines := mustJSON(got.Result["lines"])
			if want := mustJSON(c.line); !strings.Contains(lines, want[1:len(want)-1]) || got.Result["status"].(map[string]any)["code"] != c.code {
				t.Errorf("got %.300q, %v, want %q", lines, got.Result["status"].(map[string]any)["code"], c.line)
			}
		})
	}
}

func TestALineThatIsNoRequestIsAnswered(t *testing.T) {
	a := New()
	for line, message := range map[string]string{
		"hello":              "the request is not JSON",
		"[]":                 "the request is JSON, but no object",
		"{\"id\": \"\xff\"}": "not valid UTF-8",
		`{"do": "define", "definition": "\ud800"}`:       "half of a surrogate pair",
		`{"do": "define", "definition": "\ud800\u0041"}`: "half of a surrogate pair",
		`{"do": "define", "definition": "\udc00\ud800"}`: "half of a surrogate pair",
		`{"do": "define", "definition": "\ud83d\ude00"}`: "is not a CustomResourceDefinition",
		`{"do": "define", "definition": "a: \\ud800"}`:   "is not a CustomResourceDefinition",
	} {
		if got := read(t, a, []byte(line)); got.Error == nil || !strings.Contains(got.Error.Message, message) {
			if message != "is not a CustomResourceDefinition" || got.Error == nil || got.Error.Kind != "definition" {
				t.Errorf("%q: got %+v, want %s", line, got.Error, message)
			}
		}
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	methods["panic"] = func(*Answerer, *request) (any, error) { panic("on purpose") }
	defer delete(methods, "panic")
	got := read(t, New(), []byte(`{"id": 1, "do": "panic"}`))
	if got.Error == nil || got.Error.Kind != "internal" || got.Error.Message != "panic: on purpose" || got.ID != 1.0 {
		t.Errorf("got %+v", got.Error)
	}
}

func TestServeAnswersEachLineAndGoesOnAfterErrors(t *testing.T) {
	requests := "hello\n\n" + `{"id":1,"do":"define","definition":""}` + "\n" + strings.Repeat("x", MaxLine+1) + "\n" + `{"id":2,"do":"define","definition":""}`
	var out bytes.Buffer
	ok, err := New().Serve(strings.NewReader(requests), &out, false)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if ok || err != nil || len(lines) != 4 {
		t.Fatalf("got %t, %v, %q", ok, err, lines)
	}
	for i, part := range []string{"not JSON", `"id":1,`, "the request is longer than 67108864 bytes", `"id":2,`} {
		if !strings.Contains(lines[i], part) {
			t.Errorf("line %d: got %s, want %s", i, lines[i], part)
		}
	}
	out.Reset()
	if ok, err = New().Serve(strings.NewReader(requests), &out, true); ok || err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("once: got %t, %v, %q", ok, err, out.String())
	}
}

func BenchmarkTrace(b *testing.B) {
	a := New()
	r := map[string]any{"do": "trace", "definition": chapter(b, "04-colis-complet.yaml"), "object": chapter(b, "objects/invalide.yaml")}
	line, _ := json.Marshal(r)
	for b.Loop() {
		if _, ok := a.Line(line); !ok {
			b.Fatal("no result")
		}
	}
}
