package announce

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"k8s.io/component-base/version"

	"labkit.example/controlplane/internal/etcd"
	"labkit.example/controlplane/internal/fault"
)

const kubernetesModule = "k8s.io/kubernetes"

// Built gives the versions in this program. Kubernetes reports the version that the linker was told; a build that was told
// none, or another than the module has, is refused here: every client of it would see a wrong version.
func Built() (Versions, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Versions{}, fault.New("built without build information", fmt.Errorf("no list of modules"), "build it as controlplane/README.md says")
	}
	var module string
	for _, dependency := range build.Deps {
		if dependency.Path == kubernetesModule {
			module = dependency.Version
		}
	}
	if linked := version.Get().GitVersion; linked != module {
		return Versions{}, fault.New("built without its Kubernetes version",
			fmt.Errorf("the linker was told %q, the module is %s %s", linked, kubernetesModule, module),
			"build it as controlplane/README.md says")
	}
	return Versions{Kubernetes: module, Etcd: etcd.Version, Go: runtime.Version()}, nil
}
