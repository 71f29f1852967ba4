// What runs in the image of Postgres before it starts. It needs `sh`, `cat`, `mv`, `rm` and `postgres`, and nothing else.

/**
 * The official image writes PG_VERSION long before a new cluster is whole, and never goes on with one that was cut short. So the first
 * run leaves a mark beside an empty $PGDATA, until a run finds the cluster whole. A marked cluster in which no database was made yet is
 * put aside, and the image begins again. Nothing is deleted. A cluster that cannot be read, or that was not seen to begin, stays.
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
 * The image uses the password of the Secret only when it makes the cluster of databases. Later starts set it anew, so that the Secret
 * always opens the database. The password stands in no argument and no log.
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

/** For the first start. The image would take libc's en_US.utf8, whose order changes with the library; these are those of `operator local`. */
export const INITDB_ARGS = '--encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8';
