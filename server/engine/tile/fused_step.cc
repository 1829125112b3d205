// The step that runs a fusion group: one pass over its domain, tile by tile, which also computes reductions.
#include <algorithm>
#include <string>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/fused_program.h"
#include "server/engine/tile/fused_step.h"
#include "server/engine/tile/kernel_trial.h"

namespace hlod::engine {

std::string DescribeGroup(const hlo::Computation& computation, const FusionGroup& group) {
  std::string text = "fused";
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    if (i == 6 && group.nodes.size() > 7) {
      text += absl::StrFormat(" +%d", group.nodes.size() - i);
      break;
    }
    text += absl::StrFormat(" %s", hlo::Name(computation[group.nodes[i]].opcode()));
  }
  for (hlo::NodeId output : group.outputs) text += " " + hlo::ToStringNoLayout(computation[output].shape());
  return text;
}

namespace {

class FusedStep final : public Step {
 public:
  FusedStep(const hlo::Module& module, const hlo::Computation& computation, const FusionGroup& group,
            int threads)
      : Step(StepKind::kFused, DescribeGroup(computation, group)),
        threads_(threads),
        fused_(module, computation, group),
        count_(fused_.count()),
        pattern_(fused_.pattern()) {
    if (fused_.reduces()) chunks_ = ReductionChunks(pattern_);
    if (fused_.slot() != nullptr) slots_.push_back(fused_.slot());
    if (!fused_.reduces() && fused_.slot() != nullptr) fused_.slot()->set_is_step();
    trial_ = std::make_unique<KernelTrial>(slots_, count_);
    set_scratch_bytes(fused_.worker_bytes() * threads_ + (chunks_ > 1 ? PartialBytes() : 0));
    set_flops(static_cast<double>(count_) * static_cast<double>(group.nodes.size()));
    for (int o = 0; o < static_cast<int>(group.outputs.size()); ++o) {
      for (int i = 0; i < static_cast<int>(group.inputs.size()); ++i) {
        if (fused_.program().MayShare(o, i)) Share(o, i);
      }
    }
  }

  bool complete() const { return fused_.complete(); }
  absl::Span<KernelSlot* const> kernel_slots() const override { return slots_; }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const Job job{inputs, outputs, context, std::min(context.threads, threads_)};
    return trial_->Measure([&] { return Run(job); });
  }

 private:
  // One run of the step.
  struct Job {
    const std::byte* const* inputs;
    std::byte* const* outputs;
    StepContext& context;
    int threads;
  };
  absl::Status Run(const Job& job) const {
    if (!fused_.reduces()) return RunMap(job);
    if (chunks_ > 1) RunChunks(job);
    else if (pattern_.inner == 1) RunRows(job);
    else if (count_ > 0 && pattern_.reduced * pattern_.inner <= kTile / 2) RunGroups(job);
    else RunColumns(job);
    return StopCheck::VerdictAfter(count_, job.context.run);
  }

  FusedWorker WorkerOf(const Job& job, int worker) const {
    return {fused_, job.inputs, job.outputs, job.context.scratch + worker * fused_.worker_bytes()};
  }

  absl::Status RunMap(const Job& job) const {
    const int64_t tiles = (count_ + kTile - 1) / kTile;
    // A tile of one interpreted instruction takes a fraction of a microsecond.
    const int64_t tile_work = std::max(1, fused_.program().instruction_count()) * kTile / 2;
    ParallelRanges(job.threads, tiles, count_, [&](int64_t begin, int64_t end, int worker) {
      FusedWorker work = WorkerOf(job, worker);
      StopCheck stop(job.context.run);
      stop.ForPieces(end - begin, work.assembled() ? std::max<int64_t>(kTile / 8, tile_work / 16) : tile_work,
                     [&](int64_t from, int64_t to) {
                       const int64_t first = (begin + from) * kTile;
                       work.Run(first, std::min(count_, (begin + to) * kTile) - first);
                     });
    });
    return StopCheck::VerdictAfter(WorkOf(tiles, tile_work), job.context.run);
  }

  // For inner == 1: each row of `reduced` neighbours becomes one element. A tile has several whole rows if rows
  // are short.
  void RunRows(const Job& job) const {
    const int64_t row = pattern_.reduced;
    ParallelRanges(job.threads, pattern_.outer, count_, [&](int64_t begin, int64_t end, int worker) {
      FusedWorker work = WorkerOf(job, worker);
      const int64_t piece = work.assembled() ? FusedWorker::kKernelPiece : kTile;
      // The reduced elements may never be stored, and may be more than fit into any memory.
      StopCheck stop(job.context.run);
      for (int64_t first = begin, step = work.rows_at_once(row); first < end; first += step) {
        const int rows = static_cast<int>(std::min(step, end - first));
        work.Start(rows);
        for (int64_t done = 0; done < row; done += piece) {
          const int64_t n = std::min(piece, row - done);
          if (stop.Stops(rows * n)) return;
          work.FoldRows(first * row + done, rows, n);
        }
        work.Finish(first, rows);
      }
    });
  }

  // For inner > 1: reduces columns of a [reduced, inner] matrix, `outer` times. A tile consists of several
  // whole rows if rows are short.
  void RunColumns(const Job& job) const {
    const int64_t inner = pattern_.inner;
    ParallelRanges(job.threads, pattern_.outer * strips(), count_, [&](int64_t begin, int64_t end, int worker) {
      FusedWorker work = WorkerOf(job, worker);
      StopCheck stop(job.context.run);
      for (int64_t item = begin; item < end; ++item) {
        const int64_t outer = item / strips(), column = item % strips() * kTile;
        const int columns = static_cast<int>(std::min(item_width(), inner - column));
        work.Start(columns);
        const int64_t step =
            work.assembled() ? std::max(rows_a_step(), FusedWorker::kKernelPiece / kTile) : rows_a_step();
        for (int64_t at = 0; at < pattern_.reduced; at += step) {
          const int rows = static_cast<int>(std::min(step, pattern_.reduced - at));
          if (stop.Stops(rows * columns)) return;
          work.FoldColumns((outer * pattern_.reduced + at) * inner + column, rows, columns);
        }
        work.Finish(outer * inner + column, columns);
      }
    });
  }

  // For inner > 1 and small matrices, several of which are reduced at a time.
  void RunGroups(const Job& job) const {
    const int64_t inner = pattern_.inner, matrix = pattern_.reduced * inner, step = kTile / matrix;
    ParallelRanges(job.threads, pattern_.outer, count_, [&](int64_t begin, int64_t end, int worker) {
      FusedWorker work = WorkerOf(job, worker);
      StopCheck stop(job.context.run);
      for (int64_t first = begin; first < end; first += step) {
        const int groups = static_cast<int>(std::min(step, end - first));
        const int columns = static_cast<int>(groups * inner);
        work.Start(columns);
        work.FoldGroups(first * matrix, groups, static_cast<int>(pattern_.reduced), inner);
        work.Finish(first * inner, columns);
        if (stop.Stops(groups * matrix)) return;
      }
    });
  }

  // An item is a row, or a strip of at most kTile columns; a step is what a tile holds of it.
  int64_t strips() const { return StripsOf(pattern_); }
  int64_t item_width() const { return std::min<int64_t>(pattern_.inner, kTile); }
  int64_t rows_a_step() const { return RowsAStep(pattern_); }
  int64_t steps() const { return StepsOf(pattern_); }
  // The accumulators of all chunks of one reduction.
  int64_t ReductionBytes() const { return pattern_.outer * strips() * chunks_ * item_width() * 8; }
  int64_t PartialBytes() const {
    return static_cast<int64_t>(fused_.reductions().size()) * ReductionBytes();
  }
  std::byte* Partial(StepContext& context, size_t r, int64_t chunk) const {
    return context.scratch + fused_.worker_bytes() * threads_ + static_cast<int64_t>(r) * ReductionBytes() +
           chunk * item_width() * fused_.reductions()[r].accumulator_bytes();
  }

  // Reduces the chunks of every item, then joins them.
  void RunChunks(const Job& job) const {
    const std::vector<FusedReduction>& reductions = fused_.reductions();
    const int64_t items = pattern_.outer * strips(), inner = pattern_.inner;
    ParallelRanges(job.threads, items * chunks_, count_, [&](int64_t begin, int64_t end, int worker) {
      FusedWorker work = WorkerOf(job, worker);
      StopCheck stop(job.context.run);
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t item = chunk / chunks_, part = chunk % chunks_;
        const int64_t outer = item / strips(), column = item % strips() * kTile;
        const int columns = static_cast<int>(std::min(item_width(), inner - column));
        const int64_t first = steps() * part / chunks_, last = steps() * (part + 1) / chunks_;
        const auto partial = [&](size_t r) { return Partial(job.context, r, chunk); };
        for (size_t r = 0; r < reductions.size(); ++r) reductions[r].StartNeutral(partial(r), columns);
        const int64_t step_count = work.assembled() ? FusedWorker::kKernelPiece / kTile : 1;
        for (int64_t step = first; step < last; step += step_count) {
          const int64_t at = step * rows_a_step();
          const int64_t end = std::min(std::min(step + step_count, last) * rows_a_step(), pattern_.reduced);
          const int rows = static_cast<int>(end - at);
          if (stop.Stops(rows * columns)) return;
          work.FoldChunk((outer * pattern_.reduced + at) * inner + column, rows, columns, inner == 1, partial);
        }
      }
    });
    if (StopCheck::MustStop(job.context.run)) return;  // Some chunks may be missing.
    const FusedWorker work = WorkerOf(job, 0);
    for (int64_t item = 0; item < items; ++item) {
      const int64_t outer = item / strips(), column = item % strips() * kTile;
      const int columns = static_cast<int>(std::min(item_width(), inner - column));
      work.Start(columns);
      for (size_t r = 0; r < reductions.size(); ++r) {
        for (int64_t part = 0; part < chunks_; ++part)
          reductions[r].Join(work.accumulators(r), Partial(job.context, r, item * chunks_ + part), columns);
      }
      work.Finish(outer * inner + column, columns);
    }
  }

  const int threads_;
  const FusedProgram fused_;
  const int64_t count_;
  const ReducePattern pattern_;
  std::vector<KernelSlot*> slots_;
  std::unique_ptr<KernelTrial> trial_;
  int64_t chunks_ = 1;  // The chunks that the reduction of each item is split into.
};

}  // namespace

std::unique_ptr<Step> MakeFusedStep(const hlo::Module& module, const hlo::Computation& computation,
                                    const FusionGroup& group, int threads) {
  if (!group.phases.empty()) return MakeRowsStep(module, computation, group, threads);
  auto step = std::make_unique<FusedStep>(module, computation, group, threads);
  if (!step->complete()) return nullptr;
  return step;
}

}  // namespace hlod::engine
