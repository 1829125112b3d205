// The order in which a reduce visits its operand, and the functions of recognised reducers; shared by the
// steps of reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/engine/run/strided_index.h"
#include "server/engine/tile/reducer.h"

namespace hlod::engine {

// Element (output o, reduced position r) of the operand is at kept.Offset(o) + reduced.Offset(r), in
// elements.
struct ReduceWalk {
  StridedIndex kept, reduced;
};
ReduceWalk MakeReduceWalk(const hlo::Shape& operand, absl::Span<const int64_t> dimensions);

// The functions of one reducer for one element type. The step is compiled once for all of them: partial
// results are in memory whose type only these functions know.
struct ReduceFunctions {
  int64_t element_bytes, total_bytes;
  // Sets totals to the identity.
  void (*begin)(std::byte* totals, int64_t count);
  // Joins `count` dense elements into one total.
  void (*run)(const std::byte* elements, int64_t count, std::byte* total);
  // Joins element i of each row into total i, for i < count.
  void (*rows)(const std::byte* const* rows, int64_t row_count, int64_t count, std::byte* totals);
  void (*join)(std::byte* totals, const std::byte* others, int64_t count);
  // Stores the totals joined with the initial value.
  void (*finish)(const std::byte* totals, int64_t count, const std::byte* init, std::byte* out);
  // Stores the initial value joined with the elements of each of `rows` dense rows of n elements, as begin,
  // run and finish would for n < kShortRun and one row, but for the rounding of c128.
  void (*short_rows)(const std::byte* elements, int64_t rows, int64_t n, const std::byte* init,
                     std::byte* out);
  // Stores, for each of `count` boxes, the initial value joined with element i of each of its rows, for i <
  // n. Row r of a box begins rows[r] elements after the box; results are dense.
  void (*boxes)(const std::byte* elements, const int64_t* boxes, int64_t count, const int64_t* rows,
                int64_t row_count, int64_t n, const std::byte* init, std::byte* out);
};
inline constexpr int64_t kTotalBytesMax = 16;
inline constexpr int64_t kShortRun = 16;
// Returns null if there are none.
const ReduceFunctions* ReduceFunctionsFor(ScalarReducer reducer, hlo::PrimitiveType type);

// The lines of an argmax or argmin: element k of line (o, i) is at (o * length + k) * inner + i.
struct ArgLines {
  int64_t outer = 1, length = 1, inner = 1;
};
// Defined in arg_columns.cc: for lines that are short or side by side, whose elements are read as `type`.
// Returns null for other lines.
MaybeStep MakeArgColumnsStep(hlo::Instruction instruction, hlo::PrimitiveType type, const ArgReducer& reducer,
                             const ArgLines& lines, int threads);

// Defined in arg_reduce.cc: for argmax and argmin. Returns null for any other reduce.
MaybeStep MakeArgReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

// Defined in reduce_general.cc: for several operands, or a reducer that is not recognised. Returns null if
// its computation cannot be a ScalarFunction.
MaybeStep MakeGeneralReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
