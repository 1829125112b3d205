// The inner loops of strided copies, on elements of 1, 2, 4, 8 or 16 bytes regardless of their type. Strides
// are in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlod::engine {

// Copies `rows` runs of `bytes` bytes.
void CopyRuns(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
              int64_t bytes);

// Writes, for each of `rows` rows, one element `count` times.
void FillRows(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
              int64_t count, int width);

// Copies source element (r, c) to element c of destination row r. The source is dense along r (stride
// `width`) and strided along c; the destination is dense along c. Works in blocks, so that the cache lines of
// both are reused.
void TransposeBlock(const std::byte* src, std::byte* dst, int64_t rows, int64_t dst_row, int64_t columns,
                    int64_t src_column, int width);

// Writes n tuples of `count` elements, which is 2, 3 or 4, side by side. Element i of a tuple is from the
// dense array from[i]. REQUIRES: width <= 8.
void Interleave(const std::byte* const* from, int count, int64_t n, std::byte* to, int width);

// Copies with any strides.
void CopyStrided(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
                 int64_t count, int64_t src_step, int64_t dst_step, int width);

}  // namespace hlod::engine
