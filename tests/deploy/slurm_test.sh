#!/usr/bin/env bash
# deploy/slurm/hlod.sbatch on a real Slurm of three nodes: its programs come from Debian's packages, unpacked and not installed, and
# each node is a network namespace. Needs root and Debian's mirror; exit code 77: skipped.
#
#   slurm_test.sh REPOSITORY BIN BUILD
set -euo pipefail
repository=$1 bin=$2 packages=$3/slurm
if [[ ${4:-} != inside ]]; then
  ((EUID == 0)) || { echo "Only root can make namespaces." >&2; exit 77; }
  for tool in ip sysctl nsenter; do
    command -v "$tool" >/dev/null || { echo "There is no $tool." >&2; exit 77; }
  done
  unshare -m -n -p -u -f true 2>/dev/null || { echo "This machine does not let root make namespaces." >&2; exit 77; }
  if [[ ! -d $packages/unpacked ]]; then
    rm -rf "$packages"
    mkdir -p "$packages/debs"
    (cd "$packages/debs" && apt-get download -qq slurmctld slurmd slurm-client slurm-wlm-basic-plugins libhwloc15 libmunge2 2>/dev/null) ||
      { echo "Slurm's packages cannot be downloaded." >&2; exit 77; }
    for package in "$packages"/debs/*.deb; do dpkg -x "$package" "$packages/new"; done
    # Links as update-alternatives makes them when the packages are installed.
    for program in "$packages"/new/usr/{sbin,bin}/*-wlm; do ln -sf "$(basename "$program")" "${program%-wlm}"; done
    mv "$packages/new" "$packages/unpacked"
  fi
  # A process namespace of its own: nothing outlives the test.
  exec unshare -m -n -p -u -f --mount-proc --kill-child bash "$0" "$1" "$2" "$3" inside
fi

work=$(mktemp -d)
trap 'rm -rf "$work" || true' EXIT
hostname controller
mount -t tmpfs none /run   # The names of the network namespaces are kept there.
ip link set lo up
ip address add 10.9.0.1/32 dev lo
sysctl -qw net.ipv4.ip_forward=1
{
  echo "127.0.0.1 localhost"
  echo "10.9.0.1 controller"
  for n in 1 2 3; do
    echo "10.9.$n.2 n$n"
    ip netns add "n$n"
    ip link add "to$n" type veth peer name eth netns "n$n"
    ip address add "10.9.$n.1/24" dev "to$n"
    ip link set "to$n" up
    ip -n "n$n" address add "10.9.$n.2/24" dev eth
    ip -n "n$n" link set lo up
    ip -n "n$n" link set eth up
    ip -n "n$n" route add default via "10.9.$n.1"
  done
} >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
: >"$work/resolv.conf"  # No name server: it could not be reached.
mount --bind "$work/resolv.conf" /etc/resolv.conf
# Slurm starts its own helper programs from /usr/sbin.
mount -t overlay overlay -o "lowerdir=$packages/unpacked/usr/sbin:/usr/sbin" /usr/sbin || exit 77
libraries=$packages/unpacked/usr/lib/$(gcc -print-multiarch)
plugins=$libraries/slurm-wlm
export PATH=$bin:$packages/unpacked/usr/bin:$PATH SLURM_CONF=$work/slurm.conf
export LD_LIBRARY_PATH=$plugins:$libraries
mkdir "$work/state" "$work/sockets"
export TMPDIR=$work/sockets
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=controller
AuthType=auth/none
CredType=cred/none
PluginDir=$plugins
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/controller.pid
SlurmdPidFile=$work/node.%n.pid
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
NodeName=n[1-3] NodeHostname=controller NodeAddr=n[1-3] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D >"$work/controller.log" 2>&1 &
for n in n1 n2 n3; do nsenter --net="/run/netns/$n" slurmd -D -N "$n" >"$work/$n.log" 2>&1 & done
fail() { echo "$1" >&2; tail -n 20 "$work"/*.log >&2; exit 1; }
for ((i = 0; ; ++i)); do
  [[ $(sinfo -h -t idle -o %D 2>/dev/null) == 3 ]] && break
  ((i < 300)) || fail "Slurm has no three idle nodes after 30 s: $(sinfo 2>&1)"
  sleep 0.1
done

# 1 + 2 + 3 is computed over the three daemons, one of them on each node.
cat >"$work/sum.hlo" <<'HLO'
HloModule sum, replica_count=3
add { p = u32[] parameter(0) q = u32[] parameter(1) ROOT r = u32[] add(p, q) }
ENTRY e {
  i = u32[] replica-id()
  one = u32[] constant(1)
  x = u32[] add(i, one)
  ROOT y = u32[] all-reduce(x), replica_groups={}, to_apply=add
}
HLO
cd "$work"
export HLOD_FLAGS="--device-memory 64MiB --compile-cache none"
sbatch -W -N 3 -o "$work/sum.log" "$repository/deploy/slurm/hlod.sbatch" hloctl run "$work/sum.hlo" >/dev/null || fail "The job failed."
[[ $(grep -c '\b6\b' "$work/sum.log") -ge 3 ]] || fail "The sum is not 6 three times."
# The program's exit code is the job's, and nothing stays behind.
code=0
sbatch -W -N 2 -o "$work/code.log" "$repository/deploy/slurm/hlod.sbatch" bash -c 'exit 7' >/dev/null || code=$?
((code == 7)) || fail "The job of a program with exit code 7 ends with $code."
[[ -z $(find "$work" -maxdepth 2 -name 'hlod-*') ]] || fail "A job left $(find "$work" -maxdepth 2 -name 'hlod-*')."
! pgrep -x hlod >/dev/null || fail "A job left a daemon."
echo "Slurm $(slurmd -V) ran a cluster of three daemons."
