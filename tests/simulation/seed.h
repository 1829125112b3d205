// Random choices that a seed repeats, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlod::simulation {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Seed {
 public:
  explicit Seed(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a number below `count`, which is not 0.
  size_t Below(size_t count) { return static_cast<size_t>(Next() % count); }
  // Returns true once in `count` times.
  bool OneIn(size_t count) { return Below(count) == 0; }

 private:
  uint64_t state_;
};

}  // namespace hlod::simulation
