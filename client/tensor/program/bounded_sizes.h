// The form of a program without its sizes, and the program of that form for all sizes up to a bound.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/tensor/program/canonical.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// Returns words that are equal for two programs that differ at most in sizes of arrays between parameters and
// results, in the limits of slices, and in numbers.
std::vector<uint32_t> FormWords(const hlo::Computation& program);

// A program whose growing dimensions are bounded dynamic dimensions, and which takes their sizes as
// arguments.
struct BoundedSizes {
  Canonical canonical;
  // The values of the parameters that follow those of the trace: sizes, and numbers that are constants in the
  // trace.
  std::vector<std::shared_ptr<const Literal>> numbers;
  int64_t bound = 0;  // The largest size that the program serves: of several that grow, the least.
};

// Returns the program that computes what `now` computes for any size up to a bound, given an earlier program
// of the same form: dimensions that differ from it grow. The bound is a power of two, or above 1024 a
// multiple of an eighth of one, unless an array that is sliced is smaller, and every program of the form
// below the bound gives the same words. nullopt if nothing grows, or in a way that is not followed: results
// that grow, sizes that are not multiples of one change, instructions without a rule.
std::optional<BoundedSizes> BoundSizes(const hlo::Computation& earlier, const Canonical& now);

// Returns the module of such a program with static shapes: arrays at their bounds, and masks. UNIMPLEMENTED
// for an instruction that has no rule for dynamic dimensions.
absl::StatusOr<std::unique_ptr<Module>> WithStaticShapes(const Module& bounded);

}  // namespace hlod::lazy
