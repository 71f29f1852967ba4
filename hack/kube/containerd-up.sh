#!/usr/bin/env bash
# Starts containerd in the cluster's network namespace.
set -euo pipefail
. "$(dirname "$0")/env.sh"
mkdir -p "$state"/{log,pid,cni,containerd}
cat > "$state/cni/10-foyer.conflist" <<JSON
{"cniVersion":"1.0.0","name":"$ns","plugins":[
 {"type":"bridge","bridge":"foyer-br","isDefaultGateway":true,"hairpinMode":true,"ipMasq":false,
  "ipam":{"type":"host-local","dataDir":"$state/cni-ipam","ranges":[[{"subnet":"$pod_cidr"}]]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
JSON
cat > "$state/containerd.toml" <<TOML
version = 2
root = "$state/containerd/root"
state = "$state/containerd/run"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs","io.containerd.snapshotter.v1.zfs","io.containerd.snapshotter.v1.devmapper","io.containerd.snapshotter.v1.aufs","io.containerd.tracing.processor.v1.otlp","io.containerd.internal.v1.tracing"]
[grpc]
  address = "$state/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$state/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "foyer.local/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  max_container_log_line_size = -1
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$state/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "${FOYER_RUNTIME:-runc}"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
        BinaryName = "/usr/bin/crun"
TOML
start containerd nsenter --net=/run/netns/$ns containerd -c "$state/containerd.toml"
wait_for 20 containerd ctr -a "$state/containerd.sock" version
for t in "$cache"/images/*.tar; do ctr -a "$state/containerd.sock" -n k8s.io images import "$t" >/dev/null; done
