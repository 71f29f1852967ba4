#!/usr/bin/env bash
# The default StorageClass `standard`, and the small program that makes its volumes: folders below $state/volumes.
set -euo pipefail
. "$(dirname "$0")/env.sh"
mkdir -p "$state/volumes"
k apply -f "$here/storage-class.yaml" >/dev/null
start provisioner "$here/../../node_modules/.bin/node" "$here/provisioner.ts" "$state/admin.kubeconfig" "$state/volumes" "$node"
