#!/usr/bin/env bash
# metrics.sh PROGRAM: starts metrics-server, which reports the usage of pods to autoscalers.
set -euo pipefail
. "$(dirname "$0")/env.sh"
[ ! -d "$state/kind" ] || die 'a cluster of kind gets metrics-server as its own documentation says'
program=${1:?metrics needs the program of metrics-server}
mkdir -p "$state/metrics"
start metrics-server in_ns "$program" --kubeconfig "$state/admin.kubeconfig" --authentication-kubeconfig "$state/admin.kubeconfig" \
  --authorization-kubeconfig "$state/admin.kubeconfig" --secure-port 4443 --bind-address $node_ip --cert-dir "$state/metrics" \
  --kubelet-insecure-tls --kubelet-preferred-address-types InternalIP --metric-resolution 15s
k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: { name: metrics-server, namespace: kube-system }
spec: { ports: [{ name: https, port: 443, protocol: TCP }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: metrics-server, namespace: kube-system, labels: { kubernetes.io/service-name: metrics-server } }
addressType: IPv4
ports: [{ name: https, port: 4443, protocol: TCP }]
endpoints: [{ addresses: [$node_ip], conditions: { ready: true } }]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: { name: v1beta1.metrics.k8s.io }
spec:
  group: metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: { name: metrics-server, namespace: kube-system }
YAML
wait_for 90 'metrics of the node' k top node "$node"
