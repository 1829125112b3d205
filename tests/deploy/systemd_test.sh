#!/usr/bin/env bash
# The service under systemd's own tools: systemd_test.sh SOURCE_DIR BIN_DIR. They need no systemd as init.
set -euo pipefail
source_dir=$1 bin=$2
scratch=$(mktemp -d)
started=()
cleanup() {
  ((${#started[@]})) && kill "${started[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT

fail() {
  echo "FAILED: $*" >&2
  tail -n 50 "$scratch"/*.log >&2 || true
  exit 1
}

await() {  # await SECONDS COMMAND...: until it succeeds.
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

for tool in systemd-analyze systemd-socket-activate; do
  command -v "$tool" >/dev/null || fail "$tool is missing: deploy/install-deps test"
done

# The units are correct, with the daemon of this build in place of the installed one.
sed "s#^ExecStart=hlod#ExecStart=$bin/hlod#" "$source_dir/deploy/systemd/hlod.service" >"$scratch/hlod.service"
cp "$source_dir/deploy/systemd/hlod.socket" "$scratch"
systemd-analyze verify "$scratch/hlod.service" "$scratch/hlod.socket" >"$scratch/verify.log" 2>&1 || fail "systemd-analyze verify refuses the units"
grep -E "hlod\.(service|socket)" "$scratch/verify.log" && fail "systemd-analyze verify has something to say"

# Every kind of socket that the daemon opens is allowed: without netlink, for example, all users of local TCP would
# count as one, and nothing would say so.
for family in $(grep -rhoE "socket\((AF_[A-Z0-9]+)" "$source_dir/server" "$source_dir/common/rpc" --include='*.cc' | grep -oE "AF_[A-Z0-9]+" | sort -u); do
  grep -qE "^RestrictAddressFamilies=.*\b$family\b" "$scratch/hlod.service" || fail "the service may not open sockets of $family"
done

# The sandbox stays closed: exposure at most 1.6 of 10.
systemd-analyze security --offline=yes --threshold=16 "$scratch/hlod.service" >"$scratch/security.log" || fail "the service is more exposed than it was"

# Who listens for READY=1: systemd's place in Type=notify.
systemd-socket-activate --datagram --inetd -l "$scratch/notify.sock" -- /bin/sh -c "cat >'$scratch/notified'" >"$scratch/notify.log" 2>&1 &
started+=($!)

# The daemon starts when the first client connects, on the descriptor it is handed.
systemd-socket-activate -l "$scratch/hlod.sock" -E NOTIFY_SOCKET="$scratch/notify.sock" ${HLOD_TEST_RUN:+-E HLOD_TEST_RUN="$HLOD_TEST_RUN"} \
  -- "$bin/hlod" --device-memory 16MiB >"$scratch/hlod.log" 2>&1 &
daemon=$!
started+=("$daemon")
await 10 test -S "$scratch/hlod.sock" || fail "systemd-socket-activate does not listen"
await 10 test -S "$scratch/notify.sock" || fail "nobody listens for READY=1"
"$bin/hloctl" --address "unix:$scratch/hlod.sock" ping >"$scratch/ping.log" 2>&1 || fail "the activated daemon does not answer"
await 10 grep -qs READY=1 "$scratch/notified" || fail "the daemon did not say that it is ready"

# SIGTERM ends it, in order.
kill -TERM "$daemon"
wait "$daemon" || fail "the daemon ended with $? on SIGTERM"
await 10 grep -qs STOPPING=1 "$scratch/notified" || fail "the daemon did not say that it stops"
