#!/usr/bin/env bash
# load.sh FILE.tar...: makes images of docker-save or OCI archives usable in pods (imagePullPolicy: Never or IfNotPresent).
set -euo pipefail
. "$(dirname "$0")/env.sh"
[ -S "$state/containerd.sock" ] || die 'no node runs: hack/cluster up'
mkdir -p "$state/loaded"
for tar; do
  [ -e "$tar" ] || die "there is no $tar"
  # Records the last image loaded under each name, since loading half a gigabyte again takes seconds.
  name=$(tar --occurrence=1 -xOf "$tar" manifest.json | grep -o '"RepoTags":\["[^"]*' | cut -d'"' -f4 | tr '/:' '__' || true)
  note=$(stat -c '%i %s %Y' "$tar")
  [ "$(cat "$state/loaded/${name:-?}" 2>/dev/null)" != "$note" ] || continue
  ctr -a "$state/containerd.sock" -n k8s.io images import "$tar"
  [ -z "$name" ] || echo "$note" >"$state/loaded/$name"
done
