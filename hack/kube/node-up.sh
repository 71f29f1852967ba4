#!/usr/bin/env bash
# Starts kubelet, kube-proxy and the program that enforces NetworkPolicies, and waits for the node to be Ready.
set -euo pipefail
. "$(dirname "$0")/env.sh"
pki=$state/pki
mkdir -p "$state/kubelet" "$state/manifests"
printf 'search .\n' > "$state/resolv.conf"
cat > "$state/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 0.0.0.0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
clusterDNS: [$dns_ip]
clusterDomain: cluster.local
resolvConf: $state/resolv.conf
containerRuntimeEndpoint: unix://$state/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
failSwapOn: false
failCgroupV1: false
featureGates: {KubeletInUserNamespace: true}
protectKernelDefaults: false
makeIPTablesUtilChains: true
maxOpenFiles: 20000
podLogsDir: $state/pod-logs
volumePluginDir: $state/kubelet/volumeplugins
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
serializeImagePulls: false
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
YAML
cat > "$state/proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ${FOYER_PROXY_MODE:-nftables}
bindAddress: 0.0.0.0
clusterCIDR: $pod_cidr
hostnameOverride: $node
clientConnection: {kubeconfig: $state/proxy.kubeconfig}
conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
iptables: {syncPeriod: 5s, minSyncPeriod: 0s}
nftables: {syncPeriod: 5s, minSyncPeriod: 0s}
YAML
start kubelet in_ns "$bin/kubelet" --config "$state/kubelet.yaml" --kubeconfig "$state/kubelet.kubeconfig" --root-dir "$state/kubelet" --hostname-override $node --node-ip $node_ip
start policies in_ns "$here/../../node_modules/.bin/node" "$here/policies.ts" "$state/admin.kubeconfig" "$link-node"
start kube-proxy in_ns "$bin/kube-proxy" --config "$state/proxy.yaml"

wait_for 60 "node" k get node $node
k wait --for=condition=Ready node/$node --timeout=60s
