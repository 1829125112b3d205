// Views: how an array that only rearranges another one (broadcast, slice, reverse, reshape, iota) is read
// from the other's memory, so that a tile program can read through it and the array need not exist.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// Element i (row-major) of the viewed array is element offset + sum(index_d * stride_d) of `base`, where
// index is i written in the mixed radix of the dimensions' sizes. With `is_iota` there is no memory: that
// number itself is the value.
struct View {
  struct Dimension {
    int64_t size, stride;
  };
  hlo::NodeId base = 0;
  bool is_iota = false;
  int64_t count = 1;
  int64_t offset = 0;
  // The dimensions, outermost first, joined where possible; at least one.
  absl::InlinedVector<Dimension, 4> dims;

  // Returns true when element i is base's element i.
  bool IsIdentity() const {
    return !is_iota && offset == 0 && dims.size() == 1 && (dims[0].stride == 1 || count == 1);
  }
  // Returns true when all elements are the same element.
  bool IsScalar() const { return !is_iota && dims.size() == 1 && (dims[0].stride == 0 || count == 1); }
};

// Returns the view of `node`; a view of the node itself if it does not rearrange another one. `count` > 1
// broadcasts a scalar to that many elements.
View ResolveView(const hlo::Computation& computation, hlo::NodeId node, int64_t count);

// The place of an array's elements in another one's memory: element (i0, i1, ...) is element offset + i0 *
// strides[0] + i1 * strides[1] + ... of `base`. With `is_iota` there is no memory: that number is the value.
struct StridedRead {
  hlo::NodeId base = 0;
  bool is_iota = false;
  int64_t offset = 0;
  hlo::Dims strides;
};

// Returns true when the step of the instruction reads the array that operand k is a view of, so that the view
// need not exist: those of slices, reversals, transposes, pads and concatenations do.
bool ReadsView(hlo::Instruction instruction, size_t k);
// Returns the place of what the step reads as operand k, by the operand's dimensions.
StridedRead ReadOfOperand(hlo::Instruction instruction, size_t k);

// Returns true when ResolveView looks through the opcode (if the shapes allow it).
bool IsViewOpcode(hlo::Opcode opcode);

// Walks along a view in runs within its innermost dimension. For views of at most kRunDimensionsMax
// dimensions.
inline constexpr size_t kRunDimensionsMax = 6;
class RunCursor {
 public:
  RunCursor() = default;
  RunCursor(const View& view, int64_t start);
  // The element of the base at the cursor, and the elements that remain of its run.
  int64_t offset() const { return offset_; }
  int64_t left() const { return view_->dims.back().size - index_[view_->dims.size() - 1]; }
  // Returns the rows of `row` elements from the cursor on of which each begins at the same distance from the
  // one before it. REQUIRES: runs are multiples of rows.
  int64_t RowsLeft(int64_t row) const {
    const size_t inner = view_->dims.size() - 1;
    if (view_->dims[inner].size > row) return (left() + row - 1) / row;
    return inner == 0 ? 1 : view_->dims[inner - 1].size - index_[inner - 1];
  }
  int64_t stride() const { return view_->dims.back().stride; }
  // Advances by at most left() elements. REQUIRES: the cursor is before the view's end.
  void Advance(int64_t n);
  // Advances by at most RowsLeft(row) rows.
  void AdvanceRows(int64_t rows, int64_t row);

 private:
  void Advance(size_t dimension, int64_t n);

  const View* view_ = nullptr;
  int64_t offset_ = 0;
  int64_t index_[kRunDimensionsMax] = {};
};

// Copies elements [start, start + n) of the view from `base` to dense memory, `width` bytes each. Not for
// iotas.
void ReadView(const View& view, const std::byte* base, int width, int64_t start, int64_t n, std::byte* out);
// Writes `n` copies of one element of `width` bytes.
void Fill(const std::byte* element, int width, int64_t n, std::byte* out);
// Writes the numbers of an iota's elements [start, start + n).
void ReadIota(const View& view, int64_t start, int64_t n, int64_t* out);

}  // namespace hlod::engine
