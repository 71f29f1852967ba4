#!/bin/sh
# What probes ask of the official image's pg_isready: does the server take connections (0), refuse them while it starts (1), or
# not answer (2). Options other than host and port are taken and ignored.
host=127.0.0.1 port=${PGPORT:-5432}
while getopts 'h:p:U:d:t:q' option; do
  case $option in h) host=$OPTARG ;; p) port=$OPTARG ;; *) ;; esac
done
case $host in /*) host=127.0.0.1 ;; esac
# The start of a session; 57P03 is the protocol's `cannot_connect_now`.
answer=$(printf '\000\000\000\024\000\003\000\000user\000probe\000\000' | nc -w 2 "$host" "$port" 2>/dev/null | tr -d '\000')
case $answer in
  '') echo "$host:$port - no response"; exit 2 ;;
  *57P03*) echo "$host:$port - rejecting connections"; exit 1 ;;
  *) echo "$host:$port - accepting connections" ;;
esac
