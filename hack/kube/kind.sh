#!/usr/bin/env bash
# kind.sh up|down|load FILE...: the same cluster by kind, where Docker runs. Its audit log and kubeconfig have the same paths as ours; the
# user's own kubeconfig is not changed.
set -euo pipefail
. "$(dirname "$0")/env.sh"
name=foyer$suffix
command -v kind >/dev/null || die '--kind needs kind: https://kind.sigs.k8s.io'
docker info >/dev/null 2>&1 || die '--kind needs a running Docker'
what=$1; shift
case $what in
  up)
    mkdir -p "$state/audit" "$state/kind"
    cp "$here/audit-policy.yaml" "$state/kind/audit-policy.yaml"
    cat >"$state/kind/config.yaml" <<YAML
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    extraMounts:
      - { hostPath: $state/kind, containerPath: /etc/kubernetes/foyer, readOnly: true }
      - { hostPath: $state/audit, containerPath: /var/log/foyer-audit }
    kubeadmConfigPatches:
      - |
        kind: ClusterConfiguration
        apiServer:
          extraArgs: { audit-policy-file: /etc/kubernetes/foyer/audit-policy.yaml, audit-log-path: /var/log/foyer-audit/audit.log, enable-admission-plugins: '$admission' }
          extraVolumes:
            - { name: foyer, hostPath: /etc/kubernetes/foyer, mountPath: /etc/kubernetes/foyer, readOnly: true, pathType: Directory }
            - { name: foyer-audit, hostPath: /var/log/foyer-audit, mountPath: /var/log/foyer-audit, pathType: Directory }
YAML
    kind get clusters 2>/dev/null | grep -qx "$name" || kind create cluster --name "$name" --config "$state/kind/config.yaml" --kubeconfig "$state/admin.kubeconfig" --wait 120s
    kind get kubeconfig --name "$name" >"$state/admin.kubeconfig"
    chmod 600 "$state/admin.kubeconfig"
    ;;
  down) kind delete cluster --name "$name" --kubeconfig "$state/admin.kubeconfig"; rm -rf "$state" ;;
  load) for tar; do kind load image-archive --name "$name" "$tar"; done ;;
  *) die "kind.sh: $what?" ;;
esac
