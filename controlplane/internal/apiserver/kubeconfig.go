package apiserver

import (
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"labkit.example/controlplane/internal/pki"
)

// Kubeconfig is a whole kubeconfig file: server, authority and the client certificate are all in it.
func Kubeconfig(server, name string, ca string, user pki.Pair) ([]byte, error) {
	var authority, cert, key []byte
	for path, content := range map[string]*[]byte{ca: &authority, user.Cert: &cert, user.Key: &key} {
		var err error
		if *content, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// Client is the same as a configuration for clients in this process. The API server sets the limits, so the client has none.
func Client(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}
