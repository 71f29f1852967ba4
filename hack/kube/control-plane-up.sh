#!/usr/bin/env bash
# Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler; writes $state/admin.kubeconfig.
set -euo pipefail
. "$(dirname "$0")/env.sh"
pki=$state/pki
mkdir -p "$state"/{log,pid,audit} "$pki"
chmod 700 "$pki"

# cert NAME SUBJECT [SAN]: a key and a certificate signed by the cluster's CA.
cert() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -CA "$pki/ca.crt" -CAkey "$pki/ca.key" \
    -subj "$2" ${3:+-addext "subjectAltName=$3"} -addext basicConstraints=critical,CA:FALSE \
    -addext extendedKeyUsage=serverAuth,clientAuth -keyout "$pki/$1.key" -out "$pki/$1.crt" 2>/dev/null
}
# kubeconfig NAME: admin access for the holder of NAME's certificate.
kubeconfig() {
  cat > "$state/$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: foyer
clusters: [{name: foyer, cluster: {server: "https://$node_ip:6443", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$pki/$1.crt"), client-key-data: $(base64 -w0 "$pki/$1.key")}}]
contexts: [{name: foyer, context: {cluster: foyer, user: $1}}]
YAML
  chmod 600 "$state/$1.kubeconfig"
}
if [ ! -e "$pki/ca.crt" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=foyer-kube-ca -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
  openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
  openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
  cert apiserver /CN=kube-apiserver "IP:$node_ip,IP:127.0.0.1,IP:$api_ip,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  cert admin /O=system:masters/CN=admin
  cert controller-manager /CN=system:kube-controller-manager
  cert scheduler /CN=system:kube-scheduler
  cert proxy /CN=system:kube-proxy
  cert kubelet "/O=system:nodes/CN=system:node:$node" "IP:$node_ip,DNS:$node"
  cert front-proxy /CN=front-proxy
  for c in admin controller-manager scheduler proxy kubelet; do kubeconfig $c; done
fi

start etcd in_ns "$bin/etcd" --data-dir "$state/etcd" --unsafe-no-fsync --log-level warn \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster default=http://127.0.0.1:2380
start kube-apiserver in_ns "$bin/kube-apiserver" --etcd-servers http://127.0.0.1:2379 \
  --advertise-address $node_ip --secure-port 6443 --service-cluster-ip-range $service_cidr \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
  --kubelet-client-certificate "$pki/admin.crt" --kubelet-client-key "$pki/admin.key" --kubelet-preferred-address-types InternalIP \
  --requestheader-client-ca-file "$pki/ca.crt" --requestheader-allowed-names front-proxy --requestheader-username-headers X-Remote-User \
  --requestheader-group-headers X-Remote-Group --requestheader-extra-headers-prefix X-Remote-Extra- \
  --proxy-client-cert-file "$pki/front-proxy.crt" --proxy-client-key-file "$pki/front-proxy.key" \
  --service-account-issuer https://kubernetes.default.svc.cluster.local --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
  --audit-policy-file "$here/audit-policy.yaml" --audit-log-path "$state/audit/audit.log" --audit-log-maxsize 1000 \
  --authorization-mode Node,RBAC --enable-admission-plugins "$admission" --allow-privileged --profiling=false

wait_for 60 "API server" k get --raw /readyz
# Autoscalers sync often, and remove pods earlier than after the default five minutes.
start kube-controller-manager in_ns "$bin/kube-controller-manager" --kubeconfig "$state/controller-manager.kubeconfig" --leader-elect=false --bind-address 127.0.0.1 \
  --use-service-account-credentials --service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt" \
  --cluster-signing-cert-file "$pki/ca.crt" --cluster-signing-key-file "$pki/ca.key" --profiling=false \
  --horizontal-pod-autoscaler-sync-period 5s --horizontal-pod-autoscaler-downscale-stabilization 20s
start kube-scheduler in_ns "$bin/kube-scheduler" --kubeconfig "$state/scheduler.kubeconfig" --leader-elect=false --bind-address 127.0.0.1 --profiling=false
