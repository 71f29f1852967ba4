#!/usr/bin/env bash
# Stops the cluster and removes what it made: only its own processes, mounts, cgroups and network namespaces. May be run any time.
# With --keep its objects, volumes and images stay, for the next `up`.
. "$(dirname "$0")/env.sh"
stop() { # stop SIGNAL NAME
  local p; p=$(part_pid "$2"); [ -n "$p" ] || return 0
  kill "-$1" "$p" 2>/dev/null
  for _ in $(seq 50); do readlink -e "/proc/$p/exe" >/dev/null || return 0; sleep 0.1; done
  kill -9 "$p" 2>/dev/null
}
[ -e "$state" ] || exit 0
# The pods' network namespaces, as the CNI's records name them:
pod_ns=$(cat /var/lib/cni/results/"$ns"-[0-9a-f]* 2>/dev/null | grep -o '/run/netns/cni-[0-9a-f-]*' | sed 's#.*/##' | sort -u)
had_node=$(part_pid kubelet)
for n in provisioner policies metrics-server kubelet kube-proxy kube-scheduler kube-controller-manager kube-apiserver etcd; do stop KILL $n; done # their data goes anyway
if [ -n "$(part_pid containerd)" ]; then
  c() { timeout 20 ctr -a "$state/containerd.sock" -n k8s.io "$@" 2>/dev/null; }
  for t in $(c tasks ls -q); do c tasks kill -s KILL "$t"; done
  sleep 0.3
  for t in $(c tasks ls -q); do c tasks rm -f "$t" >/dev/null; done
  for t in $(c containers ls -q); do c containers rm "$t" >/dev/null; done
fi
stop TERM containerd
# Shims left over: only those whose program is the shim and whose -address is this cluster's socket.
for p in $(pgrep -x containerd-shim); do
  case $(tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null) in *" -address $state/containerd.sock "*) kill -9 "$p" ;; esac
done
rm -f /var/lib/cni/results/"$ns"-[0-9a-f]*
awk -v s="$state/" 'index($2, s) == 1 { print $2 }' /proc/mounts | sort -r | while read -r m; do umount -l "$m"; done
if [ -n "$had_node" ]; then
  rm -f /var/lib/cni/results/cni-loopback-*
  for h in /sys/fs/cgroup/*/kubepods; do [ -d "$h" ] && find "$h" -depth -type d -exec rmdir {} + 2>/dev/null; done
fi
for n in $pod_ns; do ip netns del "$n" 2>/dev/null; done
ip netns del "$ns" 2>/dev/null
ip link del $link-host 2>/dev/null
if [ "${1:-}" = --keep ]; then
  rm -rf "$state"/{pid,cni,cni-ipam,kubelet,pod-logs} "$state/containerd/run" "$state/containerd.sock" "$state/containerd.sock.ttrpc"
else
  rm -rf "$state"
fi
exit 0
