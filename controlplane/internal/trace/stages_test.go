package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

var (
	writeNames  = []string{decoding, pruning, defaulting, admission, preparing, validation, celRules, conversion, storing}
	updateNames = []string{decoding, pruning, defaulting, admission, preparing, validation, celRules, ratcheting, conversion, storing}
	readNames   = []string{reading, readPruning, readDefaulting, readConversion}
)

func TestTheStagesOfTheChaptersObjects(t *testing.T) {
	colis := serve(t, chapter(t, "04-colis-complet.yaml"))
	for name, want := range map[string]struct {
		verdict string
		added   string
		pruned  string
		lines   []string
	}{
		"mini":      {verdict: Accepted, added: "[spec.api, spec.base, spec.worker]", pruned: "[]"},
		"principal": {verdict: Accepted, added: "[spec.base.classe]", pruned: "[]"},
		"mauvais":   {verdict: Refused, lines: []string{`Colis in version "v1alpha1" cannot be handled as a Colis: strict decoding error: unknown field "spec.wroker"`}},
		"invalide": {verdict: Refused, added: "[spec.worker.min]", pruned: "[]", lines: []string{
			"<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
			"spec.api.replicas: Invalid value: 0: spec.api.replicas in body should be greater than or equal to 1",
			`spec.base.classe: Unsupported value: "rapide": supported values: "standard", "csi-hostpath-sc"`,
			`spec.base.taille: Invalid value: "1G": spec.base.taille in body should match '^[0-9]+(Mi|Gi)$'`,
			`spec.version: Invalid value: "2.2": spec.version in body should match '^[0-9]+\.[0-9]+\.[0-9]+$'`,
			"spec.worker.max: Invalid value: 50: spec.worker.max in body should be less than or equal to 20",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			result := follow(t, colis, Request{Object: chapter(t, "objects/"+name+".yaml")})
			if result.Verdict != want.verdict || !slices.Equal(result.Lines, append([]string{}, want.lines...)) {
				t.Errorf("got %s, %q", result.Verdict, result.Lines)
			}
			if want.added == "" {
				return
			}
			paths := []string{}
			for _, added := range facts[*Defaulting](t, result, defaulting).Added {
				paths = append(paths, added.Path)
			}
			same(t, "added", paths, want.added)
			same(t, "pruned", facts[*Pruning](t, result, pruning).Paths, want.pruned)
		})
	}
}

func TestAWriteReachesAllStagesAndIsReadBack(t *testing.T) {
	s := things(t)
	result := follow(t, s, Request{Object: thing("{i: 2, nul: null, s: null, u: 1, lm: [{k: a, u: 1}]}") + "status: {phase: p}\nu: 1\n", FieldValidation: "Warn"})
	if got, want := stageNames(result), append(slices.Clone(writeNames), readNames...); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	same(t, "decoding", facts[*Decoding](t, result, decoding), `{unknown: ['spec.lm[0].u', spec.u, u], duplicated: [],
		errors: ['unknown field "spec.lm[0].u"', 'unknown field "spec.u"', 'unknown field "u"']}`)
	same(t, "pruning", facts[*Pruning](t, result, pruning), "{paths: ['spec.lm[0].u', spec.u, u], nulls: [spec.s]}")
	same(t, "defaulting", facts[*Defaulting](t, result, defaulting), "{added: [{path: spec.d, value: x}]}")
	same(t, "preparing", facts[*Preparing](t, result, preparing), "{dropped: [status], kept: [], generation: 1}")
	same(t, "conversion", facts[*Conversion](t, result, conversion), "{from: v1, to: v1, pruned: []}")
	if key := facts[*Storing](t, result, storing).Key; key != "/registry/t.example.com/things/ns/a" {
		t.Errorf("key %s", key)
	}
	same(t, "warnings", result.Warnings, `['unknown field "spec.lm[0].u"', 'unknown field "spec.u"', 'unknown field "u"']`)
	const stored = "{apiVersion: t.example.com/v1, kind: Thing, metadata: {name: a, namespace: ns, generation: 1}, spec: {i: 2, nul: null, d: x, lm: [{k: a}]}}"
	same(t, "stored", result.Stored, stored)
	same(t, "read", result.Read, stored)
}

func TestAStageShowsTheObjectOnlyIfItChangedIt(t *testing.T) {
	result := follow(t, things(t), Request{Object: thing("{i: 2, d: x}")})
	var shown []string
	for _, stage := range result.Stages {
		if stage.Object != nil {
			shown = append(shown, stage.Name)
		}
	}
	if want := []string{decoding, preparing, reading}; !slices.Equal(shown, want) {
		t.Errorf("got %q, want %q", shown, want)
	}
}

func TestAStrictRefusalStopsAtDecoding(t *testing.T) {
	result := follow(t, things(t), Request{Object: "{\"apiVersion\": \"t.example.com/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\"i\": 1, \"i\": 2, \"u\": 1}}"})
	if !slices.Equal(stageNames(result), []string{decoding}) || result.Status.Code != 400 {
		t.Errorf("got %q, %v", stageNames(result), result.Status)
	}
	same(t, "decoding", facts[*Decoding](t, result, decoding), `{unknown: [spec.u], duplicated: [spec.i], errors: ['duplicate field "spec.i"', 'unknown field "spec.u"']}`)
	same(t, "lines", result.Lines,
		`['Thing in version "v1" cannot be handled as a Thing: strict decoding error: duplicate field "spec.i", unknown field "spec.u"']`)
}

func TestAnUpdateForgivesWhatDidNotChange(t *testing.T) {
	result := follow(t, things(t), Request{Old: pointer(thing("{i: 0, set: [a, a], o: {p: BAD}}")), Object: thing("{i: 0, set: [a, a, b], o: {p: BAD}, s: x}")})
	if got, want := stageNames(result), append(slices.Clone(updateNames), readNames...); result.Verdict != Accepted || !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q, lines %q", got, want, result.Lines)
	}
	same(t, "ratcheting", facts[*Ratcheting](t, result, ratcheting), `
forgiven:
- 'spec.i: Invalid value: 0: spec.i in body should be greater than or equal to 1'
- 'spec.o: Invalid value: bad p'
- 'spec.set[1]: Duplicate value: "a"'
warnings: ['spec.o: Invalid value: bad p']`)
	for _, err := range facts[*Validation](t, result, validation).Errors {
		if !err.Forgiven {
			t.Errorf("not forgiven: %s", err.Line)
		}
	}
	same(t, "generation", result.Stored["metadata"], "{name: a, namespace: ns, generation: 2}")
}

func TestAnUpdateIsOverWhatTheServerReadsOfTheOldObject(t *testing.T) {
	s := things(t)
	old := thingOf("v2", "{s: abcdefgh, u: 1}")
	result := follow(t, s, Request{Old: &old, Object: thing("{i: 7, s: abcdefgh}")})
	if result.Verdict != Accepted {
		t.Fatalf("the old object read in v1 has the default of v2, and an s that is too long for v1: %q", result.Lines)
	}
	same(t, "forgiven", facts[*Ratcheting](t, result, ratcheting).Forgiven, "['spec.s: Too long: may not be more than 5 bytes']")
}

func TestStatusIsKeptByAnUpdateAndTakenWithoutTheSubresource(t *testing.T) {
	s := things(t)
	result := follow(t, s, Request{Old: pointer(thing("{}") + "status: {phase: old}\n"), Object: thing("{}") + "status: {phase: new}\n"})
	same(t, "preparing", facts[*Preparing](t, result, preparing), "{dropped: [status], kept: [status], generation: 1}")
	same(t, "status", result.Stored["status"], "{phase: old}")
	plain := serve(t, strings.Replace(read(t, "testdata", "things.yaml"), "      status: {}\n", "", 1))
	result = follow(t, plain, Request{Object: thing("{}") + "status: {phase: new}\n"})
	same(t, "status", result.Stored["status"], "{phase: new}")
}

func TestWritingInAnotherVersionConvertsAndPrunes(t *testing.T) {
	result := follow(t, things(t), Request{Object: thingOf("v2", "{s: x}"), ReadVersion: "v1"})
	same(t, "conversion", facts[*Conversion](t, result, conversion), "{from: v2, to: v1, pruned: [spec.extra]}")
	same(t, "stored", result.Stored["spec"], "{i: 7, s: x}")
	same(t, "read", result.Read["spec"], "{i: 7, s: x, d: x}")
	same(t, "warnings", result.Warnings, "[t.example.com/v2 Thing is deprecated]")
}

// The chapter's surprise: what was stored before a version existed is defaulted with the schema of the version it is stored in.
func TestAnOldObjectIsReadWithTheDefaultsOfItsStoredVersion(t *testing.T) {
	colis := serve(t, chapter(t, "05-colis-v1.yaml"))
	stored := follow(t, serve(t, chapter(t, "01-colis-minimal.yaml")), Request{Object: chapter(t, "objects/ancien.yaml")}).Stored
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	result := follow(t, colis, Request{Object: string(text), Operation: Read, ReadVersion: "v1"})
	if got := stageNames(result); !slices.Equal(got, readNames) {
		t.Errorf("got %q", got)
	}
	same(t, "stored", stored["spec"], "{version: 2.2.1}")
	same(t, "defaulted", facts[*Defaulting](t, result, readDefaulting), `{added: [{path: spec.api, value: {replicas: 2}},
		{path: spec.base, value: {classe: standard, taille: 1Gi}}, {path: spec.worker, value: {min: 0, max: 5}}]}`)
	same(t, "converted", facts[*Conversion](t, result, readConversion), "{from: v1alpha1, to: v1, pruned: []}")
	if result.Read["apiVersion"] != "cours.example.com/v1" {
		t.Errorf("read in %s", result.Read["apiVersion"])
	}
}

func TestNothingIsValidatedOnARead(t *testing.T) {
	result := follow(t, things(t), Request{Object: thing("{i: 0, s: bad, u: 1}"), Operation: Read})
	if result.Verdict != Accepted {
		t.Fatalf("got %s %q", result.Verdict, result.Lines)
	}
	same(t, "read", result.Read["spec"], "{i: 0, s: bad, d: x}")
	same(t, "pruned", facts[*Pruning](t, result, readPruning).Paths, "[spec.u]")
}

func TestAWebhookMakesTheVerdictUnknownWhereItWouldBeAsked(t *testing.T) {
	s := serve(t, read(t, "testdata", "things.yaml")+`
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://localhost/"}}}
`)
	result := follow(t, s, Request{Object: thingOf("v2", "{}")})
	if result.Verdict != Unknown || result.Reason != "strategy: Webhook" || result.Stored != nil || !slices.Equal(stageNames(result), writeNames[:7]) {
		t.Errorf("got %s %q after %q", result.Verdict, result.Reason, stageNames(result))
	}
	if result = follow(t, s, Request{Object: thing("{i: 0}")}); result.Verdict != Refused {
		t.Errorf("got %s: the schema refuses before anything is converted", result.Verdict)
	}
	if result = follow(t, s, Request{Object: thing("{}")}); result.Verdict != Accepted || result.Read == nil {
		t.Errorf("got %s %q: the storage version needs no conversion", result.Verdict, result.Reason)
	}
	if result = follow(t, s, Request{Object: thing("{}"), ReadVersion: "v2"}); result.Verdict != Accepted || result.Reason != "it cannot be read back: strategy: Webhook" || result.Read != nil {
		t.Errorf("got %s %q: it is stored, but nobody knows how it is read", result.Verdict, result.Reason)
	}
	if result = follow(t, s, Request{Object: thing("{}"), Operation: Read, ReadVersion: "v2"}); result.Verdict != Unknown {
		t.Errorf("got %s", result.Verdict)
	}
	if result = follow(t, s, Request{Old: pointer(thing("{}")), Object: thingOf("v2", "{}")}); result.Verdict != Unknown || !slices.Equal(stageNames(result), writeNames[:1]) {
		t.Errorf("got %s after %q: the old object must be converted first", result.Verdict, stageNames(result))
	}
}

// What the storage version keeps as it comes is malformed metadata to a version that embeds a resource there.
func TestAWriteStaysAcceptedWhenItCannotBeReadBack(t *testing.T) {
	embeds := strings.Replace(read(t, "testdata", "things.yaml"), "extra: {type: string, default: e}",
		"free: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", 1)
	s, object := serve(t, embeds), thing("{free: {apiVersion: v1, kind: A, metadata: {labels: 5}}}")
	refused := follow(t, s, Request{Object: object, Operation: Read, ReadVersion: "v2"})
	if refused.Verdict != Refused || len(refused.Lines) != 1 || refused.Status == nil {
		t.Fatalf("got %s %q: there is nothing to keep apart", refused.Verdict, refused.Lines)
	}
	result := follow(t, s, Request{Object: object, ReadVersion: "v2"})
	if result.Verdict != Accepted || result.Status != nil || len(result.Lines) != 0 || result.Stored == nil || result.Read != nil {
		t.Errorf("got %s, %v, %q: the write was accepted", result.Verdict, result.Status, result.Lines)
	}
	if want := "it cannot be read back: " + refused.Lines[0]; result.Reason != want {
		t.Errorf("got the reason %q, want %q", result.Reason, want)
	}
}

func TestConflictsOfAnUpdate(t *testing.T) {
	head := "apiVersion: t.example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: ns, "
	for want, object := range map[string]string{
		`Operation cannot be fulfilled on things.t.example.com "a": the object has been modified; please apply your changes to the latest version and try again`: head + "resourceVersion: '7'}\n",
		`Operation cannot be fulfilled on things.t.example.com "a": StorageError: invalid object, Code: 4, Key: /registry/t.example.com/things/ns/a, ResourceVersion: 0, ` +
			`AdditionalErrorMsg: Precondition failed: UID in precondition: v, UID in object meta: u`: head + "uid: v}\n",
		`the name of the object (b) does not match the name on the URL (a)`: "apiVersion: t.example.com/v1\nkind: Thing\nmetadata: {name: b, namespace: ns}\n",
	} {
		result := follow(t, things(t), Request{Old: pointer(head + "uid: u, resourceVersion: '6'}\n"), Object: object})
		if !slices.Equal(result.Lines, []string{want}) {
			t.Errorf("got %q, want %q", result.Lines, want)
		}
	}
}

func TestEveryStageThatIsLeftOutIsMissed(t *testing.T) {
	s := things(t)
	bad := thing("{i: 0, s: bad, u: 1}") + "status: {phase: p}\n"
	for _, c := range []struct {
		without string
		r       Request
	}{
		{decoding, Request{Object: bad}},
		{pruning, Request{Object: thing("{u: 1}"), FieldValidation: "Ignore"}},
		{defaulting, Request{Object: thing("{}")}},
		{preparing, Request{Object: thing("{}") + "status: {phase: p}\n"}},
		{validation, Request{Object: thing("{i: 0}")}},
		{celRules, Request{Object: thing("{s: bad}")}},
		{ratcheting, Request{Old: pointer(thing("{i: 0}")), Object: thing("{i: 0, s: x}")}},
		{conversion, Request{Object: thingOf("v2", "{}")}},
		{readPruning, Request{Operation: Read, Object: thing("{u: 1}")}},
		{readDefaulting, Request{Operation: Read, Object: thing("{}")}},
		{readConversion, Request{Operation: Read, Object: thing("{}"), ReadVersion: "v2"}},
		{"swap:validation,cel", Request{Object: thing("{kind: z, s: bad}")}},
		{"swap:preparing,validation", Request{Object: thing("{}") + "status: {replicas: -1}\n"}},
		{"swap:read-defaulting,read-conversion", Request{Operation: Read, Object: thing("{}"), ReadVersion: "v2"}},
	} {
		whole := follow(t, s, c.r)
		c.r.Without = []string{c.without}
		part := follow(t, s, c.r)
		told := func(r *Result) string { return mustJSON(t, []any{r.Verdict, r.Lines, r.Stored, r.Read}) }
		if told(whole) == told(part) {
			t.Errorf("without %s: all is as with it: %s", c.without, told(whole))
		}
	}
}
