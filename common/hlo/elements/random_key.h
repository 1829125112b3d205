// The keys that distinguish the random instructions of a program.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Returns a well-mixed number for the n-th rng of a module.
inline uint64_t RandomKey(uint64_t n) {
  // Uses the finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
  uint64_t key = (n + 1) * 0x9E3779B97F4A7C15;
  key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9;
  key = (key ^ key >> 27) * 0x94D049BB133111EB;
  return key ^ key >> 31;
}

// Returns the key of an rng, which is determined by the number of rngs before it in the module.
uint64_t RandomKey(const Module& module, Instruction rng);

}  // namespace hlod::hlo
