// reduce of several operands, or with a reducer that is not one plain operation (such as argmax), on blocks
// of lanes.
//
// A lane is one output or, if there are few outputs, one of several consecutive stretches of an output's
// elements, so that the reducer always runs on blocks. Stretches are combined in order: the reducer must be
// associative, as HLO requires, but need not be commutative.
#include <algorithm>
#include <cstring>
#include <vector>

#include "server/engine/reduce/reduce.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 512;
constexpr int64_t kElementNs = 8;
constexpr int64_t kRunBytes = 64;  // The number of bytes of a lane that are read at once: a cache line.
// The number of lanes that are read side by side. Rows are often a power of two apart, where the cache lines
// of more lanes would evict each other.
constexpr int64_t kLanesTogether = 8;

class GeneralReduceStep final : public Step {
 public:
  GeneralReduceStep(hlo::Instruction instruction, std::unique_ptr<ScalarFunction> function, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        function_(std::move(function)),
        count_(static_cast<int>(instruction.operand_count() / 2)) {
    const hlo::Shape& operand = instruction.operand(0).shape();
    walk_ = MakeReduceWalk(operand, instruction.dimensions());
    elements_ = Elements(operand);
    for (int i = 0; i < count_; ++i) widths_.push_back(Width(instruction.operand(i).shape()));
    const int64_t reduced = walk_.reduced.count();
    if (walk_.kept.count() < kLanes / 4 && reduced >= 128)
      stretches_ = std::min(kLanes / std::max<int64_t>(1, walk_.kept.count()), reduced / 16);
    runs_ = walk_.reduced.rank() == 1 && walk_.reduced.innermost_stride() == 1;
    outputs_a_job_ = kLanes / stretches_;
    jobs_ = (walk_.kept.count() + outputs_a_job_ - 1) / outputs_a_job_;
    for (int width : widths_) worker_bytes_ += 2 * ScratchAlign(kLanes * width) + (runs_ ? kBlockBytes : 0);
    workers_ = std::max(1, threads);
    set_scratch_bytes(worker_bytes_ * workers_);
    set_flops(static_cast<double>(elements_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    ParallelRanges(std::min(context.threads, workers_), jobs_, elements_ * 8,
                   [&](int64_t begin, int64_t end, int worker) {
                     StopCheck stop(context.run);
                     for (int64_t job = begin; job < end; ++job) {
                       if (!RunJob(inputs, outputs, job, context.scratch + worker * worker_bytes_, stop))
                         return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  static constexpr int kOperandsMax = 16;
  static constexpr int64_t kBlockBytes = kLanes * kRunBytes;

  // The first element of each lane in memory, and the number of its elements.
  struct Lanes {
    int64_t base[kLanes], length[kLanes];
    int64_t count;
  };
  // Gathers elements t, t + 1, ... (a cache line of them) of every lane; all lanes of one element come before
  // the next element. The elements of a lane are contiguous, so each cache line is read once.
  static void GatherRuns(const std::byte* input, int width, const Lanes& lanes, int64_t t, std::byte* block) {
    const int64_t turn_bytes = lanes.count * width;
    for (int64_t first = 0; first < lanes.count;) {
      const auto at = [&](int64_t l) { return input + (lanes.base[l] + t) * width; };
      const auto left = [&](int64_t l) { return lanes.length[l] - t; };
      // Lanes of equal length at equal distances are the columns of a matrix.
      const int64_t distance = first + 1 < lanes.count ? lanes.base[first + 1] - lanes.base[first] : 0;
      int64_t together = 1;
      while (together < kLanesTogether && first + together < lanes.count &&
             left(first + together) == left(first) &&
             lanes.base[first + together] - lanes.base[first + together - 1] == distance)
        ++together;
      TransposeBlock(at(first), block + first * width, std::min(kRunBytes / width, left(first)), turn_bytes,
                     together, distance * width, width);
      first += together;
    }
  }

  // Gathers the element at offsets[l] of each operand into lane l of `to`.
  void Gather(const std::byte* const* inputs, const int64_t* offsets, int64_t lanes,
              std::byte* const* to) const {
    for (int i = 0; i < count_; ++i) {
      VisitWidth(widths_[i], [&]<typename T>() {
        const auto* from = reinterpret_cast<const T*>(inputs[i]);
        auto* gathered = reinterpret_cast<T*>(to[i]);
        for (int64_t l = 0; l < lanes; ++l) gathered[l] = from[offsets[l]];
      });
    }
  }

  // One job: outputs [first, first + outputs), whose elements are in `lanes` lanes, ordered by stretch.
  struct Job {
    int64_t first, outputs, lanes;
    std::byte* parameters[2 * kOperandsMax];  // Accumulators, then elements.
    std::byte* blocks;                        // The blocks of GatherRuns, one per operand.
  };

  Job Prepare(int64_t job, std::byte* scratch) const {
    Job j;
    j.first = job * outputs_a_job_;
    j.outputs = std::min(outputs_a_job_, walk_.kept.count() - j.first);
    j.lanes = j.outputs * stretches_;
    for (int i = 0; i < 2 * count_; ++i) {
      j.parameters[i] = scratch;
      scratch += ScratchAlign(kLanes * widths_[i % count_]);
    }
    j.blocks = scratch;
    return j;
  }

  // Returns false when it was interrupted.
  bool RunJob(const std::byte* const* inputs, std::byte* const* outputs, int64_t job, std::byte* scratch,
              StopCheck& stop) const {
    const Job j = Prepare(job, scratch);
    if (walk_.reduced.count() > 0 && !ReduceLanes(inputs, j, stop)) return false;
    std::byte* const* const elements = j.parameters + count_;
    // Computes init op stretch 0 op stretch 1 ...; the initial values are written where the elements were.
    for (int i = 0; i < count_; ++i) {
      for (int64_t o = 0; o < j.outputs; ++o) {
        std::memcpy(elements[i] + o * widths_[i], inputs[count_ + i], static_cast<size_t>(widths_[i]));
      }
    }
    for (int64_t s = 0; s < stretches_ && walk_.reduced.count() > 0; ++s)
      RunAt(elements, 0, j.parameters, s * j.outputs, j.outputs);
    for (int i = 0; i < count_; ++i) {
      std::memcpy(outputs[i] + j.first * widths_[i], elements[i],
                  static_cast<size_t>(j.outputs * widths_[i]));
    }
    return !stop.Stops(j.lanes * kElementNs);
  }

  // Reduces the elements of each lane into the accumulators. Returns false when it was interrupted.
  bool ReduceLanes(const std::byte* const* inputs, const Job& j, StopCheck& stop) const {
    Lanes place;
    int64_t begin[kLanes];
    const int64_t longest = Place(j, place, begin);
    // Lanes that are contiguous in memory are not gathered: the reducer reads them in place.
    bool neighbours = stretches_ == 1;
    for (int64_t l = 1; l < j.lanes; ++l) neighbours = neighbours && place.base[l] == place.base[0] + l;
    for (int64_t t = 0; t < longest; ++t) {
      if (stop.Stops(j.lanes * kElementNs)) return false;
      std::byte* operands[2 * kOperandsMax];  // Accumulators, then this iteration's elements.
      std::copy_n(j.parameters, 2 * count_, operands);
      if (neighbours && t > 0) {
        const int64_t from = place.base[0] + walk_.reduced.Offset(t);
        for (int i = 0; i < count_; ++i)  // The elements are only read.
          operands[count_ + i] = const_cast<std::byte*>(inputs[i]) + from * widths_[i];
      } else if (runs_ && !neighbours) {
        for (int i = 0; i < count_; ++i) {
          const int64_t per_run = kRunBytes / widths_[i];
          std::byte* const block = j.blocks + i * kBlockBytes;
          if (t % per_run == 0) GatherRuns(inputs[i], widths_[i], place, t, block);
          operands[count_ + i] = block + t % per_run * j.lanes * widths_[i];
        }
      } else {
        int64_t offsets[kLanes];
        for (int64_t l = 0; l < j.lanes; ++l)
          offsets[l] = place.base[l] + walk_.reduced.Offset(begin[l] + std::min(t, place.length[l] - 1)) -
                       (runs_ ? begin[l] : 0);
        Gather(inputs, offsets, j.lanes, j.parameters + count_);
      }
      if (t == 0) {
        for (int i = 0; i < count_; ++i)
          std::memcpy(j.parameters[i], operands[count_ + i], static_cast<size_t>(j.lanes * widths_[i]));
      } else if (t < longest - 1 || stretches_ == 1) {
        function_->Run(operands, j.parameters, j.lanes);
      } else {
        // Not every stretch has an element in the last iteration, so stretches are handled one by one.
        for (int64_t l = 0; l < j.lanes; l += j.outputs) {
          if (place.length[l] == longest) RunAt(j.parameters, l, operands + count_, l, j.outputs);
        }
      }
    }
    return true;
  }

  // Finds the lanes' elements, and the number of the first element of each. Stretch s of S is
  // [reduced * s / S, reduced * (s + 1) / S), so lengths differ by at most one. Returns the longest.
  int64_t Place(const Job& j, Lanes& place, int64_t* begin) const {
    const int64_t reduced = walk_.reduced.count();
    int64_t longest = 0;
    place.count = j.lanes;
    for (int64_t l = 0; l < j.lanes; ++l) {
      const int64_t s = l / j.outputs;
      begin[l] = reduced * s / stretches_;
      place.length[l] = reduced * (s + 1) / stretches_ - begin[l];
      place.base[l] = walk_.kept.Offset(j.first + l % j.outputs) + (runs_ ? begin[l] : 0);
      longest = std::max(longest, place.length[l]);
    }
    return longest;
  }

  // Sets acc[acc_lane...] = reducer(acc[acc_lane...], x[x_lane...]).
  void RunAt(std::byte* const* acc, int64_t acc_lane, std::byte* const* x, int64_t x_lane,
             int64_t lanes) const {
    std::byte* at[2 * kOperandsMax];
    for (int i = 0; i < count_; ++i) {
      at[i] = acc[i] + acc_lane * widths_[i];
      at[count_ + i] = x[i] + x_lane * widths_[i];
    }
    function_->Run(at, at, lanes);
  }

  friend MaybeStep hlod::engine::MakeGeneralReduceStep(const hlo::Module&, hlo::Instruction, int);

  std::unique_ptr<ScalarFunction> function_;
  int count_;
  ReduceWalk walk_;
  std::vector<int> widths_;
  int64_t elements_ = 0, stretches_ = 1, outputs_a_job_ = kLanes, jobs_ = 0, worker_bytes_ = 0;
  int workers_ = 1;
  bool runs_ = false;  // True when the reduced dimensions are one contiguous run.
};

}  // namespace

MaybeStep MakeGeneralReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const uint32_t count = instruction.operand_count() / 2;
  if (count == 0 || count > GeneralReduceStep::kOperandsMax) return nullptr;
  std::unique_ptr<ScalarFunction> function = MakeScalarFunction(module, instruction.called()[0]);
  if (function == nullptr || function->result_count() != static_cast<int>(count) ||
      function->parameter_count() != static_cast<int>(2 * count)) {
    return nullptr;
  }
  return std::make_unique<GeneralReduceStep>(instruction, std::move(function), threads);
}

}  // namespace hlod::engine
