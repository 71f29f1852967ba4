#!/usr/bin/env bash
# mkimage.sh NAME OUT.tar CONFIG_JSON LAYER...: an image in docker-save form, for `ctr images import` or `docker load`.
# A layer is a folder, or a tar made by this script's `--layer FOLDER OUT.tar`. CONFIG_JSON is the image config's "config" object.
set -euo pipefail
layer() { tar --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 -C "$1" -cf "$2" .; }
sum() { sha256sum "$1" | cut -d' ' -f1; }
if [ "$1" = --layer ]; then
  # Several may make the same one, and any may be stopped: each part appears whole.
  part=$(mktemp "$3.XXXXXX"); trap 'rm -f "$part" "$part.sha256"' EXIT
  layer "$2" "$part"
  sum "$part" >"$part.sha256"
  chmod 644 "$part"
  mv "$part.sha256" "$3.sha256"
  mv "$part" "$3"
  exit
fi
name=$1 out=$(realpath -m "$2") config=$3; shift 3
tmp=$(mktemp -d "$(dirname "$out")/.image-XXXXXX"); trap 'rm -rf "$tmp"' EXIT
n=0 diffs='' layers='' history=''
for from; do
  n=$((n + 1)) file=$tmp/layer$n.tar
  if [ -d "$from" ]; then layer "$from" "$file"; else ln "$from" "$file" 2>/dev/null || cp "$from" "$file"; fi
  diffs+=",\"sha256:$(cat "$from.sha256" 2>/dev/null || sum "$file")\"" layers+=",\"layer$n.tar\"" history+=',{"created":"1970-01-01T00:00:00Z"}'
done
printf '{"architecture":"amd64","os":"linux","created":"1970-01-01T00:00:00Z","config":%s,"rootfs":{"type":"layers","diff_ids":[%s]},"history":[%s]}' "$config" "${diffs#,}" "${history#,}" >"$tmp/config.json"
id=$(sum "$tmp/config.json")
mv "$tmp/config.json" "$tmp/$id.json"
printf '[{"Config":"%s.json","RepoTags":["%s"],"Layers":[%s]}]' "$id" "$name" "${layers#,}" >"$tmp/manifest.json"
(cd "$tmp" && tar -cf image.part manifest.json "$id.json" layer*.tar && mv image.part "$out")
