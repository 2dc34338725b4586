package trace

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/warning"
	kjson "sigs.k8s.io/json"

	"labkit.example/controlplane/internal/handler"
)

// The steps of a write follow staging/src/k8s.io/apiserver/pkg/endpoints/handlers/{create,update}.go and
// staging/src/k8s.io/apiserver/pkg/registry: rest/{create,update}.go, generic/registry/store.go.

// decode makes an object of the body. What only a strict decoder minds is kept until the object is whole, as the server does.
func (p *path) decode() error {
	if err := handler.CheckSize(p.doc.Data); err != nil {
		return err
	}
	facts := &Decoding{Unknown: []string{}, Duplicated: []string{}, Errors: []string{}}
	u, gvk, err := decodeBody(p.doc, p.serving.GVK(p.serving.StorageVersion), p.FieldValidation)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && (!isStrict || u == nil) {
		facts.Errors = append(facts.Errors, err.Error())
		p.reach(decoding, nil, facts)
		_, err = handler.AfterDecoding(err, false, p.FieldValidation, p.serving.Kind.Kind, gvk, p.doc.Data)
		return err
	}
	if isStrict {
		p.strictErrs = strict.Errors()
	}
	p.object, p.gvk = u, gvk
	if err := p.identify("object", u); err != nil {
		return err
	}
	p.reach(decoding, u, facts)
	if p.version, err = p.served("object", gvk.Version); err != nil {
		return err
	}
	p.warnings.Add(p.version.Warning)
	if p.Operation == Update {
		return p.readOld()
	}
	return nil
}

func (p *path) prune() error {
	done, err := coercer{serving: p.serving}.apply(p.object)
	if err != nil {
		facts := p.stages[0].Facts.(*Decoding)
		facts.Errors = append(facts.Errors, err.Error())
		_, err = handler.AfterDecoding(err, false, p.FieldValidation, p.serving.Kind.Kind, p.gvk, p.doc.Data)
		return err
	}
	p.unknown = done.unknown
	p.reach(pruning, p.object, &Pruning{Paths: done.unknown, Nulls: done.nulls})
	return nil
}

func (p *path) setDefaults() error {
	setDefaults(p.serving, p.object)
	p.reach(defaulting, p.object, &Defaulting{Added: gained(p.before(), p.show(p.object))})
	return nil
}

var alreadySet = regexp.MustCompile(`key "(.*)" already set in map`)

// judgeDecoding says what the server says once the object is whole: duplicated fields, then unknown ones.
// customresource_handler.go: schemaCoercingDecoder.Decode
func (p *path) judgeDecoding() error {
	facts := p.stages[0].Facts.(*Decoding)
	facts.Unknown = append(facts.Unknown, p.unknown...)
	for _, err := range p.strictErrs {
		if field, ok := err.(kjson.FieldError); ok {
			facts.Duplicated = append(facts.Duplicated, field.FieldPath())
		}
		for _, found := range alreadySet.FindAllStringSubmatch(err.Error(), -1) {
			facts.Duplicated = append(facts.Duplicated, found[1])
		}
	}
	if p.FieldValidation == metav1.FieldValidationIgnore || p.without(decoding) {
		return nil
	}
	errs := slices.Clone(p.strictErrs)
	for _, name := range p.unknown {
		errs = append(errs, fmt.Errorf("unknown field %q", name))
	}
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		facts.Errors = append(facts.Errors, err.Error())
	}
	warnings, err := handler.AfterDecoding(runtime.NewStrictDecodingError(errs), true, p.FieldValidation, p.serving.Kind.Kind, p.gvk, p.doc.Data)
	p.warnings.Add(warnings...)
	if err != nil {
		p.stages = p.stages[:1] // what came after was for the complaint only
	}
	return err
}

// checkRequest compares the object with the request: create.go and update.go, after decoding.
func (p *path) checkRequest() error {
	u, namespace := p.object, p.Namespace
	if p.Operation == Create {
		rest.WipeObjectMetaSystemFields(u)
		if namespace == "" {
			namespace = u.GetNamespace()
		}
	} else if namespace == "" {
		namespace = p.old.GetNamespace()
	}
	switch {
	case !p.serving.Namespaced:
		namespace = metav1.NamespaceNone
	case namespace == "":
		namespace = metav1.NamespaceDefault
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(namespace, u); err != nil {
		return err
	}
	if p.Operation == Update {
		if err := handler.CheckName(u, p.old.GetName(), namespace); err != nil {
			return err
		}
	}
	p.warnings.Add(handler.DropDuplicateOwners(u))
	return nil
}

func (p *path) admit() error {
	p.reach(admission, p.object, &Admission{Text: "none configured"})
	return nil
}

// begin sets the metadata that belongs to the server: store.go: create and Update; rest/update.go: BeforeUpdate.
func (p *path) begin() error {
	if p.Operation == Update {
		return p.beginUpdate()
	}
	rest.FillObjectMetaSystemFields(p.object)
	p.invented["uid"], p.invented["creationTimestamp"] = true, true
	if p.object.GetGenerateName() != "" && p.object.GetName() == "" {
		p.object.SetName(handler.Generator{}.GenerateName(p.object.GetGenerateName()))
	}
	return nil
}

func (p *path) beginUpdate() error {
	u, old := p.object, p.old
	precondition := storage.NewUIDPreconditions(string(u.GetUID()))
	if u.GetUID() == "" {
		precondition = nil
	}
	if err := precondition.Check(p.key(old), old); err != nil {
		return apierrors.NewConflict(p.serving.Resource, old.GetName(), err)
	}
	switch got, want := u.GetResourceVersion(), old.GetResourceVersion(); got {
	case "":
		u.SetResourceVersion(want)
	case want:
	default:
		return apierrors.NewConflict(p.serving.Resource, old.GetName(), errors.New(
			"the object has been modified; please apply your changes to the latest version and try again"))
	}
	u.SetGeneration(old.GetGeneration())
	u.SetUID(old.GetUID())
	u.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		u.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
	if u.GetManagedFields() == nil {
		u.SetManagedFields(old.GetManagedFields())
	}
	return nil
}

func (p *path) strategy() strategy {
	return strategy{Version: p.version, kind: p.serving.GVK(p.version.Name), namespaced: p.serving.Namespaced}
}

func (p *path) prepare() error {
	before, asked := p.show(p.object)["status"]
	if p.Operation == Create {
		p.strategy().prepareForCreate(p.object)
	} else {
		p.strategy().prepareForUpdate(p.object, p.old)
	}
	facts := &Preparing{Dropped: []string{}, Kept: []string{}, Generation: p.object.GetGeneration()}
	after, there := p.object.Object["status"]
	if asked && !reflect.DeepEqual(before, after) {
		facts.Dropped = append(facts.Dropped, "status")
	}
	if there && p.Operation == Update && p.version.Status != nil {
		facts.Kept = append(facts.Kept, "status")
	}
	p.reach(preparing, p.object, facts)
	return nil
}

// correlate pairs the values of the new object with those of the old one; nil on create, or without ratcheting.
func (p *path) correlate() *common.CorrelatedObject {
	if p.correlated == nil && p.Operation == Update && !p.without(ratcheting) {
		p.correlated = common.NewCorrelatedObject(p.object.Object, p.old.Object, &model.Structural{Structural: p.version.Structural})
	}
	return p.correlated
}

func (p *path) validate() error {
	var errs field.ErrorList
	if p.Operation == Update { // rest/update.go: validateCommonFields
		path := field.NewPath("metadata")
		errs = append(errs, metavalidation.ValidateObjectMetaAccessor(p.object, p.serving.Namespaced, pathSegment, path)...)
		errs = append(errs, metavalidation.ValidateObjectMetaAccessorUpdate(p.object, p.old, path)...)
	}
	found, forgiven := p.strategy().validate(p.ctx, p.object, p.old, p.correlate())
	errs = append(errs, found...)
	p.errs, p.forgiven = append(p.errs, errs...), append(p.forgiven, forgiven...)
	p.reach(validation, nil, &Validation{Errors: append(fieldErrors(errs, false), fieldErrors(forgiven, true)...)})
	return nil
}

// pathSegment follows rest/create.go: validatePathSegment.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// runRules runs all rules as the server does, which decides, and each alone, which tells. strategy.go: Validate, ValidateUpdate
func (p *path) runRules() error {
	facts := &CEL{Rules: []RuleResult{}, Budget: celconfig.RuntimeCELCostBudget}
	validator := p.version.CEL()
	if validator == nil {
		p.reach(celRules, nil, facts)
		return nil
	}
	var old any
	if p.old != nil {
		old = p.old.Object
	}
	walk, told := ruleWalk{ctx: p.ctx, budget: celconfig.RuntimeCELCostBudget}, !p.brief
	if err := blocking(p.errs); err != nil {
		p.errs = append(p.errs, err)
		walk.skip = schemaErrors
	} else {
		var forgiven forgivenErrors
		errs, left := validator.Validate(warning.WithWarningRecorder(p.ctx, &forgiven), nil, p.version.Structural, p.object.Object, old,
			celconfig.RuntimeCELCostBudget, cel.WithRatcheting(p.correlate()))
		p.errs = append(p.errs, errs...)
		p.warnings.Add(forgiven...)
		p.forgivenRules = forgiven
		told = told || len(errs)+len(forgiven) > 0
		facts.Cost = celconfig.RuntimeCELCostBudget - max(left, 0)
	}
	if told {
		walk.visit(rulesOf(p.version), nil, p.object.Object, old, correlation{current: p.correlate()})
		facts.Rules = append(facts.Rules, walk.results...)
	}
	p.reach(celRules, nil, facts)
	return nil
}

func (p *path) ratchet() error {
	if p.Operation == Update {
		warnings := slices.Sorted(slices.Values(p.forgivenRules))
		forgiven := handler.Lines(p.forgiven)
		forgiven = append(forgiven, warnings...)
		slices.Sort(forgiven)
		p.reach(ratcheting, nil, &Ratcheting{Forgiven: slices.Compact(forgiven), Warnings: append([]string{}, warnings...)})
	}
	return nil
}

// judge gives the verdict: rest/create.go: ValidateCreate, BeforeCreate; rest/update.go: BeforeUpdate.
func (p *path) judge() error {
	if p.Operation == Create && len(p.errs) == 0 {
		p.errs = metavalidation.ValidateObjectMetaAccessor(p.object, p.serving.Namespaced, pathSegment, field.NewPath("metadata"))
	}
	if len(p.errs) > 0 {
		return apierrors.NewInvalid(p.serving.Kind, p.object.GetName(), p.errs)
	}
	p.warnings.Add(p.strategy().warnings(p.object, p.old)...)
	if p.Operation == Create { // staging/src/k8s.io/apiserver/pkg/storage/etcd3/store.go: Create
		if version, err := (storage.APIObjectVersioner{}).ObjectResourceVersion(p.object); err == nil && version != 0 {
			return storage.ErrResourceVersionSetOnCreate
		}
	}
	return nil
}

// convert brings the object to the storage version. Nothing is done if it is in that version already.
// staging/src/k8s.io/apimachinery/pkg/runtime/serializer/versioning/versioning.go: doEncode
func (p *path) convert() error {
	facts := &Conversion{From: p.version.Name, To: p.serving.StorageVersion, Pruned: []string{}}
	if facts.From != facts.To {
		converted, err := convert(p.serving, p.object, facts.To)
		if err != nil {
			return err
		}
		done, err := coercer{serving: p.serving}.apply(converted)
		if err != nil {
			return err
		}
		facts.Pruned = append(facts.Pruned, done.unknown...)
		p.object = converted
	}
	p.reach(conversion, p.object, facts)
	return nil
}

// The largest request that etcd takes, and the largest message that its client sends. Both count a little more than the object,
// such as its key. go.etcd.io/etcd: server/v3/embed/config.go: DefaultMaxRequestBytes; client/v3/options.go:
// defaultMaxCallSendMsgSize
const (
	maxStored = 3 * 1024 * 1024 / 2
	maxSent   = 2 * 1024 * 1024
)

func (p *path) store() error {
	stored := p.object.DeepCopy()
	if err := (storage.APIObjectVersioner{}).PrepareObjectForStorage(stored); err != nil {
		return err
	}
	data, err := encodeStored(stored)
	if err != nil {
		return err
	}
	switch {
	case len(data) > maxSent:
		return fmt.Errorf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", len(data), maxSent)
	case len(data) > maxStored:
		return errors.New("etcdserver: request is too large")
	}
	p.etcd = data
	p.outcome.Stored = p.show(stored)
	p.reach(storing, stored, &Storing{Key: p.key(stored), Bytes: len(data)})
	return nil
}

// fieldErrors tells errors as values, sorted by their lines.
func fieldErrors(errs field.ErrorList, forgiven bool) []FieldError {
	told := []FieldError{}
	for _, err := range errs {
		told = append(told, FieldError{Line: err.Error(), Field: err.Field, Type: string(err.Type), Detail: err.Detail,
			Value: plainValue(err), Forgiven: forgiven})
	}
	slices.SortFunc(told, func(a, b FieldError) int { return cmp.Compare(a.Line, b.Line) })
	return told
}

// plainValue gives the value that the error's line prints; nil if it prints none.
func plainValue(err *field.Error) any {
	switch err.Type {
	case field.ErrorTypeRequired, field.ErrorTypeForbidden, field.ErrorTypeTooLong, field.ErrorTypeInternal, field.ErrorTypeTooShort:
		return nil
	}
	if _, omitted := err.BadValue.(field.OmitValueType); omitted {
		return nil
	}
	return err.BadValue
}
