// Runs in the Postgres image before the store starts. It requires only `sh`, `cat`, `mv`, `rm` and `postgres`.

/**
 * The official image writes PG_VERSION long before a new cluster is complete, and never completes an interrupted one. So the
 * first run creates a marker next to the empty $PGDATA, which stays until a run finds a complete cluster. With the marker and
 * without any database yet, the incomplete cluster is renamed and the image starts over. Nothing is deleted. A cluster that
 * is unreadable or has no marker stays.
 */
const PUT_ASIDE = `set -eu
mark=\${PGDATA%/*}/.initialising
isReadable() { [ -r "$1" ] && [ -x "$1" ]; }
isEmpty() {
  [ -e "$PGDATA" ] || return 0
  isReadable "$PGDATA" || return 1
  for file in "$PGDATA"/* "$PGDATA"/.[!.]*; do [ ! -e "$file" ] && [ ! -L "$file" ] || return 1; done
}
isUnfinished() {
  [ -e "$mark" ] && isReadable "$PGDATA" && isReadable "$PGDATA/base" || return 1
  for file in "$PGDATA"/.new "$PGDATA"/base/[1-9][0-9][0-9][0-9][0-9]* "$PGDATA"/pg_tblspc/*; do
    [ ! -e "$file" ] && [ ! -L "$file" ] || return 1
  done
}
if isEmpty; then
  case $POSTGRES_DB in postgres | template?) ;; *) true 2>/dev/null >"$mark" || true ;; esac
  exit 0
fi
if isUnfinished; then
  count=1
  while [ -e "$PGDATA.unfinished-$count" ]; do count=$((count + 1)); done
  mv "$PGDATA" "$PGDATA.unfinished-$count"
  echo "The first start was cut short before a database was made: it begins again. What it left is in $PGDATA.unfinished-$count" >&2
  exit 0
fi`;

/**
 * The image uses the password of the Secret only when it creates the cluster. This sets it at each later start, so that the
 * Secret always opens the database. The password appears in no argument and no log.
 */
const SET_PASSWORD = `[ -s "$PGDATA/PG_VERSION" ] || exit 0
failed() {
  echo "The password of the database could not be set: $PGDATA was left as it is" >&2
  exit 1
}
printf 'ALTER ROLE "%s" PASSWORD $foyer$%s$foyer$\\n' "$POSTGRES_USER" "$POSTGRES_PASSWORD" |
  postgres --single -D "$PGDATA" -c shared_buffers=16MB -c log_statement=none -c log_min_error_statement=panic "$POSTGRES_DB" >/tmp/password.log 2>&1 ||
  { cat /tmp/password.log >&2; failed; }
while read -r line; do case $line in *ERROR:*) echo "$line" >&2; failed ;; esac; done </tmp/password.log
rm -f "$mark" || true`;

export const BEFORE_POSTGRES = [PUT_ASIDE, SET_PASSWORD].join('\n');

/**
 * For the first start. The image's default is libc's en_US.utf8, whose collation changes with the library. `operator local`
 * uses the same values.
 */
export const INITDB_ARGS = '--encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8';
