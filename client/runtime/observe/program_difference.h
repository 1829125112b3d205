// Describes the first difference of two programs, to explain why the second one had to be compiled.
#pragma once

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "common/base/errors/compile_reason.h"
#include "common/base/errors/error.h"
#include "common/hlo/module.h"

namespace hlod::runtime {

// The frontend attribute of a module that takes the sizes of arrays as arguments: the largest that it serves.
inline constexpr char kSizesUpTo[] = "hlod_sizes_up_to";

struct Difference {
  CompileReason reason = CompileReason::kNames;
  std::string text;  // "parameter 3 was f32[32,512], now f32[31,512], made at data.cc:88"
};

// Compares parameters first, because a changed shape there changes most of the rest, including constants that
// are computed from it; then constants and operations in order, results, donations, options. `made` holds the
// lines that made the arguments of `after`, as far as they are known.
Difference FirstDifference(const hlo::Module& before, const hlo::Module& after,
                           absl::Span<const Origin> made);

}  // namespace hlod::runtime
