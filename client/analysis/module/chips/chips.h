// Accelerators that a program may be checked for: their memory and speed, from public sources (chips.inc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"

namespace hlod::analysis {

struct Chip {
  std::string name;
  double memory_bytes = 0;
  double usable_bytes = 0;  // The part of the memory that the compiler may use.
  double bandwidth = 0;     // Bytes per second.
  double flops = 0;         // Dense bf16 operations per second.
  bool tiled = false;       // True when arrays are padded to tiles, as on TPU.
  std::string source;
};

// Returns the bytes that an array takes in the chip's memory. On TPU the last two dimensions are padded to
// (8, 128) elements of 32 bits, (16, 128) of 16, (32, 128) of 8; arrays of one dimension to 1024 bytes.
// Returns INT64_MAX for more.
int64_t BytesOn(const Chip& chip, const hlo::Shape& shape);

// Returns the line of a report that says how the chip pads arrays; empty if it does not.
std::string_view PaddingText(const Chip& chip);

// Returns the chips of the table, and those of a TOML file if its path is not empty:
//   [chips.mine]
//   memory_bytes = 64e9
//   usable_bytes = 60e9       # default: memory_bytes
//   bandwidth = 1e12
//   flops = 2e14
//   tiled = false             # the default
absl::StatusOr<std::vector<Chip>> KnownChips(const std::string& path = "");

// A number of chips of one kind, "v5p:128", or a torus of them, "v5p:4x4x8".
struct Target {
  Chip chip;
  int64_t count = 1;
  hlo::Dims shape;  // The torus; empty when only the number of chips is known.
};
// Parses a target; without a count it is one chip. NOT_FOUND names the nearest chips; INVALID_ARGUMENT unless
// the count, or the product of a torus's sizes, is from 1 to 1000000.
absl::StatusOr<Target> ParseTarget(std::string_view text, const std::vector<Chip>& chips);

}  // namespace hlod::analysis
