// The lines along a sort's dimension, and the reordering of their elements.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {

class SortLines {
 public:
  static constexpr int64_t kLengthMax = (int64_t{1} << 31) - 1;

  explicit SortLines(hlo::Instruction sort) {
    const hlo::Dims& dims = sort.operand(0).shape().dims;
    const int64_t dimension = sort.attributes<hlo::SortAttributes>().dimension;
    for (uint32_t i = 0; i < sort.operand_count(); ++i) widths_.push_back(Width(sort.operand(i).shape()));
    if (dims.empty()) return;
    // If one dimension has no elements, the others may have any size, and there are no lines.
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
      lines_ = length_ = 0;
      return;
    }
    length_ = dims[dimension];
    for (size_t d = dimension + 1; d < dims.size(); ++d) stride_ *= dims[d];
    lines_ = Product(dims) / length_;
  }

  int64_t lines() const { return lines_; }
  int64_t length() const { return length_; }
  // The distance between neighbours of a line, in elements.
  int64_t stride() const { return stride_; }
  // Returns the first element of a line.
  int64_t Start(int64_t line) const { return line / stride_ * stride_ * length_ + line % stride_; }
  int operands() const { return static_cast<int>(widths_.size()); }
  int width(int operand) const { return widths_[operand]; }
  int64_t ScratchBytes() const {
    return ScratchAlign(length_ * *std::max_element(widths_.begin(), widths_.end()));
  }

  // Calls sort_line(line, scratch, stop) for every line, on a team of at most `workers` with `worker_bytes`
  // of scratch memory each, until a call returns false. Returns CANCELLED or DEADLINE_EXCEEDED when the run
  // must stop.
  template <typename F>
  absl::Status Run(StepContext& context, int workers, int64_t worker_bytes, int64_t element_ns,
                   F&& sort_line) const {
    ParallelRanges(std::min(context.threads, workers), lines_, lines_ * length_ * element_ns,
                   [&](int64_t begin, int64_t end, int worker) {
                     std::byte* const scratch = context.scratch + worker * worker_bytes;
                     StopCheck stop(context.run);
                     for (int64_t line = begin; line < end; ++line) {
                       if (!sort_line(line, scratch, stop)) return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

  // Writes the line of every operand in `order` to the outputs, which may be the inputs. `scratch` has
  // ScratchBytes() bytes. Returns false when the run must stop.
  bool Apply(const std::byte* const* inputs, std::byte* const* outputs, int64_t line, const uint32_t* order,
             std::byte* scratch, StopCheck& stop) const {
    bool completed = true;
    for (int i = 0; i < operands() && completed; ++i) {
      VisitWidth(widths_[i], [&]<typename T>() {
        completed = ApplyWidth<sizeof(T)>(inputs[i], outputs[i], line, order, scratch, stop);
      });
    }
    return completed;
  }

 private:
  // The estimated nanoseconds per element; high, because reads jump across the whole line.
  static constexpr int64_t kElementNs = 5;

  template <size_t kWidth>
  bool ApplyWidth(const std::byte* input, std::byte* output, int64_t line, const uint32_t* order,
                  std::byte* scratch, StopCheck& stop) const {
    const std::byte* from = input + Start(line) * static_cast<int64_t>(kWidth);
    std::byte* to = output + Start(line) * static_cast<int64_t>(kWidth);
    const int64_t step = stride_ * static_cast<int64_t>(kWidth);
    return stop.ForPieces(length_, kElementNs, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) std::memcpy(scratch + i * kWidth, from + order[i] * step, kWidth);
    }) && stop.ForPieces(length_, kElementNs, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * step, scratch + i * kWidth, kWidth);
    });
  }

  int64_t lines_ = 1, length_ = 1, stride_ = 1;
  std::vector<int> widths_;
};

}  // namespace hlod::engine
