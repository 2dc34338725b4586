package trace

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"

	"labkit.example/controlplane/internal/definition"
)

// Forgiven is the verdict of an update that a create of the same would not get.
const Forgiven = "forgiven"

// Forecast is what becomes of one object that lies in etcd.
type Forecast struct {
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	StoredVersion string `json:"storedVersion"`
	NextRead      Shown  `json:"nextRead"`
	// NextWrite puts back what was read, with no change but in metadata.
	NextWrite Met `json:"nextWrite"`
	// CreatedAnew is what was read, created where there is no such object.
	CreatedAnew Met `json:"createdAnew"`
}

// Shown tells how what is read differs from what is stored. Pruned are fields that are stored and not shown, Nulls those of them
// that hold null.
type Shown struct {
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason"`
	Lines     []string `json:"lines"`
	Pruned    []string `json:"pruned"`
	Nulls     []string `json:"nulls"`
	Defaulted []Added  `json:"defaulted"`
}

// Met tells what a write meets. Pruned are fields that were read and would not be stored.
type Met struct {
	Verdict    string      `json:"verdict"`
	Reason     string      `json:"reason"`
	Lines      []string    `json:"lines"`
	Complaints []Complaint `json:"complaints"`
	Pruned     []string    `json:"pruned"`
	Defaulted  []Added     `json:"defaulted"`
}

// Complaint is one of the lines, or one that was forgiven, with where it comes from: a field and a type of error, or a rule.
type Complaint struct {
	Line     string `json:"line"`
	Field    string `json:"field"`
	Type     string `json:"type"`
	Detail   string `json:"detail"`
	Rule     string `json:"rule"`
	Forgiven bool   `json:"forgiven"`
}

// touched is the annotation that the next write sets.
const touched = "labkit.example/touched"

// PreviewVersion gives the version that is asked for, by default the one that clients use who do not ask; it must be served.
// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go: sortGroupDiscoveryByKubeAwareVersion
func PreviewVersion(s *definition.Serving, asked string) (string, error) {
	best := asked
	if best == "" {
		for name, v := range s.Versions {
			if v.Served && (best == "" || version.CompareKubeAwareVersionStrings(name, best) > 0) {
				best = name
			}
		}
	}
	if best == "" {
		return "", bad("request", "the definition serves no version")
	}
	_, err := (&path{serving: s}).served("request", best)
	return best, err
}

// Preview reads the object of this text, which lies in etcd, writes it back, and creates it anew, all in one version. The error
// is as that of Trace.
func Preview(s *definition.Serving, text, version string) (*Forecast, error) {
	p, err := newPath(s, Request{Object: text, Operation: Read})
	if err != nil {
		return nil, err
	}
	p.brief = true
	if p.version, err = p.served("request", version); err != nil {
		return nil, err
	}
	lying, err := p.identifyStored("object")
	if err != nil {
		return nil, err
	}
	forecast := &Forecast{Namespace: lying.GetNamespace(), Name: lying.GetName(), StoredVersion: lying.GroupVersionKind().Version}
	if s.Namespaced {
		forecast.Namespace = first(forecast.Namespace, metav1.NamespaceDefault)
	}
	if forecast.NextRead, err = p.forecastRead(); err != nil {
		return nil, err
	}
	if seen := forecast.NextRead; seen.Verdict != Accepted { // nor can it be read for a write
		forecast.NextWrite = newMet(seen.Verdict, seen.Reason, seen.Lines)
		forecast.CreatedAnew = newMet(Unknown, first(seen.Reason, "it cannot be read"), nil)
		return forecast, nil
	}
	if forecast.NextWrite, err = forecastWrite(s, p.object.Object, &text); err != nil {
		return nil, err
	}
	forecast.CreatedAnew, err = forecastWrite(s, p.object.Object, nil)
	return forecast, err
}

// forecastRead leaves the object that is read in p.object.
func (p *path) forecastRead() (Shown, error) {
	shown := Shown{Lines: []string{}, Pruned: []string{}, Nulls: []string{}, Defaulted: []Added{}}
	if err := p.take(readSteps); err != nil {
		return shown, err
	}
	if shown.Verdict, shown.Reason = p.outcome.Verdict, p.outcome.Reason; shown.Verdict != Accepted {
		shown.Lines = append(shown.Lines, p.outcome.Lines...)
		return shown, nil
	}
	known := p.before() // what is stored, and known to the schema that it is stored with
	for _, stage := range p.stages {
		if facts, ok := stage.Facts.(*Pruning); ok {
			shown.Pruned, shown.Nulls = append(shown.Pruned, facts.Paths...), append(shown.Nulls, facts.Nulls...)
		}
	}
	for _, lost := range gone(nil, known, p.object.Object) {
		if lost.Value == nil {
			shown.Nulls = append(shown.Nulls, lost.Path)
		} else {
			shown.Pruned = append(shown.Pruned, lost.Path)
		}
	}
	for _, added := range gained(known, p.object.Object) {
		if added.Path != "apiVersion" {
			shown.Defaulted = append(shown.Defaulted, added)
		}
	}
	return shown, nil
}

// forecastWrite puts what was read over what lies in etcd, or creates it where nothing lies.
func forecastWrite(s *definition.Serving, read map[string]any, lying *string) (Met, error) {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(read)}
	if lying != nil {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[touched] = "now"
		object.SetAnnotations(annotations)
	} else {
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
			"deletionGracePeriodSeconds", "managedFields", "selfLink"} {
			unstructured.RemoveNestedField(object.Object, "metadata", name)
		}
	}
	body, err := json.Marshal(object.Object)
	if err != nil {
		return Met{}, err
	}
	p, err := newPath(s, Request{Object: string(body), Old: lying})
	if err != nil {
		return Met{}, err
	}
	p.brief = true
	if err := p.take(writeSteps); err != nil {
		return Met{}, err
	}
	met := newMet(p.outcome.Verdict, p.outcome.Reason, p.outcome.Lines)
	met.Complaints = p.complaints()
	for _, stage := range p.stages {
		if facts, ok := stage.Facts.(*Defaulting); ok {
			met.Defaulted = append(met.Defaulted, facts.Added...)
		}
	}
	if met.Verdict != Accepted {
		return met, nil
	}
	taken := maps.Clone(read)
	delete(taken, "metadata") // some of it is not stored
	if lying == nil && p.version.Status != nil {
		delete(taken, "status") // a create does not take it
	}
	for _, lost := range gone(nil, taken, p.outcome.Stored) {
		met.Pruned = append(met.Pruned, lost.Path)
	}
	if len(met.Complaints) > 0 {
		met.Verdict = Forgiven
	}
	return met, nil
}

func newMet(verdict, reason string, lines []string) Met {
	return Met{Verdict: verdict, Reason: reason, Lines: append([]string{}, lines...), Complaints: []Complaint{}, Pruned: []string{},
		Defaulted: []Added{}}
}

// complaints tells where each line comes from.
func (p *path) complaints() []Complaint {
	found, explained := []Complaint{}, sets.New[string]()
	add := func(c Complaint) {
		if !explained.Has(c.Line) {
			explained.Insert(c.Line)
			found = append(found, c)
		}
	}
	for _, stage := range p.stages {
		switch facts := stage.Facts.(type) {
		case *Validation:
			for _, err := range facts.Errors {
				add(Complaint{Line: err.Line, Field: err.Field, Type: err.Type, Detail: err.Detail, Forgiven: err.Forgiven})
			}
		case *CEL:
			for _, rule := range facts.Rules {
				if rule.Line != "" {
					add(Complaint{Line: rule.Line, Field: rule.Path, Rule: rule.Rule, Forgiven: rule.Forgiven})
				}
			}
		case *Ratcheting:
			for _, line := range facts.Forgiven {
				add(Complaint{Line: line, Forgiven: true})
			}
		}
	}
	for _, line := range p.outcome.Lines {
		add(Complaint{Line: line})
	}
	return found
}

// gone gives what before holds and after does not hold at all, outermost first, sorted by path.
func gone(path *field.Path, before, after any) (found []Added) {
	switch before := before.(type) {
	case map[string]any:
		after, ok := after.(map[string]any)
		if !ok {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(before)) {
			if now, there := after[key]; there {
				found = append(found, gone(child(path, key), before[key], now)...)
			} else {
				found = append(found, Added{Path: text(child(path, key)), Value: before[key]})
			}
		}
	case []any:
		after, ok := after.([]any)
		if !ok {
			return nil
		}
		for i := range min(len(before), len(after)) {
			found = append(found, gone(path.Index(i), before[i], after[i])...)
		}
	}
	return found
}
