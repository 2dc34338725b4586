package trace

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"

	"labkit.example/controlplane/internal/definition"
	"labkit.example/controlplane/internal/document"
	"labkit.example/controlplane/internal/handler"
)

// path is one object on its way.
type path struct {
	Request
	serving *definition.Serving
	ctx     context.Context
	doc     document.Document
	// version is the one that the request is for, and that the server works in.
	version *definition.Version
	// objectVersion is the one of the request's object.
	objectVersion string

	object, old *unstructured.Unstructured
	correlated  *common.CorrelatedObject
	errs        field.ErrorList
	forgiven    field.ErrorList
	etcd        []byte

	// what decoding found, until it is judged
	gvk        *schema.GroupVersionKind
	strictErrs []error
	unknown    []string
	// what ratcheting forgave
	forgivenRules []string

	// brief leaves out what only a reader of all stages wants: the object after each, but for the one before defaulting, and
	// the rules of an object that meets them all
	brief bool
	// invented metadata, which the server sets and nobody can foresee, is not shown
	invented map[string]bool
	warnings handler.Warnings
	stages   []Stage
	shown    map[string]any
	outcome  Result
}

// step is something that the server does; those without a name cannot be left out.
type step struct {
	name string
	do   func(*path) error
}

// The steps of the three operations.
var (
	writeSteps = []step{
		{decoding, (*path).decode},
		{pruning, (*path).prune},
		{defaulting, (*path).setDefaults},
		{"", (*path).judgeDecoding},
		{"", (*path).checkRequest},
		{admission, (*path).admit},
		{"", (*path).begin},
		{preparing, (*path).prepare},
		{validation, (*path).validate},
		{celRules, (*path).runRules},
		{ratcheting, (*path).ratchet},
		{"", (*path).judge},
		{conversion, (*path).convert},
		{storing, (*path).store},
	}
	readSteps = []step{
		{reading, (*path).load},
		{readPruning, (*path).pruneStored},
		{readDefaulting, (*path).setStoredDefaults},
		{readConversion, (*path).convertStored},
	}
)

func newPath(s *definition.Serving, request Request) (*path, error) {
	p := &path{Request: request, serving: s, invented: map[string]bool{}}
	if p.Operation == "" {
		p.Operation = Create
		if p.Old != nil {
			p.Operation = Update
		}
	}
	if p.FieldValidation == "" {
		p.FieldValidation = metav1.FieldValidationStrict
	}
	switch {
	case !slices.Contains([]string{Create, Update, Read}, p.Operation):
		return nil, bad("request", "operation %q is none of create, update, read", p.Operation)
	case p.Operation == Update && p.Old == nil:
		return nil, bad("request", "an update needs an old object")
	case p.Operation != Update && p.Old != nil:
		return nil, bad("request", "a %s has no old object", p.Operation)
	}
	if err := handler.CheckDirective(p.FieldValidation); err != nil {
		return nil, &InputError{Kind: "request", Err: err}
	}
	if err := p.checkWithout(); err != nil {
		return nil, err
	}
	p.ctx = p.warnings.In(context.Background())
	return p, p.setDocument("object")
}

func (p *path) setDocument(kind string) (err error) {
	if p.doc, err = document.One(p.Object); err != nil {
		return &InputError{Kind: kind, Err: err}
	}
	return nil
}

// follow takes all steps of the operation, and then reads the object back.
func (p *path) follow() error {
	if p.Operation == Read {
		if err := p.setStored("object"); err != nil {
			return err
		}
		u, err := decodeStored(p.etcd)
		if err != nil {
			return err
		}
		p.objectVersion = u.GroupVersionKind().Version
	} else {
		if err := p.take(writeSteps); err != nil || p.outcome.Verdict != Accepted {
			return err
		}
		p.objectVersion = p.version.Name
	}
	return p.readBack()
}

// take goes on until a step refuses the object, or only a webhook knows how it goes on.
func (p *path) take(steps []step) error {
	err := p.walk(steps)
	var input *InputError
	switch {
	case err == nil:
		p.outcome.Verdict = Accepted
	case errors.As(err, &input):
		return err
	case errors.As(err, new(errWebhook)):
		p.outcome.Verdict, p.outcome.Reason = Unknown, err.Error()
	default:
		refusal := handler.Refuse(err)
		p.outcome.Verdict, p.outcome.Status, p.outcome.Lines = Refused, refusal.Status, refusal.Lines
	}
	return nil
}

func (p *path) walk(steps []step) error {
	for _, step := range p.arranged(steps) {
		if err := step.do(p); err != nil {
			return err
		}
	}
	return nil
}

// arranged leaves out and swaps what the request says.
func (p *path) arranged(steps []step) []step {
	if len(p.Without) == 0 {
		return steps
	}
	place := func(name string) int { return slices.IndexFunc(steps, func(s step) bool { return s.name == name }) }
	steps = slices.Clone(steps)
	for _, name := range p.Without {
		if a, b, isSwap := swapped(name); isSwap {
			if i, j := place(a), place(b); i >= 0 && j >= 0 {
				steps[i], steps[j] = steps[j], steps[i]
			}
		} else if i := place(name); i >= 0 && name != decoding {
			steps = slices.Delete(steps, i, i+1)
		}
	}
	return steps
}

func swapped(text string) (a, b string, isSwap bool) {
	names, isSwap := strings.CutPrefix(text, "swap:")
	a, b, _ = strings.Cut(names, ",")
	return a, b, isSwap
}

func (p *path) checkWithout() error {
	for _, text := range p.Without {
		names, fixed := []string{text}, []string{admission, storing, reading}
		if a, b, isSwap := swapped(text); isSwap {
			names, fixed = []string{a, b}, append(fixed, decoding)
		}
		for _, name := range names {
			if _, known := about[name]; !known || slices.Contains(fixed, name) {
				return bad("request", "without: there is no stage %q, or nothing to leave out of it", name)
			}
		}
	}
	return nil
}

func (p *path) without(name string) bool { return slices.Contains(p.Without, name) }

// reach notes a stage, and the object after it if that has changed.
func (p *path) reach(name string, u *unstructured.Unstructured, facts any) {
	stage := Stage{Name: name, Title: about[name][0], Source: about[name][1], Facts: facts}
	if u != nil && (!p.brief || name == pruning || name == readPruning) {
		if object := p.show(u); !reflect.DeepEqual(object, p.shown) {
			stage.Object, p.shown = object, object
		}
	}
	p.stages = append(p.stages, stage)
}

// before is the object as a stage showed it last.
func (p *path) before() map[string]any { return p.shown }

// show copies an object without the metadata that was invented.
func (p *path) show(u *unstructured.Unstructured) map[string]any {
	object := runtime.DeepCopyJSON(u.Object)
	for name := range p.invented {
		unstructured.RemoveNestedField(object, "metadata", name)
	}
	return object
}

func (p *path) result() *Result {
	r := p.outcome
	r.Operation = p.Operation
	r.Stages, r.Warnings = append([]Stage{}, p.stages...), p.warnings.Texts() // none at all where the body is too large
	if r.Lines == nil {
		r.Lines = []string{}
	}
	return &r
}

// maxDepth is how deep an object may be nested that answers show: readers of JSON in other languages go no deeper than about a
// thousand. The server takes objects of up to 10,000 levels.
const maxDepth = 500

// identify refuses to go on with an object of which no request to this definition can be made, or that no answer can show.
func (p *path) identify(kind string, u *unstructured.Unstructured) error {
	gvk := u.GroupVersionKind()
	switch {
	case depth(u.Object) > maxDepth:
		return bad(kind, "the object is nested more than %d levels deep, which is more than can be shown", maxDepth)
	case u.GetAPIVersion() == "":
		return bad(kind, "the object has no apiVersion")
	case gvk.GroupKind() != p.serving.Kind:
		return bad(kind, "the object is a %s of %s, the definition is of %s in the group %s", u.GetKind(), u.GetAPIVersion(), p.serving.Kind.Kind, p.serving.Kind.Group)
	}
	return nil
}

// depth counts the levels of lists and maps, until they are too many.
func depth(value any) int {
	deepest := 0
	var measure func(value any, level int)
	measure = func(value any, level int) {
		deepest = max(deepest, level)
		if level > maxDepth {
			return
		}
		switch value := value.(type) {
		case map[string]any:
			for _, each := range value {
				measure(each, level+1)
			}
		case []any:
			for _, each := range value {
				measure(each, level+1)
			}
		}
	}
	measure(value, 0)
	return deepest
}

// served gives a version that requests can be made for.
func (p *path) served(kind, name string) (*definition.Version, error) {
	if _, known := p.serving.Structural[name]; !known {
		return nil, bad(kind, "the definition has no version %s, only %s", name, strings.Join(p.versionNames(false), ", "))
	}
	if v, found := p.serving.Versions[name]; found && v.Served {
		return v, nil
	}
	return nil, bad(kind, "version %s is not served, only %s", name, strings.Join(p.versionNames(true), ", "))
}

func (p *path) versionNames(served bool) []string {
	var names []string
	for _, v := range p.serving.CRD.Spec.Versions {
		if v.Served || !served {
			names = append(names, v.Name)
		}
	}
	return names
}

// key is where etcd holds the object.
// staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go: NamespaceKeyFunc, NoNamespaceKeyFunc
func (p *path) key(u *unstructured.Unstructured) string {
	key := fmt.Sprintf("/registry/%s/%s/", p.serving.Resource.Group, p.serving.Resource.Resource)
	if p.serving.Namespaced {
		key += u.GetNamespace() + "/"
	}
	return key + u.GetName()
}
