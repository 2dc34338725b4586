package definition

import (
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"labkit.example/controlplane/internal/document"
	"labkit.example/controlplane/internal/handler"
)

var (
	scheme = newScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}

// decode decodes, defaults and converts to the internal form, with the server's codec: the defaults and the conversion are in
// its scheme. staging/src/k8s.io/apiserver/pkg/endpoints/handlers/create.go: createHandler
func decode(text, fieldValidation string) (*apiextensions.CustomResourceDefinition, []string, error) {
	if err := handler.CheckDirective(fieldValidation); err != nil {
		return nil, nil, err
	}
	doc, err := document.One(text)
	if err != nil {
		return nil, nil, err
	}
	if err := handler.CheckSize(doc.Data); err != nil {
		return nil, nil, handler.Refuse(err)
	}
	body, err := doc.JSON()
	if err != nil {
		return nil, nil, err
	}
	if document.IsPlain(body) {
		return nil, nil, errors.New("this is not a CustomResourceDefinition: it is a list or a plain value, no object")
	}
	gvk, err := json.DefaultMetaFactory.Interpret(body)
	if err != nil {
		return nil, nil, err
	}
	if gvk.Group != apiextensions.GroupName || gvk.Kind != "CustomResourceDefinition" {
		return nil, nil, notADefinition(gvk.GroupVersion().String(), gvk.Kind)
	}

	media := runtime.ContentTypeJSON
	if doc.YAML {
		media = runtime.ContentTypeYAML
	}
	info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	if !found {
		return nil, nil, fmt.Errorf("no decoder of %s", media)
	}
	decoder := info.StrictSerializer
	if fieldValidation == metav1.FieldValidationIgnore {
		decoder = info.Serializer
	}
	want := apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	into := &apiextensions.CustomResourceDefinition{}
	obj, got, err := codecs.DecoderToVersion(decoder, apiextensions.SchemeGroupVersion).Decode(doc.Data, &want, into)
	warnings, err := handler.AfterDecoding(err, obj != nil, fieldValidation, want.Kind, got, doc.Data)
	if err == nil {
		err = handler.CheckVersion(got.GroupVersion(), want.GroupVersion())
	}
	if err != nil {
		return nil, nil, handler.Refuse(err)
	}
	return obj.(*apiextensions.CustomResourceDefinition), warnings, nil
}
