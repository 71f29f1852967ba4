#!/usr/bin/env bash
# Makes the cluster's network namespace. It has no route to the outside: nothing that runs in it can reach, or be reached from, another machine.
set -euo pipefail
. "$(dirname "$0")/env.sh"
[ -e /run/netns/$ns ] && exit 0
ip netns add $ns
ip link add $link-host type veth peer name $link-node netns $ns
ip addr add $host_ip/24 dev $link-host
ip link set $link-host up
ip -n $ns link set lo up
ip -n $ns addr add $node_ip/24 dev $link-node
ip -n $ns link set $link-node up
# A public address, for tests that distinguish the internet from private networks; services of the node answer on it.
ip -n $ns addr add 203.0.113.1/32 dev lo
# So that the host reaches pods and Services (kube-proxy in the namespace translates the latter):
ip route add $pod_cidr via $node_ip dev $link-host
ip route add $service_cidr via $node_ip dev $link-host
# The namespace's own processes need some route to a Service address before it is translated:
ip -n $ns route add $service_cidr dev $link-node src $node_ip
in_ns sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
# A Service address that is still untranslated when it is forwarded has no rule yet, or none any more: refuse it at once
# (otherwise each such connection would hang until its own time-out).
in_ns nft -f - <<NFT
table ip foyer-unknown-service {
  chain forward { type filter hook forward priority -5; ip daddr $service_cidr meta l4proto tcp reject with tcp reset; ip daddr $service_cidr reject; }
  chain output { type filter hook output priority -5; ip daddr $service_cidr meta l4proto tcp reject with tcp reset; ip daddr $service_cidr reject; }
}
NFT
