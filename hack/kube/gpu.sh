#!/usr/bin/env bash
# gpu.sh N [RESOURCE]: makes the node advertise N of an extended resource (nvidia.com/gpu); no device is behind it. 0 removes them.
set -euo pipefail
. "$(dirname "$0")/env.sh"
count=${1:?gpu needs a number} resource=${2:-nvidia.com/gpu}
node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
k patch node "$node" --subresource=status --type=json -p "[{\"op\":\"add\",\"path\":\"/status/capacity/${resource//\//~1}\",\"value\":\"$count\"}]" >/dev/null
k wait node/"$node" --for=jsonpath="{.status.allocatable.${resource//./\\.}}"="$count" --timeout=30s >/dev/null
