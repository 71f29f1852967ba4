# Redis or Valkey of this machine under the contract of the official image: the arguments are redis-server's.
redis_program() { command -v redis-server || command -v valkey-server || { [ -x "$cache/bin/valkey-server" ] && echo "$cache/bin/valkey-server"; } || die 'no redis-server or valkey-server'; }

redis_layer() {
  local program cli
  program=$(readlink -f "$(redis_program)")
  minimal_root "$1"
  install -D -m755 "$program" "$1/usr/local/bin/redis-server"
  # Debian's redis-server and redis-cli are one size and two programs; Valkey's wheel has none of the latter.
  if cli=$(command -v redis-cli); then install -m755 "$(readlink -f "$cli")" "$1/usr/local/bin/redis-cli"; fi
  libraries "$program" ${cli:+"$cli"} | while read -r file; do [ -e "$1$file" ] || install -D -m755 "$(readlink -f "$file")" "$1$file"; done
  install -m755 "$root/hack/images/redis-entrypoint.sh" "$1/usr/local/bin/docker-entrypoint.sh"
  mkdir -p "$1/data"
  chmod 1777 "$1/data"
}

image_redis() {
  local made
  made=$(layer redis "$({ cat "$root"/hack/images/{redis,root,redis-entrypoint}.sh; state_of "$(redis_program)"; } | key)" redis_layer)
  image foyer-redis:7 '{"Env":["PATH=/usr/local/bin:/usr/bin:/bin"],"WorkingDir":"/data","Entrypoint":["docker-entrypoint.sh"],"Cmd":["redis-server"],"User":"999:999","ExposedPorts":{"6379/tcp":{}},"Volumes":{"/data":{}}}' "$made"
}
