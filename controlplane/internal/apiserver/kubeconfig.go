package apiserver

import (
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"labkit.example/controlplane/internal/pki"
)

// name is that of the cluster, the user and the context in the kubeconfig.
const name = "labkit"

// Access gives an administrator's way to the server: as the content of a kubeconfig file, whole in itself, and as the
// configuration of clients in this process. The server sets limits for its clients, so these have none of their own.
func Access(server string, p *pki.PKI) (kubeconfig []byte, client *rest.Config, err error) {
	cluster, user := &api.Cluster{Server: server}, &api.AuthInfo{}
	for path, content := range map[string]*[]byte{
		p.CA.Cert: &cluster.CertificateAuthorityData, p.Admin.Cert: &user.ClientCertificateData, p.Admin.Key: &user.ClientKeyData,
	} {
		if *content, err = os.ReadFile(path); err != nil {
			return nil, nil, err
		}
	}
	config := api.NewConfig()
	config.Clusters[name], config.AuthInfos[name] = cluster, user
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if kubeconfig, err = clientcmd.Write(*config); err != nil {
		return nil, nil, err
	}
	if client, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig); err != nil {
		return nil, nil, err
	}
	client.QPS = -1
	return kubeconfig, client, nil
}
