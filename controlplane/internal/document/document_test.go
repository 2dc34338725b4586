package document

import "testing"

func TestOneDocumentIsFoundAmongEmptyOnes(t *testing.T) {
	for text, want := range map[string]Document{
		"a: 1":                          {Data: []byte("a: 1"), YAML: true},
		"# a comment\na: 1\n":           {Data: []byte("# a comment\na: 1\n"), YAML: true},
		"---\na: 1\n":                   {Data: []byte("---\na: 1\n"), YAML: true},
		"# a comment\n---\na: 1\n---\n": {Data: []byte("a: 1\n"), YAML: true},
		"  {\"a\": 1}\n":                {Data: []byte(`{"a": 1}`)},
	} {
		got, err := One(text)
		if err != nil || string(got.Data) != string(want.Data) || got.YAML != want.YAML {
			t.Errorf("%q: got %q, %t, %v", text, got.Data, got.YAML, err)
		}
	}
}

func TestNoneOrSeveralDocumentsAreAnError(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "the text holds no document",
		" \n# a\n---\n...\n":    "the text holds no document",
		"%YAML 1.1\n---\n":      "the text holds no document",
		"a: 1\n---\nb: 1\n":     "the text holds 2 documents, one is wanted",
		"a\n---\n# b\n---\nc\n": "the text holds 2 documents, one is wanted",
	} {
		if got, err := One(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %q, %v", text, got.Data, err)
		}
	}
}
