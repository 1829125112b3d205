// gather: copies windows of an operand from positions that another operand contains. A contiguous window is
// one memcpy. When the windows lie side by side in the result, as columns that are taken by number do, each
// element of the window is copied for all windows in turn: window by window, every element would be on a
// cache line of its own.
#include "server/engine/movement/gather_scatter.h"

#include <cstring>

#include "common/base/errors/status.h"
#include "server/engine/movement/copy_nd.h"
#include "server/engine/movement/movement_steps.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {

WindowStarts::WindowStarts(const Numbers& numbers)
    : type_(numbers.indices.type), width_(Width(numbers.indices)) {
  const hlo::Dims operand_strides = hlo::RowMajorStrides(numbers.operand.dims);
  const hlo::Dims index_strides = hlo::RowMajorStrides(numbers.indices.dims);
  const int64_t vector_stride =
      numbers.index_vector_dim < numbers.indices.rank() ? index_strides[numbers.index_vector_dim] : 0;
  for (int64_t d = 0; d < numbers.indices.rank(); ++d) {
    if (d == numbers.index_vector_dim) continue;
    int64_t batching = 0;
    for (size_t k = 0; k < numbers.indices_batching.size(); ++k) {
      if (numbers.indices_batching[k] == d) batching += operand_strides[numbers.operand_batching[k]];
    }
    batch_dims_.push_back(numbers.indices.dims[d]);
    positions_.Append(numbers.indices.dims[d], index_strides[d]);
    batching_.Append(numbers.indices.dims[d], batching);
    batching_strides_.push_back(batching);
  }
  for (size_t k = 0; k < numbers.index_to_operand.size(); ++k) {
    const int64_t d = numbers.index_to_operand[k];
    components_.push_back({static_cast<int64_t>(k) * vector_stride * width_,
                           numbers.operand.dims[d] - numbers.window[d], operand_strides[d]});
  }
  // Merges innermost dimensions that a single distance describes.
  std::vector<int64_t> position_strides;
  for (int64_t d = 0; d < numbers.indices.rank(); ++d) {
    if (d != numbers.index_vector_dim) position_strides.push_back(index_strides[d]);
  }
  bool first = true;
  for (size_t d = batch_dims_.size(); d-- > 0;) {
    if (batch_dims_[d] == 1) continue;
    if (first) {
      runs_ = {batch_dims_[d], position_strides[d], batching_strides_[d]};
      first = false;
    } else if (position_strides[d] == runs_.length * runs_.position &&
               batching_strides_[d] == runs_.length * runs_.batching) {
      runs_.length *= batch_dims_[d];
    } else {
      break;
    }
  }
}

bool WindowStarts::AreMultiplesOf(int64_t unit) const {
  for (const Component& component : components_) {
    if (component.stride % unit != 0) return false;
  }
  for (int64_t stride : batching_strides_) {
    if (stride % unit != 0) return false;
  }
  return true;
}

namespace {

hlo::Dims RemainingDims(int64_t rank, absl::Span<const int64_t> without_a,
                        absl::Span<const int64_t> without_b = {}) {
  hlo::Dims dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(without_a, d) && !Contains(without_b, d)) dims.push_back(d);
  }
  return dims;
}

constexpr int64_t kStartsABlock = 512;

template <typename T>
void GatherElements(const WindowStarts& starts, const StridedIndex& targets, const std::byte* operand,
                    const std::byte* indices, std::byte* out, int64_t begin, int64_t end) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<T*>(out);
  const bool dense = targets.rank() <= 1 && targets.innermost_stride() <= 1;
  int64_t at[kStartsABlock];
  for (int64_t block = begin; block < end; block += kStartsABlock) {
    const int64_t count = std::min(kStartsABlock, end - block);
    starts.Resolve<true>(indices, block, count, at);
    for (int64_t b = 0; b < count && dense; ++b) to[block + b] = from[at[b]];
    for (int64_t b = 0; b < count && !dense; ++b) to[targets.Offset(block + b)] = from[at[b]];
  }
}

// Gathers windows of a few elements that are not contiguous, for one block of starts at a time: for each
// element of the window, all starts.
constexpr int64_t kScatteredMax = 64;
struct WindowElement {
  int64_t from = 0, to = 0;  // Offsets from the window's first element.
};
std::vector<WindowElement> ElementsOf(const hlo::Dims& sizes, const hlo::Dims& from, const hlo::Dims& to) {
  std::vector<WindowElement> elements(1);
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<WindowElement> outer;
    outer.swap(elements);
    for (const WindowElement& one : outer) {
      for (int64_t i = 0; i < sizes[d]; ++i) elements.push_back({one.from + i * from[d], one.to + i * to[d]});
    }
  }
  return elements;
}
template <typename T>
void GatherScattered(const WindowStarts& starts, const StridedIndex& targets,
                     absl::Span<const WindowElement> elements, const std::byte* operand,
                     const std::byte* indices, std::byte* out, int64_t begin, int64_t end) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<T*>(out);
  int64_t at[kStartsABlock], target[kStartsABlock];
  for (int64_t block = begin; block < end; block += kStartsABlock) {
    const int64_t count = std::min(kStartsABlock, end - block);
    starts.Resolve<true>(indices, block, count, at);
    for (int64_t b = 0; b < count; ++b) target[b] = targets.Offset(block + b);
    for (const WindowElement& element : elements) {
      for (int64_t b = 0; b < count; ++b) to[target[b] + element.to] = from[at[b] + element.from];
    }
  }
}

// Gathers `count` elements into a row.
template <typename T>
void GatherRow(const T* from, const int64_t* at, int64_t count, T* to) {
  int64_t b = 0;
  for (; b + 4 <= count; b += 4) {
    // Loaded before they are stored, which the compiler cannot know to be possible.
    const T e0 = from[at[b]], e1 = from[at[b + 1]], e2 = from[at[b + 2]], e3 = from[at[b + 3]];
    to[b] = e0, to[b + 1] = e1, to[b + 2] = e2, to[b + 3] = e3;
  }
  for (; b < count; ++b) to[b] = from[at[b]];
}

// Gathers the elements [begin, end) of all windows.
template <typename T>
void GatherAcross(const WindowStarts& starts, const StridedIndex& targets, const StridedIndex& window_from,
                  const StridedIndex& window_to, const std::byte* operand, const std::byte* indices,
                  std::byte* out, int64_t begin, int64_t end) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<T*>(out);
  const bool dense = targets.rank() <= 1 && targets.innermost_stride() == 1;
  int64_t at[kStartsABlock], target[kStartsABlock];
  for (int64_t block = 0; block < starts.count(); block += kStartsABlock) {
    const int64_t count = std::min(kStartsABlock, starts.count() - block);
    starts.Resolve<true>(indices, block, count, at);
    for (int64_t b = 0; b < count && !dense; ++b) target[b] = targets.Offset(block + b);
    for (int64_t element = begin; element < end; ++element) {
      const T* const source = from + window_from.Offset(element);
      T* const place = to + window_to.Offset(element);
      if (dense) GatherRow(source, at, count, place + block);
      else
        for (int64_t b = 0; b < count; ++b) place[target[b]] = source[at[b]];
    }
  }
}

// Gathers the windows of one row of the window: runs of kBytes bytes (of `bytes`, if that is 0) from `at` to
// `target`.
template <int64_t kBytes>
void CopyRunsAcross(const std::byte* from, std::byte* to, const int64_t* at, const int64_t* target,
                    int64_t count, int64_t width, int64_t bytes) {
  if constexpr (kBytes != 0) bytes = kBytes;
  for (int64_t b = 0; b < count; ++b)
    std::memcpy(to + target[b] * width, from + at[b] * width, static_cast<size_t>(bytes));
}
using RunsAcross = void (*)(const std::byte* from, std::byte* to, const int64_t* at, const int64_t* target,
                            int64_t count, int64_t width, int64_t bytes);
RunsAcross RunsAcrossOf(int64_t bytes) {
  switch (bytes) {
    case 4: return CopyRunsAcross<4>;
    case 8: return CopyRunsAcross<8>;
    case 12: return CopyRunsAcross<12>;
    case 16: return CopyRunsAcross<16>;
    case 32: return CopyRunsAcross<32>;
    case 64: return CopyRunsAcross<64>;
    case 128: return CopyRunsAcross<128>;
    default: return CopyRunsAcross<0>;
  }
}

class GatherStep final : public Step {
 public:
  explicit GatherStep(hlo::Instruction instruction)
      : Step(StepKind::kMovement, DescribeStep(instruction)),
        width_(Width(instruction.shape())),
        starts_(Starts(instruction)) {
    const auto& gather = instruction.attributes<hlo::GatherAttributes>();
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::Shape& out = instruction.shape();
    const hlo::Dims operand_strides = hlo::RowMajorStrides(operand.dims),
                    out_strides = hlo::RowMajorStrides(out.dims);
    hlo::Dims sizes, from, to;
    for (int64_t d :
         RemainingDims(operand.rank(), gather.collapsed_slice_dims, gather.operand_batching_dims)) {
      to.push_back(out_strides[gather.offset_dims[sizes.size()]]);
      from.push_back(operand_strides[d]);
      sizes.push_back(gather.slice_sizes[d]);
      window_from_.Append(sizes.back(), from.back());
      window_to_.Append(sizes.back(), to.back());
    }
    window_ = MakeCopyNd(sizes, from, to, width_);
    if (window_.contiguous_bytes() == 0 && window_.elements() <= kScatteredMax)
      elements_ = ElementsOf(sizes, from, to);
    for (int64_t d : RemainingDims(out.rank(), gather.offset_dims))
      targets_.Append(out.dims[d], out_strides[d]);
    side_by_side_ = window_.contiguous_bytes() == 0 && elements_.empty() &&
                    targets_.innermost_stride() == 1 && targets_.innermost_size() >= kSideBySideMin &&
                    starts_.count() <= StopCheck::kPieceWork;
    if (!side_by_side_) FindRunsSideBySide(sizes, from, to);
    empty_ = Elements(out) == 0;
    out_bytes_ = Elements(out) * width_;
    for (const int64_t size : gather.slice_sizes) reads_nothing_ = reads_nothing_ || size == 0;
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (empty_) return absl::OkStatus();
    if (reads_nothing_)  // The operand has a dimension of size 0 that the result lacks: the result is zeros,
                         // as in the evaluator.
      return FillZeros(context, outputs[0], out_bytes_);
    if (side_by_side_) {
      return ParallelPieces(context, window_.elements(), window_.elements() * starts_.count(),
                            [&](int64_t begin, int64_t end, int) {
                              return VisitWidth(width_, [&]<typename T>() {
                                GatherAcross<T>(starts_, targets_, window_from_, window_to_, inputs[0],
                                                inputs[1], outputs[0], begin, end);
                              });
                            });
    }
    if (run_bytes_ != 0) {
      return ParallelPieces(context, run_from_.count(), window_.elements() * starts_.count(),
                            [&](int64_t begin, int64_t end, int) {
                              GatherRunsAcross(inputs[0], inputs[1], outputs[0], begin, end);
                            });
    }
    const int64_t run = window_.contiguous_bytes();
    if ((starts_.count() < context.threads && window_.elements() >= kParallelElementsMin) ||
        window_.elements() >= StopCheck::kPieceWork) {
      for (int64_t b = 0; b < starts_.count(); ++b) {
        RETURN_IF_ERROR(window_.Run(inputs[0] + starts_.Clamped(inputs[1], b) * width_,
                                    outputs[0] + targets_.Offset(b) * width_, context));
      }
      return absl::OkStatus();
    }
    return ParallelPieces(
        context, starts_.count(), starts_.count() * (window_.elements() + 8),
        [&](int64_t begin, int64_t end, int) {
          if (window_.elements() == 1) {
            return VisitWidth(width_, [&]<typename T>() {
              GatherElements<T>(starts_, targets_, inputs[0], inputs[1], outputs[0], begin, end);
            });
          }
          if (!elements_.empty()) {
            return VisitWidth(width_, [&]<typename T>() {
              GatherScattered<T>(starts_, targets_, elements_, inputs[0], inputs[1], outputs[0], begin, end);
            });
          }
          for (int64_t b = begin; b < end; ++b) {
            const std::byte* from = inputs[0] + starts_.Clamped(inputs[1], b) * width_;
            std::byte* to = outputs[0] + targets_.Offset(b) * width_;
            if (run > 0) {
              std::memcpy(to, from, static_cast<size_t>(run));
            } else {
              window_.RunHere(from, to);
            }
          }
        });
  }

 private:
  static WindowStarts Starts(hlo::Instruction instruction) {
    const auto& gather = instruction.attributes<hlo::GatherAttributes>();
    return WindowStarts({instruction.operand(0).shape(), instruction.operand(1).shape(),
                         gather.index_vector_dim, gather.start_index_map, gather.operand_batching_dims,
                         gather.start_indices_batching_dims, gather.slice_sizes});
  }

  static constexpr int64_t kSideBySideMin = 8;
  static constexpr int64_t kRunBytesMax = 256;  // Longer runs may be anywhere.

  // Looks for windows of several short runs which lie side by side in the result, run by run.
  void FindRunsSideBySide(const hlo::Dims& sizes, const hlo::Dims& from, const hlo::Dims& to) {
    if (window_.contiguous_bytes() != 0 || starts_.count() > StopCheck::kPieceWork) return;
    int64_t run = 1;
    size_t outer = sizes.size();
    for (; outer > 0 && (sizes[outer - 1] == 1 || (from[outer - 1] == run && to[outer - 1] == run)); --outer)
      run *= sizes[outer - 1];
    if (run == 1 || run * width_ > kRunBytesMax || targets_.innermost_stride() != run ||
        targets_.innermost_size() < kSideBySideMin)
      return;
    for (size_t d = 0; d < outer; ++d) {
      run_from_.Append(sizes[d], from[d]);
      run_to_.Append(sizes[d], to[d]);
    }
    run_bytes_ = run * width_;
    runs_across_ = RunsAcrossOf(run_bytes_);
  }

  // Gathers the runs [begin, end) of all windows.
  void GatherRunsAcross(const std::byte* operand, const std::byte* indices, std::byte* out, int64_t begin,
                        int64_t end) const {
    int64_t at[kStartsABlock], target[kStartsABlock];
    for (int64_t block = 0; block < starts_.count(); block += kStartsABlock) {
      const int64_t count = std::min(kStartsABlock, starts_.count() - block);
      starts_.Resolve<true>(indices, block, count, at);
      for (int64_t b = 0; b < count; ++b) target[b] = targets_.Offset(block + b);
      for (int64_t run = begin; run < end; ++run) {
        runs_across_(operand + run_from_.Offset(run) * width_, out + run_to_.Offset(run) * width_, at, target,
                     count, width_, run_bytes_);
      }
    }
  }

  int width_;
  WindowStarts starts_;
  StridedIndex targets_, window_from_, window_to_;
  bool side_by_side_ = false;  // True when a run of windows has each element side by side in the result.
  int64_t run_bytes_ = 0;  // The bytes of a run of a window, if runs lie side by side in the result; else 0.
  RunsAcross runs_across_ = nullptr;
  StridedIndex run_from_, run_to_;
  CopyNd window_;
  std::vector<WindowElement> elements_;  // The elements of a small window that is not contiguous; empty for
                                         // other windows.
  int64_t out_bytes_ = 0;
  bool empty_ = false, reads_nothing_ = false;
};

}  // namespace

MaybeStep MakeGatherScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  if (instruction.opcode() == hlo::kGather) return std::make_unique<GatherStep>(instruction);
  if (instruction.opcode() == hlo::kScatter) return MakeScatterStep(module, instruction, threads);
  return nullptr;
}

}  // namespace hlod::engine
