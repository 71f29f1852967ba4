# MinIO from its Go module, under the contract of its own image: MINIO_ROOT_USER, MINIO_ROOT_PASSWORD, `server DIR --address :9000`.
minio_layer() {
  minimal_root "$1"
  install -m755 "$(go_tool minio)" "$1/usr/local/bin/minio"
  mkdir -p "$1/data"
  chmod 1777 "$1/data"
}

image_minio() {
  local made
  made=$(layer minio "$({ cat "$root"/hack/images/{minio,root}.sh; state_of "$(go_tool minio)"; } | key)" minio_layer)
  image foyer-minio:2026.2.12 '{"Env":["PATH=/usr/local/bin:/usr/bin:/bin","MINIO_BROWSER=off","MINIO_UPDATE=off"],"Entrypoint":["minio"],"User":"1000:1000","ExposedPorts":{"9000/tcp":{}},"Volumes":{"/data":{}}}' "$made"
}
