#!/usr/bin/env bash
# The quickstart learns, its control does not, and the daemon's account adds up: quickstart_test.sh SOURCE_DIR BIN_DIR.
set -euo pipefail
source_dir=$1 bin=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  cat "$scratch"/* >&2
  exit 1
}

# accuracy FILE: tenths of a percent.
accuracy() { sed -n 's/^Accuracy on held-out digits: \([0-9]*\)\.\([0-9]\)%$/\1\2/p' "$1"; }

# With true labels it gets 95% or more of the held-out digits right.
"$source_dir/deploy/quickstart" --bin "$bin" >"$scratch/true" || fail "the quickstart ended with $?"
reached=$(accuracy "$scratch/true")
((${reached:-0} >= 950)) || fail "accuracy is under 95%"

# With shuffled labels there is nothing to learn: chance is one in ten.
"$source_dir/deploy/quickstart" --bin "$bin" --shuffle-labels >"$scratch/shuffled" || fail "the quickstart with shuffled labels ended with $?"
reached=$(accuracy "$scratch/shuffled")
((${reached:-0} >= 20 && ${reached:-0} <= 200)) || fail "accuracy with shuffled labels is not chance (2 to 20%)"

# The account, by hand. Uploads: the held-out images and labels, two arrays a step, 22 steps an epoch, 30 epochs.
grep -qE "^  host to device +$((2 + 2 * 22 * 30)) calls " "$scratch/true" || fail "the daemon counted other uploads"
grep -qE "^    upload +$((22 * 30)) calls +$((22 * 30 * 64 * 64)) bytes  digits\.cc:[0-9]+$" "$scratch/true" || fail "the images are not a u8[64,64] a step with their line"
# Downloads: an epoch reads the accuracy and the loss.
grep -qE "^  device to host +60 calls +240 bytes$" "$scratch/true" || fail "the daemon counted other downloads"
((2 == $(grep -cE "^    scalar_read +30 calls +120 bytes  digits\.cc:[0-9]+$" "$scratch/true"))) || fail "the scalar reads are not twice 30 of 4 bytes with their lines"
# Programs: the first step, which also makes the weights; the others; the held-out digits.
grep -qE "^  programs compiled +3 in " "$scratch/true" || fail "the daemon compiled other than three programs"
grep -qE "^  executes +$((22 * 30 + 30)) in " "$scratch/true" || fail "a step is not one execute"
grep -qE "^  device memory +[0-9]+ bytes at most$" "$scratch/true" || fail "no peak memory"

# story ROW: what is transferred, device memory, what it would take, programs, bytes of HLO.
story() { sed -n "s/^  $1 //p" "$scratch/true"; }
weights=$((48 * (256 * 256 + 256) * 4))
read -r loop_bytes loop_memory loop_would _ loop_hlo <<<"$(story 'loop over placeholders')"
read -r zeros_bytes zeros_memory _ _ zeros_hlo <<<"$(story 'scan, zeros for weights')"
read -r scan_bytes scan_memory scan_would scan_programs scan_hlo <<<"$(story 'scan over placeholders')"
((loop_bytes == 0 && loop_memory == 0 && loop_would >= weights)) || fail "a loop over placeholders is not free"
((zeros_bytes == weights && zeros_memory >= weights)) || fail "zeros for weights are not transferred and held"
((scan_bytes == 0 && scan_memory == 0 && scan_would >= weights && scan_programs == 1)) || fail "a scan over placeholders is not free"
((10 * scan_hlo < loop_hlo && 10 * zeros_hlo < loop_hlo)) || fail "the program of a scan grows with its layers"

# The placeholder is refused, with its shape and the line that made it.
grep -qE 'scan \(scan_story\.cc:[0-9]+\) <- a placeholder f32\[126,16384,16384\].* made at scan_story\.cc:[0-9]+$' "$scratch/true" ||
  fail "the refusal does not name the placeholder's shape and line"
