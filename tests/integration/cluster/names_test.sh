#!/usr/bin/env bash
# Daemons and clients with TLS use the hosts of /etc/hosts without a name server: theirs, in a network namespace, counts questions and
# answers none. Needs root; exit code 77: skipped.
#
#   names_test.sh BIN
set -euo pipefail
bin=$1
if [[ ${2:-} != inside ]]; then
  ((EUID == 0)) || { echo "Only root can make namespaces." >&2; exit 77; }
  command -v ip >/dev/null || { echo "There is no ip." >&2; exit 77; }
  unshare -m -n -p -u -f true 2>/dev/null || { echo "This machine does not let root make namespaces." >&2; exit 77; }
  # A process namespace of its own: nothing outlives the test.
  exec unshare -m -n -p -u -f --mount-proc --kill-child bash "$0" "$bin" inside
fi

work=$(mktemp -d)
trap 'rm -rf "$work" || true' EXIT
cd "$work"
ip link set lo up
echo "127.0.0.1 localhost" >hosts
for n in 1 2; do
  ip address add "10.9.$n.2/32" dev lo
  echo "10.9.$n.2 n$n" >>hosts
done
mount --bind hosts /etc/hosts
echo "nameserver 127.0.0.1" >resolv.conf
mount --bind resolv.conf /etc/resolv.conf
fail() { echo "$1" >&2; tail -n 20 -- *.log >&2; exit 1; }
python3 - >questions 2>name_server.log <<'PYTHON' &
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
while True:
    print(server.recvfrom(1024)[0][12:], flush=True)
PYTHON
until grep -q ":0035 " /proc/net/udp; do sleep 0.05; done

"$bin/hloctl" cluster keys n1 n2 --cluster names --out keys >/dev/null
for n in 1 2; do
  join=()
  ((n == 1)) || join=(--join n1:20001)
  "$bin/hlod" --cluster names "${join[@]}" --listen "tcp:n$n:20001" --listen "unix:$work/n$n.sock" --tls-cert "keys/n$n.pem" \
    --tls-key "keys/n$n.key" --tls-client-ca keys/ca.pem --device-memory 64MiB --compile-cache none >"n$n.log" 2>&1 &
done
until "$bin/hloctl" --address "unix:$work/n1.sock" cluster wait --size 2 --seconds 60 >wait.log 2>&1; do
  grep -q "No daemon" wait.log || fail "The daemons form no cluster."
  sleep 0.05
done
# 1 + 2 is computed over both daemons, which link by name, as the client does.
cat >sum.hlo <<'HLO'
HloModule sum, replica_count=2
add { p = u32[] parameter(0) q = u32[] parameter(1) ROOT r = u32[] add(p, q) }
ENTRY e {
  i = u32[] replica-id()
  one = u32[] constant(1)
  x = u32[] add(i, one)
  ROOT y = u32[] all-reduce(x), replica_groups={}, to_apply=add
}
HLO
"$bin/hloctl" --address tcp:n1:20001 --tls-ca keys/ca.pem --tls-cert keys/client.pem --tls-key keys/client.key run sum.hlo >sum.log 2>&1 ||
  fail "The program failed."
[[ $(grep -c 'u32\[\] 3$' sum.log) == 2 ]] || fail "The sum is not 3 twice."
[[ ! -s questions ]] || fail "The name server was asked: $(sort questions | uniq -c)"
echo "Two daemons and a client found each other without a name server."
