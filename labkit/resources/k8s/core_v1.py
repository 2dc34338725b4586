"""Generated from Kubernetes v1.37.2 by ``make kinds``; not to be edited.

The types of core/v1; ``kubectl explain`` has their prose.
"""

# ruff: noqa: N815  (fields carry the API's own names)

from __future__ import annotations

from labkit.resources import APIObject, Bool, Int, IntOrStr, List, Map, Object, Quantity, Resource, Str, Time
from labkit.resources.k8s.meta_v1 import LabelSelector
from labkit.resources.meta import ObjectMeta

__all__ = [
    "AWSElasticBlockStoreVolumeSource",
    "Affinity",
    "AppArmorProfile",
    "AzureDiskVolumeSource",
    "AzureFileVolumeSource",
    "CSIVolumeSource",
    "Capabilities",
    "CephFSVolumeSource",
    "CinderVolumeSource",
    "ClusterTrustBundleProjection",
    "ConfigMap",
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "Container",
    "ContainerExtendedResourceRequest",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "ContainerUser",
    "DownwardAPIProjection",
    "DownwardAPIVolumeFile",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EnvFromSource",
    "EnvVar",
    "EnvVarSource",
    "EphemeralContainer",
    "EphemeralVolumeSource",
    "EvictionResponder",
    "ExecAction",
    "FCVolumeSource",
    "FileKeySelector",
    "FlexVolumeSource",
    "FlockerVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "GRPCAction",
    "GitRepoVolumeSource",
    "GlusterfsVolumeSource",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "HostIP",
    "HostPathVolumeSource",
    "ISCSIVolumeSource",
    "ImageVolumeSource",
    "ImageVolumeStatus",
    "KeyToPath",
    "Lifecycle",
    "LifecycleHandler",
    "LinuxContainerUser",
    "LocalObjectReference",
    "NFSVolumeSource",
    "Namespace",
    "NamespaceCondition",
    "NamespaceSpec",
    "NamespaceStatus",
    "NodeAffinity",
    "NodeAllocatableMappedResources",
    "NodeAllocatableOverheadResources",
    "NodeAllocatableResourceClaimStatus",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "ObjectReference",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PhotonPersistentDiskVolumeSource",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PodCertificateProjection",
    "PodCondition",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodExtendedResourceClaimStatus",
    "PodIP",
    "PodOS",
    "PodReadinessGate",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSchedulingGroup",
    "PodSecurityContext",
    "PodSpec",
    "PodStatus",
    "PodVolumeHealth",
    "PortworxVolumeSource",
    "PreferredSchedulingTerm",
    "Probe",
    "ProjectedVolumeSource",
    "QuobyteVolumeSource",
    "RBDVolumeSource",
    "ResourceClaim",
    "ResourceFieldSelector",
    "ResourceHealth",
    "ResourceRequirements",
    "ResourceStatus",
    "SELinuxOptions",
    "ScaleIOVolumeSource",
    "SeccompProfile",
    "Secret",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretProjection",
    "SecretVolumeSource",
    "SecurityContext",
    "ServiceAccount",
    "ServiceAccountTokenProjection",
    "SleepAction",
    "StorageOSVolumeSource",
    "Sysctl",
    "TCPSocketAction",
    "Toleration",
    "TopologySpreadConstraint",
    "TypedLocalObjectReference",
    "TypedObjectReference",
    "Volume",
    "VolumeDevice",
    "VolumeHealthCondition",
    "VolumeMount",
    "VolumeMountStatus",
    "VolumeProjection",
    "VolumeResourceRequirements",
    "VolumeStatus",
    "VsphereVirtualDiskVolumeSource",
    "WeightedPodAffinityTerm",
    "WindowsSecurityContextOptions",
]


class AWSElasticBlockStoreVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource."""

    fsType = Str()
    partition = Int(format="int32")
    readOnly = Bool()
    volumeID = Str(required="schema")


class NodeSelectorRequirement(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NodeSelectorRequirement."""

    key = Str(required="schema")
    operator = Str(required="schema", enum=["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"])
    values = List(Str, list_type="atomic")


class NodeSelectorTerm(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.NodeSelectorTerm."""

    matchExpressions = List(Object(NodeSelectorRequirement), list_type="atomic")
    matchFields = List(Object(NodeSelectorRequirement), list_type="atomic")


class PreferredSchedulingTerm(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PreferredSchedulingTerm."""

    preference = Object(NodeSelectorTerm, required="schema")
    weight = Int(required="schema", format="int32")


class NodeSelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.NodeSelector."""

    nodeSelectorTerms = List(Object(NodeSelectorTerm), required="schema", list_type="atomic")


class NodeAffinity(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NodeAffinity."""

    preferredDuringSchedulingIgnoredDuringExecution = List(Object(PreferredSchedulingTerm), list_type="atomic")
    requiredDuringSchedulingIgnoredDuringExecution = Object(NodeSelector)


class PodAffinityTerm(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodAffinityTerm."""

    labelSelector = Object(LabelSelector)
    matchLabelKeys = List(Str, list_type="atomic")
    mismatchLabelKeys = List(Str, list_type="atomic")
    namespaceSelector = Object(LabelSelector)
    namespaces = List(Str, list_type="atomic")
    topologyKey = Str(required="schema")


class WeightedPodAffinityTerm(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.WeightedPodAffinityTerm."""

    podAffinityTerm = Object(PodAffinityTerm, required="schema")
    weight = Int(required="schema", format="int32")


class PodAffinity(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodAffinity."""

    preferredDuringSchedulingIgnoredDuringExecution = List(Object(WeightedPodAffinityTerm), list_type="atomic")
    requiredDuringSchedulingIgnoredDuringExecution = List(Object(PodAffinityTerm), list_type="atomic")


class PodAntiAffinity(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodAntiAffinity."""

    preferredDuringSchedulingIgnoredDuringExecution = List(Object(WeightedPodAffinityTerm), list_type="atomic")
    requiredDuringSchedulingIgnoredDuringExecution = List(Object(PodAffinityTerm), list_type="atomic")


class Affinity(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Affinity."""

    nodeAffinity = Object(NodeAffinity)
    podAffinity = Object(PodAffinity)
    podAntiAffinity = Object(PodAntiAffinity)


class AppArmorProfile(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.AppArmorProfile."""

    localhostProfile = Str()
    type = Str(required="schema", enum=["Localhost", "RuntimeDefault", "Unconfined"])


class AzureDiskVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.AzureDiskVolumeSource."""

    cachingMode = Str(default="ReadWrite", enum=["None", "ReadOnly", "ReadWrite"])
    diskName = Str(required="schema")
    diskURI = Str(required="schema")
    fsType = Str(default="ext4")
    kind = Str(default="Shared", enum=["Dedicated", "Managed", "Shared"])
    readOnly = Bool(default=False)


class AzureFileVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.AzureFileVolumeSource."""

    readOnly = Bool()
    secretName = Str(required="schema")
    shareName = Str(required="schema")


class LocalObjectReference(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.LocalObjectReference."""

    name = Str(default="")


class CSIVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.CSIVolumeSource."""

    driver = Str(required="schema")
    fsType = Str()
    nodePublishSecretRef = Object(LocalObjectReference)
    readOnly = Bool()
    volumeAttributes = Map(Str)


class Capabilities(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Capabilities."""

    add = List(Str, list_type="atomic")
    drop = List(Str, list_type="atomic")


class CephFSVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.CephFSVolumeSource."""

    monitors = List(Str, required="schema", list_type="atomic")
    path = Str()
    readOnly = Bool()
    secretFile = Str()
    secretRef = Object(LocalObjectReference)
    user = Str()


class CinderVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.CinderVolumeSource."""

    fsType = Str()
    readOnly = Bool()
    secretRef = Object(LocalObjectReference)
    volumeID = Str(required="schema")


class ClusterTrustBundleProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ClusterTrustBundleProjection."""

    labelSelector = Object(LabelSelector)
    name = Str()
    optional = Bool()
    path = Str(required="schema")
    signerName = Str()
    user = Int(format="int64")


class ConfigMap(APIObject, version="v1", plural="configmaps", lenient=True):
    """The API's type io.k8s.api.core.v1.ConfigMap."""

    binaryData = Map(Str(format="byte"))
    data = Map(Str)
    immutable = Bool()


class ConfigMapEnvSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ConfigMapEnvSource."""

    name = Str(default="")
    optional = Bool()


class ConfigMapKeySelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.ConfigMapKeySelector."""

    key = Str(required="schema")
    name = Str(default="")
    optional = Bool()


class KeyToPath(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.KeyToPath."""

    key = Str(required="schema")
    mode = Int(format="int32")
    path = Str(required="schema")
    user = Int(format="int64")


class ConfigMapProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ConfigMapProjection."""

    items = List(Object(KeyToPath), list_type="atomic")
    name = Str(default="")
    optional = Bool()


class ConfigMapVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ConfigMapVolumeSource."""

    defaultMode = Int(format="int32")
    defaultUser = Int(format="int64")
    items = List(Object(KeyToPath), list_type="atomic")
    name = Str(default="")
    optional = Bool()


class ObjectFieldSelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.ObjectFieldSelector."""

    apiVersion = Str()
    fieldPath = Str(required="schema")


class FileKeySelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.FileKeySelector."""

    key = Str(required="schema")
    optional = Bool(default=False)
    path = Str(required="schema")
    volumeName = Str(required="schema")


class ResourceFieldSelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.ResourceFieldSelector."""

    containerName = Str()
    divisor = Quantity(int_or_string=True)
    resource = Str(required="schema")


class SecretKeySelector(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.SecretKeySelector."""

    key = Str(required="schema")
    name = Str(default="")
    optional = Bool()


class EnvVarSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EnvVarSource."""

    configMapKeyRef = Object(ConfigMapKeySelector)
    fieldRef = Object(ObjectFieldSelector)
    fileKeyRef = Object(FileKeySelector)
    resourceFieldRef = Object(ResourceFieldSelector)
    secretKeyRef = Object(SecretKeySelector)


class EnvVar(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EnvVar."""

    name = Str(required="schema")
    value = Str()
    valueFrom = Object(EnvVarSource)


class SecretEnvSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SecretEnvSource."""

    name = Str(default="")
    optional = Bool()


class EnvFromSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EnvFromSource."""

    configMapRef = Object(ConfigMapEnvSource)
    prefix = Str()
    secretRef = Object(SecretEnvSource)


class ExecAction(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ExecAction."""

    command = List(Str, list_type="atomic")


class HTTPHeader(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.HTTPHeader."""

    name = Str(required="schema")
    value = Str(required="schema")


class HTTPGetAction(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.HTTPGetAction."""

    host = Str()
    httpHeaders = List(Object(HTTPHeader), list_type="atomic")
    path = Str()
    port = IntOrStr(required="schema")
    protocol = Str(enum=["HTTP1", "HTTP2"])
    scheme = Str(enum=["HTTP", "HTTPS"])


class SleepAction(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SleepAction."""

    seconds = Int(required="schema", format="int64")


class TCPSocketAction(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.TCPSocketAction."""

    host = Str()
    port = IntOrStr(required="schema")


class LifecycleHandler(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.LifecycleHandler."""

    exec = Object(ExecAction)
    httpGet = Object(HTTPGetAction)
    sleep = Object(SleepAction)
    tcpSocket = Object(TCPSocketAction)


class Lifecycle(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Lifecycle."""

    postStart = Object(LifecycleHandler)
    preStop = Object(LifecycleHandler)
    stopSignal = Str(
        enum=[
            "SIGABRT",
            "SIGALRM",
            "SIGBUS",
            "SIGCHLD",
            "SIGCLD",
            "SIGCONT",
            "SIGFPE",
            "SIGHUP",
            "SIGILL",
            "SIGINT",
            "SIGIO",
            "SIGIOT",
            "SIGKILL",
            "SIGPIPE",
            "SIGPOLL",
            "SIGPROF",
            "SIGPWR",
            "SIGQUIT",
            "SIGRTMAX",
            "SIGRTMAX-1",
            "SIGRTMAX-10",
            "SIGRTMAX-11",
            "SIGRTMAX-12",
            "SIGRTMAX-13",
            "SIGRTMAX-14",
            "SIGRTMAX-2",
            "SIGRTMAX-3",
            "SIGRTMAX-4",
            "SIGRTMAX-5",
            "SIGRTMAX-6",
            "SIGRTMAX-7",
            "SIGRTMAX-8",
            "SIGRTMAX-9",
            "SIGRTMIN",
            "SIGRTMIN+1",
            "SIGRTMIN+10",
            "SIGRTMIN+11",
            "SIGRTMIN+12",
            "SIGRTMIN+13",
            "SIGRTMIN+14",
            "SIGRTMIN+15",
            "SIGRTMIN+2",
            "SIGRTMIN+3",
            "SIGRTMIN+4",
            "SIGRTMIN+5",
            "SIGRTMIN+6",
            "SIGRTMIN+7",
            "SIGRTMIN+8",
            "SIGRTMIN+9",
            "SIGSEGV",
            "SIGSTKFLT",
            "SIGSTOP",
            "SIGSYS",
            "SIGTERM",
            "SIGTRAP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGURG",
            "SIGUSR1",
            "SIGUSR2",
            "SIGVTALRM",
            "SIGWINCH",
            "SIGXCPU",
            "SIGXFSZ",
        ]
    )


class GRPCAction(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.GRPCAction."""

    mode = Str(enum=["Plaintext", "TLS"])
    port = Int(required="schema", format="int32")
    service = Str(default="")


class Probe(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Probe."""

    exec = Object(ExecAction)
    failureThreshold = Int(format="int32")
    grpc = Object(GRPCAction)
    httpGet = Object(HTTPGetAction)
    initialDelaySeconds = Int(format="int32")
    periodSeconds = Int(format="int32")
    successThreshold = Int(format="int32")
    tcpSocket = Object(TCPSocketAction)
    terminationGracePeriodSeconds = Int(format="int64")
    timeoutSeconds = Int(format="int32")


class ContainerPort(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerPort."""

    containerPort = Int(required="schema", format="int32")
    hostIP = Str()
    hostPort = Int(format="int32")
    name = Str()
    protocol = Str(default="TCP", enum=["SCTP", "TCP", "UDP"])


class ContainerResizePolicy(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerResizePolicy."""

    resourceName = Str(required="schema")
    restartPolicy = Str(required="schema")


class ResourceClaim(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ResourceClaim."""

    name = Str(required="schema")
    request = Str()


class ResourceRequirements(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ResourceRequirements."""

    claims = List(Object(ResourceClaim), list_map_keys=["name"], list_type="map")
    limits = Map(Quantity(int_or_string=True))
    requests = Map(Quantity(int_or_string=True))


class ContainerRestartRuleOnExitCodes(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes."""

    operator = Str(required="schema")
    values = List(Int(format="int32"), list_type="set")


class ContainerRestartRule(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerRestartRule."""

    action = Str(required="schema")
    exitCodes = Object(ContainerRestartRuleOnExitCodes)


class SELinuxOptions(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SELinuxOptions."""

    level = Str()
    role = Str()
    type = Str()
    user = Str()


class SeccompProfile(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SeccompProfile."""

    localhostProfile = Str()
    type = Str(required="schema", enum=["Localhost", "RuntimeDefault", "Unconfined"])


class WindowsSecurityContextOptions(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.WindowsSecurityContextOptions."""

    gmsaCredentialSpec = Str()
    gmsaCredentialSpecName = Str()
    hostProcess = Bool()
    runAsUserName = Str()


class SecurityContext(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SecurityContext."""

    allowPrivilegeEscalation = Bool()
    appArmorProfile = Object(AppArmorProfile)
    capabilities = Object(Capabilities)
    privileged = Bool()
    procMount = Str(enum=["Default", "Unmasked"])
    readOnlyRootFilesystem = Bool()
    runAsGroup = Int(format="int64")
    runAsNonRoot = Bool()
    runAsUser = Int(format="int64")
    seLinuxOptions = Object(SELinuxOptions)
    seccompProfile = Object(SeccompProfile)
    windowsOptions = Object(WindowsSecurityContextOptions)


class VolumeDevice(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeDevice."""

    devicePath = Str(required="schema")
    name = Str(required="schema")


class VolumeMount(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeMount."""

    bindMountOptions = List(Str, list_type="set")
    mountPath = Str(required="schema")
    mountPropagation = Str(enum=["Bidirectional", "HostToContainer", "None"])
    name = Str(required="schema")
    readOnly = Bool()
    recursiveReadOnly = Str()
    subPath = Str()
    subPathExpr = Str()


class Container(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Container."""

    args = List(Str, list_type="atomic")
    command = List(Str, list_type="atomic")
    env = List(Object(EnvVar), list_map_keys=["name"], list_type="map")
    envFrom = List(Object(EnvFromSource), list_type="atomic")
    image = Str()
    imagePullPolicy = Str(enum=["Always", "IfNotPresent", "Never"])
    lifecycle = Object(Lifecycle)
    livenessProbe = Object(Probe)
    name = Str(required="schema")
    ports = List(Object(ContainerPort), list_map_keys=["containerPort", "protocol"], list_type="map")
    readinessProbe = Object(Probe)
    resizePolicy = List(Object(ContainerResizePolicy), list_type="atomic")
    resources = Object(ResourceRequirements)
    restartPolicy = Str()
    restartPolicyRules = List(Object(ContainerRestartRule), list_type="atomic")
    securityContext = Object(SecurityContext)
    startupProbe = Object(Probe)
    stdin = Bool()
    stdinOnce = Bool()
    terminationMessagePath = Str()
    terminationMessagePolicy = Str(enum=["FallbackToLogsOnError", "File"])
    tty = Bool()
    volumeDevices = List(Object(VolumeDevice), list_map_keys=["devicePath"], list_type="map")
    volumeMounts = List(Object(VolumeMount), list_map_keys=["mountPath"], list_type="map")
    workingDir = Str()


class ContainerExtendedResourceRequest(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerExtendedResourceRequest."""

    containerName = Str(required="schema")
    requestName = Str(required="schema")
    resourceName = Str(required="schema")


class ContainerStateRunning(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerStateRunning."""

    startedAt = Time()


class ContainerStateTerminated(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerStateTerminated."""

    containerID = Str()
    exitCode = Int(required="schema", format="int32")
    finishedAt = Time()
    message = Str()
    reason = Str()
    signal = Int(format="int32")
    startedAt = Time()


class ContainerStateWaiting(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerStateWaiting."""

    message = Str()
    reason = Str()


class ContainerState(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerState."""

    running = Object(ContainerStateRunning)
    terminated = Object(ContainerStateTerminated)
    waiting = Object(ContainerStateWaiting)


class ResourceHealth(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ResourceHealth."""

    health = Str()
    message = Str()
    resourceID = Str(required="schema")


class ResourceStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ResourceStatus."""

    name = Str(required="schema")
    resources = List(Object(ResourceHealth), list_map_keys=["resourceID"], list_type="map")


class LinuxContainerUser(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.LinuxContainerUser."""

    gid = Int(required="schema", format="int64")
    supplementalGroups = List(Int(format="int64"), list_type="atomic")
    uid = Int(required="schema", format="int64")


class ContainerUser(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerUser."""

    linux = Object(LinuxContainerUser)


class ImageVolumeStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ImageVolumeStatus."""

    imageRef = Str(required="schema")


class VolumeStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeStatus."""

    image = Object(ImageVolumeStatus)


class VolumeMountStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeMountStatus."""

    mountPath = Str(required="schema")
    name = Str(required="schema")
    readOnly = Bool()
    recursiveReadOnly = Str()
    volumeStatus = Object(VolumeStatus)


class ContainerStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ContainerStatus."""

    allocatedResources = Map(Quantity(int_or_string=True))
    allocatedResourcesStatus = List(Object(ResourceStatus), list_map_keys=["name"], list_type="map")
    containerID = Str()
    image = Str(required="schema")
    imageID = Str(required="schema")
    lastState = Object(ContainerState)
    name = Str(required="schema")
    ready = Bool(required="schema")
    resources = Object(ResourceRequirements)
    restartCount = Int(required="schema", format="int32")
    started = Bool()
    state = Object(ContainerState)
    stopSignal = Str(
        enum=[
            "SIGABRT",
            "SIGALRM",
            "SIGBUS",
            "SIGCHLD",
            "SIGCLD",
            "SIGCONT",
            "SIGFPE",
            "SIGHUP",
            "SIGILL",
            "SIGINT",
            "SIGIO",
            "SIGIOT",
            "SIGKILL",
            "SIGPIPE",
            "SIGPOLL",
            "SIGPROF",
            "SIGPWR",
            "SIGQUIT",
            "SIGRTMAX",
            "SIGRTMAX-1",
            "SIGRTMAX-10",
            "SIGRTMAX-11",
            "SIGRTMAX-12",
            "SIGRTMAX-13",
            "SIGRTMAX-14",
            "SIGRTMAX-2",
            "SIGRTMAX-3",
            "SIGRTMAX-4",
            "SIGRTMAX-5",
            "SIGRTMAX-6",
            "SIGRTMAX-7",
            "SIGRTMAX-8",
            "SIGRTMAX-9",
            "SIGRTMIN",
            "SIGRTMIN+1",
            "SIGRTMIN+10",
            "SIGRTMIN+11",
            "SIGRTMIN+12",
            "SIGRTMIN+13",
            "SIGRTMIN+14",
            "SIGRTMIN+15",
            "SIGRTMIN+2",
            "SIGRTMIN+3",
            "SIGRTMIN+4",
            "SIGRTMIN+5",
            "SIGRTMIN+6",
            "SIGRTMIN+7",
            "SIGRTMIN+8",
            "SIGRTMIN+9",
            "SIGSEGV",
            "SIGSTKFLT",
            "SIGSTOP",
            "SIGSYS",
            "SIGTERM",
            "SIGTRAP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGURG",
            "SIGUSR1",
            "SIGUSR2",
            "SIGVTALRM",
            "SIGWINCH",
            "SIGXCPU",
            "SIGXFSZ",
        ]
    )
    user = Object(ContainerUser)
    volumeMounts = List(Object(VolumeMountStatus), list_map_keys=["mountPath"], list_type="map")


class DownwardAPIVolumeFile(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.DownwardAPIVolumeFile."""

    fieldRef = Object(ObjectFieldSelector)
    mode = Int(format="int32")
    path = Str(required="schema")
    resourceFieldRef = Object(ResourceFieldSelector)
    user = Int(format="int64")


class DownwardAPIProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.DownwardAPIProjection."""

    items = List(Object(DownwardAPIVolumeFile), list_type="atomic")


class DownwardAPIVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.DownwardAPIVolumeSource."""

    defaultMode = Int(format="int32")
    defaultUser = Int(format="int64")
    items = List(Object(DownwardAPIVolumeFile), list_type="atomic")


class EmptyDirVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EmptyDirVolumeSource."""

    medium = Str()
    mode = Int(format="int32")
    sizeLimit = Quantity(int_or_string=True)


class EphemeralContainer(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EphemeralContainer."""

    args = List(Str, list_type="atomic")
    command = List(Str, list_type="atomic")
    env = List(Object(EnvVar), list_map_keys=["name"], list_type="map")
    envFrom = List(Object(EnvFromSource), list_type="atomic")
    image = Str()
    imagePullPolicy = Str(enum=["Always", "IfNotPresent", "Never"])
    lifecycle = Object(Lifecycle)
    livenessProbe = Object(Probe)
    name = Str(required="schema")
    ports = List(Object(ContainerPort), list_map_keys=["containerPort", "protocol"], list_type="map")
    readinessProbe = Object(Probe)
    resizePolicy = List(Object(ContainerResizePolicy), list_type="atomic")
    resources = Object(ResourceRequirements)
    restartPolicy = Str()
    restartPolicyRules = List(Object(ContainerRestartRule), list_type="atomic")
    securityContext = Object(SecurityContext)
    startupProbe = Object(Probe)
    stdin = Bool()
    stdinOnce = Bool()
    targetContainerName = Str()
    terminationMessagePath = Str()
    terminationMessagePolicy = Str(enum=["FallbackToLogsOnError", "File"])
    tty = Bool()
    volumeDevices = List(Object(VolumeDevice), list_map_keys=["devicePath"], list_type="map")
    volumeMounts = List(Object(VolumeMount), list_map_keys=["mountPath"], list_type="map")
    workingDir = Str()


class TypedLocalObjectReference(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.TypedLocalObjectReference."""

    apiGroup = Str()
    kind = Str(required="schema")
    name = Str(required="schema")


class TypedObjectReference(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.TypedObjectReference."""

    apiGroup = Str()
    kind = Str(required="schema")
    name = Str(required="schema")
    namespace = Str()


class VolumeResourceRequirements(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeResourceRequirements."""

    limits = Map(Quantity(int_or_string=True))
    requests = Map(Quantity(int_or_string=True))


class PersistentVolumeClaimSpec(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PersistentVolumeClaimSpec."""

    accessModes = List(
        Str(enum=["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]), list_type="atomic"
    )
    dataSource = Object(TypedLocalObjectReference)
    dataSourceRef = Object(TypedObjectReference)
    resources = Object(VolumeResourceRequirements)
    selector = Object(LabelSelector)
    storageClassName = Str()
    volumeAttributesClassName = Str()
    volumeMode = Str(enum=["Block", "Filesystem"])
    volumeName = Str()


class PersistentVolumeClaimTemplate(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PersistentVolumeClaimTemplate."""

    metadata = Object(ObjectMeta)
    spec = Object(PersistentVolumeClaimSpec, required="schema")


class EphemeralVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.EphemeralVolumeSource."""

    volumeClaimTemplate = Object(PersistentVolumeClaimTemplate)


class EvictionResponder(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.EvictionResponder."""

    name = Str(required="schema")
    priority = Int(required="schema", format="int32")


class FCVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.FCVolumeSource."""

    fsType = Str()
    lun = Int(format="int32")
    readOnly = Bool()
    targetWWNs = List(Str, list_type="atomic")
    wwids = List(Str, list_type="atomic")


class FlexVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.FlexVolumeSource."""

    driver = Str(required="schema")
    fsType = Str()
    options = Map(Str)
    readOnly = Bool()
    secretRef = Object(LocalObjectReference)


class FlockerVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.FlockerVolumeSource."""

    datasetName = Str()
    datasetUUID = Str()


class GCEPersistentDiskVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.GCEPersistentDiskVolumeSource."""

    fsType = Str()
    partition = Int(format="int32")
    pdName = Str(required="schema")
    readOnly = Bool()


class GitRepoVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.GitRepoVolumeSource."""

    directory = Str()
    repository = Str(required="schema")
    revision = Str()


class GlusterfsVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.GlusterfsVolumeSource."""

    endpoints = Str(required="schema")
    path = Str(required="schema")
    readOnly = Bool()


class HostAlias(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.HostAlias."""

    hostnames = List(Str, list_type="atomic")
    ip = Str(required="schema")


class HostIP(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.HostIP."""

    ip = Str(required="schema")


class HostPathVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.HostPathVolumeSource."""

    path = Str(required="schema")
    type = Str(
        enum=["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"]
    )


class ISCSIVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ISCSIVolumeSource."""

    chapAuthDiscovery = Bool()
    chapAuthSession = Bool()
    fsType = Str()
    initiatorName = Str()
    iqn = Str(required="schema")
    iscsiInterface = Str(default="default")
    lun = Int(required="schema", format="int32")
    portals = List(Str, list_type="atomic")
    readOnly = Bool()
    secretRef = Object(LocalObjectReference)
    targetPortal = Str(required="schema")


class ImageVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ImageVolumeSource."""

    pullPolicy = Str(enum=["Always", "IfNotPresent", "Never"])
    reference = Str()


class NFSVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NFSVolumeSource."""

    path = Str(required="schema")
    readOnly = Bool()
    server = Str(required="schema")


class NamespaceSpec(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NamespaceSpec."""

    finalizers = List(Str, list_type="atomic")


class NamespaceCondition(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NamespaceCondition."""

    lastTransitionTime = Time()
    message = Str()
    reason = Str()
    status = Str(required="schema")
    type = Str(required="schema")


class NamespaceStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NamespaceStatus."""

    conditions = List(Object(NamespaceCondition), list_map_keys=["type"], list_type="map")
    phase = Str(enum=["Active", "Terminating"])


class Namespace(APIObject, version="v1", plural="namespaces", scope="Cluster", lenient=True):
    """The API's type io.k8s.api.core.v1.Namespace."""

    spec = Object(NamespaceSpec)
    status = Object(NamespaceStatus)


class NodeAllocatableMappedResources(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NodeAllocatableMappedResources."""

    name = Str(required="schema")
    quantity = Quantity(required="schema", int_or_string=True)


class NodeAllocatableOverheadResources(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NodeAllocatableOverheadResources."""

    name = Str(required="schema")
    perContainer = Quantity(int_or_string=True)
    perPod = Quantity(int_or_string=True)


class NodeAllocatableResourceClaimStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus."""

    containers = List(Str, list_type="set")
    mapping = List(Object(NodeAllocatableMappedResources), list_map_keys=["name"], list_type="map")
    overhead = List(Object(NodeAllocatableOverheadResources), list_map_keys=["name"], list_type="map")
    resourceClaimName = Str(required="schema")


class ObjectReference(Resource, map_type="atomic", lenient=True):
    """The API's type io.k8s.api.core.v1.ObjectReference."""

    apiVersion = Str()
    fieldPath = Str()
    kind = Str()
    name = Str()
    namespace = Str()
    resourceVersion = Str()
    uid = Str()


class PersistentVolumeClaimVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource."""

    claimName = Str(required="schema")
    readOnly = Bool()


class PhotonPersistentDiskVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource."""

    fsType = Str()
    pdID = Str(required="schema")


class PodDNSConfigOption(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodDNSConfigOption."""

    name = Str()
    value = Str()


class PodDNSConfig(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodDNSConfig."""

    nameservers = List(Str, list_type="atomic")
    options = List(Object(PodDNSConfigOption), list_type="atomic")
    searches = List(Str, list_type="atomic")


class PodOS(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodOS."""

    name = Str(required="schema")


class PodReadinessGate(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodReadinessGate."""

    conditionType = Str(required="schema")


class PodResourceClaim(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodResourceClaim."""

    name = Str(required="schema")
    resourceClaimName = Str()
    resourceClaimTemplateName = Str()


class PodSchedulingGate(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodSchedulingGate."""

    name = Str(required="schema")


class PodSchedulingGroup(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodSchedulingGroup."""

    podGroupName = Str()


class Sysctl(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Sysctl."""

    name = Str(required="schema")
    value = Str(required="schema")


class PodSecurityContext(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodSecurityContext."""

    appArmorProfile = Object(AppArmorProfile)
    fsGroup = Int(format="int64")
    fsGroupChangePolicy = Str(enum=["Always", "OnRootMismatch"])
    runAsGroup = Int(format="int64")
    runAsNonRoot = Bool()
    runAsUser = Int(format="int64")
    seLinuxChangePolicy = Str()
    seLinuxOptions = Object(SELinuxOptions)
    seccompProfile = Object(SeccompProfile)
    supplementalGroups = List(Int(format="int64"), list_type="atomic")
    supplementalGroupsPolicy = Str(enum=["Merge", "Strict"])
    sysctls = List(Object(Sysctl), list_type="atomic")
    windowsOptions = Object(WindowsSecurityContextOptions)


class Toleration(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Toleration."""

    effect = Str(enum=["NoExecute", "NoSchedule", "PreferNoSchedule"])
    key = Str()
    operator = Str(enum=["Equal", "Exists", "Gt", "Lt"])
    tolerationSeconds = Int(format="int64")
    value = Str()


class TopologySpreadConstraint(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.TopologySpreadConstraint."""

    labelSelector = Object(LabelSelector)
    matchLabelKeys = List(Str, list_type="atomic")
    maxSkew = Int(required="schema", format="int32")
    minDomains = Int(format="int32")
    nodeAffinityPolicy = Str(enum=["Honor", "Ignore"])
    nodeTaintsPolicy = Str(enum=["Honor", "Ignore"])
    topologyKey = Str(required="schema")
    whenUnsatisfiable = Str(required="schema", enum=["DoNotSchedule", "ScheduleAnyway"])


class PortworxVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PortworxVolumeSource."""

    fsType = Str()
    readOnly = Bool()
    volumeID = Str(required="schema")


class PodCertificateProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodCertificateProjection."""

    certificateChainPath = Str()
    credentialBundlePath = Str()
    keyPath = Str()
    keyType = Str(required="schema")
    maxExpirationSeconds = Int(format="int32")
    signerName = Str(required="schema")
    user = Int(format="int64")
    userAnnotations = Map(Str)


class SecretProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SecretProjection."""

    items = List(Object(KeyToPath), list_type="atomic")
    name = Str(default="")
    optional = Bool()


class ServiceAccountTokenProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ServiceAccountTokenProjection."""

    audience = Str()
    expirationSeconds = Int(format="int64")
    path = Str(required="schema")
    user = Int(format="int64")


class VolumeProjection(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeProjection."""

    clusterTrustBundle = Object(ClusterTrustBundleProjection)
    configMap = Object(ConfigMapProjection)
    downwardAPI = Object(DownwardAPIProjection)
    podCertificate = Object(PodCertificateProjection)
    secret = Object(SecretProjection)
    serviceAccountToken = Object(ServiceAccountTokenProjection)


class ProjectedVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ProjectedVolumeSource."""

    defaultMode = Int(format="int32")
    defaultUser = Int(format="int64")
    sources = List(Object(VolumeProjection), list_type="atomic")


class QuobyteVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.QuobyteVolumeSource."""

    group = Str()
    readOnly = Bool()
    registry = Str(required="schema")
    tenant = Str()
    user = Str()
    volume = Str(required="schema")


class RBDVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.RBDVolumeSource."""

    fsType = Str()
    image = Str(required="schema")
    keyring = Str(default="/etc/ceph/keyring")
    monitors = List(Str, required="schema", list_type="atomic")
    pool = Str(default="rbd")
    readOnly = Bool()
    secretRef = Object(LocalObjectReference)
    user = Str(default="admin")


class ScaleIOVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.ScaleIOVolumeSource."""

    fsType = Str(default="xfs")
    gateway = Str(required="schema")
    protectionDomain = Str()
    readOnly = Bool()
    secretRef = Object(LocalObjectReference, required="schema")
    sslEnabled = Bool()
    storageMode = Str(default="ThinProvisioned")
    storagePool = Str()
    system = Str(required="schema")
    volumeName = Str()


class SecretVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.SecretVolumeSource."""

    defaultMode = Int(format="int32")
    defaultUser = Int(format="int64")
    items = List(Object(KeyToPath), list_type="atomic")
    optional = Bool()
    secretName = Str()


class StorageOSVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.StorageOSVolumeSource."""

    fsType = Str()
    readOnly = Bool()
    secretRef = Object(LocalObjectReference)
    volumeName = Str()
    volumeNamespace = Str()


class VsphereVirtualDiskVolumeSource(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource."""

    fsType = Str()
    storagePolicyID = Str()
    storagePolicyName = Str()
    volumePath = Str(required="schema")


class Volume(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.Volume."""

    awsElasticBlockStore = Object(AWSElasticBlockStoreVolumeSource)
    azureDisk = Object(AzureDiskVolumeSource)
    azureFile = Object(AzureFileVolumeSource)
    cephfs = Object(CephFSVolumeSource)
    cinder = Object(CinderVolumeSource)
    configMap = Object(ConfigMapVolumeSource)
    csi = Object(CSIVolumeSource)
    downwardAPI = Object(DownwardAPIVolumeSource)
    emptyDir = Object(EmptyDirVolumeSource)
    ephemeral = Object(EphemeralVolumeSource)
    fc = Object(FCVolumeSource)
    flexVolume = Object(FlexVolumeSource)
    flocker = Object(FlockerVolumeSource)
    gcePersistentDisk = Object(GCEPersistentDiskVolumeSource)
    gitRepo = Object(GitRepoVolumeSource)
    glusterfs = Object(GlusterfsVolumeSource)
    hostPath = Object(HostPathVolumeSource)
    image = Object(ImageVolumeSource)
    iscsi = Object(ISCSIVolumeSource)
    name = Str(required="schema")
    nfs = Object(NFSVolumeSource)
    persistentVolumeClaim = Object(PersistentVolumeClaimVolumeSource)
    photonPersistentDisk = Object(PhotonPersistentDiskVolumeSource)
    portworxVolume = Object(PortworxVolumeSource)
    projected = Object(ProjectedVolumeSource)
    quobyte = Object(QuobyteVolumeSource)
    rbd = Object(RBDVolumeSource)
    scaleIO = Object(ScaleIOVolumeSource)
    secret = Object(SecretVolumeSource)
    storageos = Object(StorageOSVolumeSource)
    vsphereVolume = Object(VsphereVirtualDiskVolumeSource)


class PodSpec(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodSpec."""

    activeDeadlineSeconds = Int(format="int64")
    affinity = Object(Affinity)
    automountServiceAccountToken = Bool()
    containers = List(Object(Container), required="schema", list_map_keys=["name"], list_type="map")
    dnsConfig = Object(PodDNSConfig)
    dnsPolicy = Str(enum=["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"])
    enableServiceLinks = Bool()
    ephemeralContainers = List(Object(EphemeralContainer), list_map_keys=["name"], list_type="map")
    evictionResponders = List(Object(EvictionResponder), list_map_keys=["name"], list_type="map")
    hostAliases = List(Object(HostAlias), list_map_keys=["ip"], list_type="map")
    hostIPC = Bool()
    hostNetwork = Bool()
    hostPID = Bool()
    hostUsers = Bool()
    hostname = Str()
    hostnameOverride = Str()
    imagePullSecrets = List(Object(LocalObjectReference), list_map_keys=["name"], list_type="map")
    initContainers = List(Object(Container), list_map_keys=["name"], list_type="map")
    nodeName = Str()
    nodeSelector = Map(Str, map_type="atomic")
    os = Object(PodOS)
    overhead = Map(Quantity(int_or_string=True))
    preemptionPolicy = Str(enum=["Never", "PreemptLowerPriority"])
    priority = Int(format="int32")
    priorityClassName = Str()
    readinessGates = List(Object(PodReadinessGate), list_type="atomic")
    resourceClaims = List(Object(PodResourceClaim), list_map_keys=["name"], list_type="map")
    resources = Object(ResourceRequirements)
    restartPolicy = Str(enum=["Always", "Never", "OnFailure"])
    runtimeClassName = Str()
    schedulerName = Str()
    schedulingGates = List(Object(PodSchedulingGate), list_map_keys=["name"], list_type="map")
    schedulingGroup = Object(PodSchedulingGroup)
    securityContext = Object(PodSecurityContext)
    serviceAccount = Str()
    serviceAccountName = Str()
    setHostnameAsFQDN = Bool()
    shareProcessNamespace = Bool()
    subdomain = Str()
    terminationGracePeriodSeconds = Int(format="int64")
    tolerations = List(Object(Toleration), list_type="atomic")
    topologySpreadConstraints = List(
        Object(TopologySpreadConstraint), list_map_keys=["topologyKey", "whenUnsatisfiable"], list_type="map"
    )
    volumes = List(Object(Volume), list_map_keys=["name"], list_type="map")


class PodCondition(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodCondition."""

    lastProbeTime = Time()
    lastTransitionTime = Time()
    message = Str()
    observedGeneration = Int(format="int64")
    reason = Str()
    status = Str(required="schema")
    type = Str(required="schema")


class PodExtendedResourceClaimStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodExtendedResourceClaimStatus."""

    requestMappings = List(Object(ContainerExtendedResourceRequest), required="schema", list_type="atomic")
    resourceClaimName = Str(required="schema")


class PodIP(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodIP."""

    ip = Str(required="schema")


class PodResourceClaimStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodResourceClaimStatus."""

    name = Str(required="schema")
    resourceClaimName = Str()


class VolumeHealthCondition(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.VolumeHealthCondition."""

    message = Str()
    reason = Str(required="schema")
    status = Str(required="schema", enum=["DataLoss", "Degraded", "Inaccessible"])


class PodVolumeHealth(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodVolumeHealth."""

    healthConditions = List(Object(VolumeHealthCondition), list_map_keys=["status", "reason"], list_type="map")
    lastTransitionTime = Time()
    name = Str(required="schema")


class PodStatus(Resource, lenient=True):
    """The API's type io.k8s.api.core.v1.PodStatus."""

    allocatedResources = Map(Quantity(int_or_string=True))
    conditions = List(Object(PodCondition), list_map_keys=["type"], list_type="map")
    containerStatuses = List(Object(ContainerStatus), list_type="atomic")
    ephemeralContainerStatuses = List(Object(ContainerStatus), list_type="atomic")
    extendedResourceClaimStatus = Object(PodExtendedResourceClaimStatus)
    hostIP = Str()
    hostIPs = List(Object(HostIP), list_type="atomic")
    initContainerStatuses = List(Object(ContainerStatus), list_type="atomic")
    message = Str()
    nodeAllocatableResourceClaimStatuses = List(
        Object(NodeAllocatableResourceClaimStatus), list_map_keys=["resourceClaimName"], list_type="map"
    )
    nominatedNodeName = Str()
    observedGeneration = Int(format="int64")
    phase = Str(enum=["Failed", "Pending", "Running", "Succeeded", "Unknown"])
    podIP = Str()
    podIPs = List(Object(PodIP), list_map_keys=["ip"], list_type="map")
    qosClass = Str(enum=["BestEffort", "Burstable", "Guaranteed"])
    reason = Str()
    resize = Str()
    resourceClaimStatuses = List(Object(PodResourceClaimStatus), list_map_keys=["name"], list_type="map")
    resources = Object(ResourceRequirements)
    startTime = Time()
    volumeHealth = List(Object(PodVolumeHealth), list_map_keys=["name"], list_type="map")


class Pod(APIObject, version="v1", plural="pods", lenient=True):
    """The API's type io.k8s.api.core.v1.Pod."""

    spec = Object(PodSpec)
    status = Object(PodStatus)


class Secret(APIObject, version="v1", plural="secrets", lenient=True):
    """The API's type io.k8s.api.core.v1.Secret."""

    data = Map(Str(format="byte"))
    immutable = Bool()
    stringData = Map(Str)
    type = Str()


class ServiceAccount(APIObject, version="v1", plural="serviceaccounts", lenient=True):
    """The API's type io.k8s.api.core.v1.ServiceAccount."""

    automountServiceAccountToken = Bool()
    imagePullSecrets = List(Object(LocalObjectReference), list_type="atomic")
    secrets = List(Object(ObjectReference), list_map_keys=["name"], list_type="map")
