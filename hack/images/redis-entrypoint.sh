#!/bin/sh
# As the official image: options alone mean redis-server's.
set -e
case ${1:-redis-server} in -* | *.conf) set -- redis-server "$@" ;; esac
[ $# -gt 0 ] || set -- redis-server
# shellcheck disable=SC2145
if [ "$1" = redis-server ]; then shift; exec redis-server --protected-mode no "$@"; fi
exec "$@"
