# shellcheck shell=bash disable=SC2034 # who sources it uses them
# Settings shared by the cluster's scripts (sourced). FOYER_CLUSTER tells several clusters of one machine apart: 0 (the default) to 9.
here=${here:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
index=${FOYER_CLUSTER:-0}
case $index in [0-9]) ;; *) echo "cluster: FOYER_CLUSTER must be a digit" >&2; exit 2 ;; esac
suffix=$([ "$index" = 0 ] || echo "-$index")
home_cache=${XDG_CACHE_HOME:-$HOME/.cache}
state=${FOYER_CLUSTER_STATE:-$home_cache/foyer/cluster$suffix} # all that the cluster writes, but for what containerd's shims keep in /run/containerd/s
cache_root=${KC_CACHE:-$home_cache/kc}
ns=foyer-kube$suffix                                # network namespace in which the whole cluster lives
link=fk$index                                       # the veth pair between the host and that namespace (at most 15 letters with -node)
host_ip=10.89.$index.1 node_ip=10.89.$index.2
pod_cidr=10.244.$index.0/24 service_cidr=10.96.$index.0/24
api_ip=10.96.$index.1 dns_ip=10.96.$index.10
node=foyer-node
# The second is of clusters such as OpenShift: who makes an object that holds its owner back must have a right to that owner.
admission=NodeRestriction,OwnerReferencesPermissionEnforcement
go=${FOYER_GO:-go}
in_ns() { nsenter --net=/run/netns/"$ns" "$@"; }
die() { echo "cluster: $*" >&2; exit 1; }

# The hash of what the binaries are made from: the folder in which they are kept.
cache_key() {
  { "$go" version; cat "$here"/build.sh "$here"/mkimage.sh "$here"/build/{go.mod,go.sum,main.go,pause/main.go} "$here"/build-coredns/{go.mod,go.sum,main.go}; } | sha256sum | cut -c1-16
}
# What is running goes on with the binaries that it was started with, whatever the sources say now. A cluster of kind brings its own.
if [ -e "$state/binaries" ]; then cache=$(cat "$state/binaries")
elif command -v "$go" >/dev/null; then cache=$cache_root/$(cache_key)
else cache=$cache_root/none; fi
bin=$cache/bin

# part_pid NAME: the part's process id, if that process still is the part (its arguments name $state).
part_pid() {
  local p; p=$(cat "$state/pid/$1" 2>/dev/null) || return 0
  tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline" | grep -qF "$state/" && echo "$p"
}
# start NAME COMMAND...: runs a part in the background, its log in $state/log, its id in $state/pid; nothing where it runs already.
start() { # (a function such as in_ns cannot follow setsid)
  local name=$1; shift
  [ -z "$(part_pid "$name")" ] || return 0
  if [ "$1" = in_ns ]; then shift; set -- nsenter --net=/run/netns/"$ns" "$@"; fi
  setsid "$@" >>"$state/log/$name.log" 2>&1 </dev/null &
  echo $! >"$state/pid/$name"
}
# wait_for SECONDS WHAT COMMAND...: polls until COMMAND succeeds.
wait_for() {
  local end=$((SECONDS + $1)) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || die "no $what in time; the logs are in $state/log"
    sleep 0.2
  done
}
k() {
  local kubectl=$bin/kubectl
  [ -x "$kubectl" ] || kubectl=kubectl
  "$kubectl" --kubeconfig "$state/admin.kubeconfig" "$@"
}
