package trace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"labkit.example/controlplane/internal/definition"
)

func read(t testing.TB, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// chapter reads a file of the chapter.
func chapter(t testing.TB, name string) string { return read(t, "..", "..", "..", "crd", name) }

func serve(t testing.TB, text string) *definition.Serving {
	t.Helper()
	d, err := definition.Create(text, metav1.FieldValidationStrict)
	if err != nil {
		t.Fatal(err)
	}
	if d.Refusal != nil {
		t.Fatalf("the definition is refused: %q", d.Refusal.Lines)
	}
	s, err := d.Serve()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func things(t testing.TB) *definition.Serving { return serve(t, read(t, "testdata", "things.yaml")) }

// thing is the text of a thing of version v1 with this spec, in YAML's braces.
func thing(spec string) string { return thingOf("v1", spec) }

func thingOf(version, spec string) string {
	return "apiVersion: t.example.com/" + version + "\nkind: Thing\nmetadata: {name: a, namespace: ns}\nspec: " + spec + "\n"
}

func follow(t testing.TB, s *definition.Serving, r Request) *Result {
	t.Helper()
	result, err := Trace(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// facts gives what a stage tells, or fails.
func facts[T any](t testing.TB, r *Result, name string) T {
	t.Helper()
	for _, stage := range r.Stages {
		if stage.Name == name {
			return stage.Facts.(T)
		}
	}
	t.Fatalf("there is no stage %s in %s", name, strings.Join(stageNames(r), ", "))
	panic("unreachable")
}

func stageNames(r *Result) []string {
	var names []string
	for _, stage := range r.Stages {
		names = append(names, stage.Name)
	}
	return names
}

// same compares values as JSON; want is YAML.
func same(t testing.TB, what string, got any, want string) {
	t.Helper()
	gotJSON, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON, err := yaml.YAMLToJSON([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(gotJSON, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(wantJSON, &b); err != nil {
		t.Fatal(err)
	}
	gotJSON, _ = json.Marshal(a)
	wantJSON, _ = json.Marshal(b)
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("%s:\n got %s\nwant %s", what, gotJSON, wantJSON)
	}
}

func pointer(text string) *string { return &text }

func mustJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
