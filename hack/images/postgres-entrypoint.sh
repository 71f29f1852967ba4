#!/bin/sh
# The official image's contract, as far as a server with one database needs it: the first start makes the cluster of $PGDATA.
set -eu
case ${1:-postgres} in -*) set -- postgres "$@" ;; esac
[ "${1:-postgres}" = postgres ] || exec "$@"
[ $# -gt 0 ] || set -- postgres

# value NAME: $NAME, or what the file $NAME_FILE holds.
value() {
  eval "file=\${$1_FILE:-}"
  if [ -n "$file" ]; then cat "$file"; else eval "printf %s \"\${$1:-}\""; fi
}

umask 077
mkdir -p "$PGDATA"
chmod 700 "$PGDATA" 2>/dev/null || true
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=$(value POSTGRES_USER)
  user=${user:-postgres}
  database=$(value POSTGRES_DB)
  database=${database:-$user}
  password=$(value POSTGRES_PASSWORD)
  method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  if [ -z "$password" ] && [ "$method" != trust ]; then
    echo 'Database is uninitialized and superuser password is not specified: set POSTGRES_PASSWORD' >&2
    exit 1
  fi
  # What a start that was cut short has left:
  [ ! -e "$PGDATA/.new" ] || rm -rf "$PGDATA"/* "$PGDATA/.new"
  mkdir "$PGDATA/.new"
  printf '%s\n' "${password:-unused}" >"$PGDATA/.password"
  # shellcheck disable=SC2086 # more than one word is wanted
  initdb -D "$PGDATA/.new" -U "$user" --pwfile "$PGDATA/.password" -E UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8 --auth-local=trust --auth-host="$method" ${POSTGRES_INITDB_ARGS:-} >/dev/null
  rm -f "$PGDATA/.password"
  printf '\nhost all all all %s\n' "$method" >>"$PGDATA/.new/pg_hba.conf"
  printf "\nlisten_addresses = '*'\n" >>"$PGDATA/.new/postgresql.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "$database" | postgres --single -D "$PGDATA/.new" -j postgres >/dev/null
  fi
  # The version file moves last: it says that the cluster is whole.
  for file in "$PGDATA"/.new/*; do
    [ "${file##*/}" = PG_VERSION ] || mv "$file" "$PGDATA/"
  done
  mv "$PGDATA/.new/PG_VERSION" "$PGDATA/"
  rm -rf "$PGDATA/.new"
fi
exec "$@"
