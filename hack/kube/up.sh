#!/usr/bin/env bash
# Starts what does not run yet of the cluster; with --control-plane no node (pods stay Pending).
set -euo pipefail
. "$(dirname "$0")/env.sh"
with_node=1
[ "${1:-}" != --control-plane ] || with_node=
[ "$(id -u)" = 0 ] || die 'a cluster of its own needs root (network namespaces, containerd); as another user take --kind, with Docker and kind'
for tool in ip nft nsenter openssl ${with_node:+containerd runc iptables}; do
  command -v "$tool" >/dev/null || die "$tool is missing: run hack/cluster install"
done
[ -z "$with_node" ] || [ -x /usr/lib/cni/bridge ] || die 'the CNI plugins are missing: run hack/cluster install'
if [ -n "$with_node" ]; then # two kubelets would remove each other's cgroups
  other=$(pgrep -x kubelet | grep -vx "$(part_pid kubelet)" || true)
  [ -z "$other" ] || die "another node runs on this machine (kubelet with process id $other): one at a time"
fi
if [ ! -d "$state/etcd" ]; then
  "$here/down.sh" # remains of a cluster that never started
  cache=$cache_root/$(cache_key)
elif [ -z "$(part_pid etcd)" ]; then
  "$here/down.sh" --keep # the machine was restarted, or the cluster was killed: objects and volumes stay
fi
[ -e "$cache/done" ] || { cache=$cache_root/$(cache_key) && "$here/build.sh"; }
mkdir -p "$state"
echo "$cache" >"$state/binaries"
"$here/net-up.sh"
if [ -n "$with_node" ]; then "$here/containerd-up.sh" & containerd=$!; fi # neither needs the other
"$here/control-plane-up.sh"
"$here/storage-up.sh"
if [ -n "$with_node" ]; then
  wait $containerd
  "$here/node-up.sh"
  sed "s/DNS_ADDRESS/$dns_ip/" "$here/coredns.yaml" | k apply -f - >/dev/null
  k -n kube-system rollout status deploy/coredns --timeout=60s >/dev/null
fi
