// The step of a chain of groups over the same rows: each block of rows passes through all of them while it is in the
// cache. Values that no other step reads have room for one block per worker. Programs number elements from the first
// row on, so that such a value is passed as if its memory began where its first row would be.
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/fused_program.h"
#include "server/engine/tile/fused_step.h"
#include "server/engine/tile/kernel_trial.h"
#include "server/engine/tile/row_chains.h"

namespace hlod::engine {
namespace {

// The elements of a block: each of a few arrays takes this many.
constexpr int64_t kBlockElements = 4096;

class RowsStep final : public Step {
 public:
  RowsStep(const hlo::Module& module, const hlo::Computation& computation, const FusionGroup& group,
           int threads)
      : Step(StepKind::kFused, DescribeGroup(computation, group)), threads_(threads) {
    for (const FusionGroup& phase : group.phases) {
      Phase& added = phases_.emplace_back(module, computation, phase);
      complete_ = complete_ && added.fused.complete();
      if (added.fused.reduces()) rows_ = added.fused.pattern();
      if (added.fused.slot() != nullptr) {
        added.fused.slot()->KeepInCaches();
        slots_.push_back(added.fused.slot());
      }
      tables_ += phase.inputs.size() + phase.outputs.size();
    }
    complete_ = complete_ && phases_.size() <= kPhasesMax && rows_.inner == 1;
    block_ = std::clamp<int64_t>(kBlockElements / rows_.reduced, 1, rows_.outer);
    Connect(computation, group);
    int64_t worker = ScratchAlign(static_cast<int64_t>(tables_ * sizeof(void*)));
    for (Phase& phase : phases_) {
      phase.workspace = worker;
      worker += ScratchAlign(phase.fused.worker_bytes());
    }
    for (Inner& inner : inner_) {
      inner.offset = worker;
      worker += ScratchAlign(block_ * inner.row_bytes);
    }
    worker_bytes_ = worker;
    trial_ = std::make_unique<KernelTrial>(slots_, rows_.count());
    set_scratch_bytes(worker_bytes_ * threads_);
    set_flops(static_cast<double>(rows_.count()) * static_cast<double>(group.nodes.size()));
    for (int o = 0; o < static_cast<int>(group.outputs.size()); ++o) {
      for (int i = 0; i < static_cast<int>(group.inputs.size()); ++i) {
        if (MayReuse(o, i)) Share(o, i);
      }
    }
  }

  bool complete() const { return complete_; }
  absl::Span<KernelSlot* const> kernel_slots() const override { return slots_; }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    return trial_->Measure([&] { return RunBlocks(inputs, outputs, context); });
  }

 private:
  absl::Status RunBlocks(const std::byte* const* inputs, std::byte* const* outputs,
                         StepContext& context) const {
    const int64_t blocks = (rows_.outer + block_ - 1) / block_;
    const int64_t block_work = block_ * rows_.reduced * static_cast<int64_t>(phases_.size());
    ParallelRanges(std::min(context.threads, threads_), blocks, rows_.count(),
                   [&](int64_t begin, int64_t end, int worker) {
                     Worker work(*this, inputs, outputs, context.scratch + worker * worker_bytes_);
                     StopCheck stop(context.run);
                     for (int64_t block = begin; block < end && !stop.Stops(block_work); ++block) {
                       const int64_t first = block * block_;
                       work.Run(first, std::min(block_, rows_.outer - first));
                     }
                   });
    return StopCheck::VerdictAfter(WorkOf(blocks, block_work), context.run);
  }

 private:
  // The memory of a phase's operand: an input or output of the step, or a value that only phases read.
  struct Place {
    enum class Kind : uint8_t { kInput, kOutput, kInner } kind = Kind::kInput;
    int number = 0;
  };
  struct Phase {
    Phase(const hlo::Module& module, const hlo::Computation& computation, const FusionGroup& group)
        : fused(module, computation, group) {}
    const FusedProgram fused;
    std::vector<Place> inputs, outputs;
    int64_t workspace = 0;  // The offset in a worker's memory.
  };
  struct Inner {
    int64_t row_bytes = 0, offset = 0;
  };

  void Connect(const hlo::Computation& computation, const FusionGroup& group) {
    std::vector<std::pair<hlo::NodeId, Place>> made;
    const auto position = [](const std::vector<hlo::NodeId>& list, hlo::NodeId id) {
      return static_cast<int>(std::find(list.begin(), list.end(), id) - list.begin());
    };
    for (size_t p = 0; p < phases_.size(); ++p) {
      for (hlo::NodeId id : group.phases[p].inputs) {
        const auto found = std::find_if(made.begin(), made.end(), [id](const auto& m) { return m.first == id; });
        Place place{Place::Kind::kInput, position(group.inputs, id)};
        if (found != made.end()) place = found->second;
        else complete_ = complete_ && place.number < static_cast<int>(group.inputs.size());
        phases_[p].inputs.push_back(place);
      }
      for (hlo::NodeId id : group.phases[p].outputs) {
        Place place{Place::Kind::kOutput, position(group.outputs, id)};
        if (place.number == static_cast<int>(group.outputs.size())) {
          place = {Place::Kind::kInner, static_cast<int>(inner_.size())};
          inner_.push_back({Bytes(computation[id].shape()) / rows_.outer});
        }
        made.emplace_back(id, place);
        phases_[p].outputs.push_back(place);
      }
    }
  }

  // Returns true when the output may lie in the memory of the input: no phase after the one that writes it reads
  // the input, and all others read it in the order of the domain.
  bool MayReuse(int output, int input) const {
    bool written = false;
    for (const Phase& phase : phases_) {
      for (int o = 0; o < static_cast<int>(phase.outputs.size()); ++o) {
        if (phase.outputs[o].kind == Place::Kind::kOutput && phase.outputs[o].number == output) written = true;
      }
      for (int i = 0; i < static_cast<int>(phase.inputs.size()); ++i) {
        if (phase.inputs[i].kind != Place::Kind::kInput || phase.inputs[i].number != input) continue;
        if (!written && !phase.fused.program().ReadsInOrder(i)) return false;
        if (written && !WritesOver(phase, output, i)) return false;
      }
      if (written) {
        return !ReadsLater(phase, input);
      }
    }
    return false;
  }
  static bool WritesOver(const Phase& phase, int output, int input) {
    for (int o = 0; o < static_cast<int>(phase.outputs.size()); ++o) {
      if (phase.outputs[o].kind == Place::Kind::kOutput && phase.outputs[o].number == output)
        return phase.fused.program().MayShare(o, input);
    }
    return false;
  }
  bool ReadsLater(const Phase& than, int input) const {
    bool later = false;
    for (const Phase& phase : phases_) {
      for (const Place& place : phase.inputs) {
        if (later && place.kind == Place::Kind::kInput && place.number == input) return true;
      }
      later = later || &phase == &than;
    }
    return false;
  }

  // Runs blocks of rows in one thread.
  class Worker {
   public:
    Worker(const RowsStep& step, const std::byte* const* inputs, std::byte* const* outputs, std::byte* memory)
        : step_(step), inputs_(inputs), outputs_(outputs), memory_(memory) {
      Point(0);
      auto** table = reinterpret_cast<std::byte**>(memory);
      for (size_t p = 0; p < step.phases_.size(); ++p) {
        const Phase& phase = step.phases_[p];
        std::byte** const phase_outputs = table + phase.inputs.size();
        workers_[p].emplace(phase.fused, table, phase_outputs, memory + phase.workspace);
        table = phase_outputs + phase.outputs.size();
      }
    }

    // Computes rows [first, first + n), where n <= block_.
    void Run(int64_t first, int64_t n) {
      Point(first);
      const int64_t row = step_.rows_.reduced;
      for (size_t p = 0; p < step_.phases_.size(); ++p) {
        const FusedProgram& fused = step_.phases_[p].fused;
        if (fused.reduces()) Reduce(*workers_[p], first, n);
        else if (fused.count() == step_.rows_.outer) workers_[p]->Run(first, n);
        else workers_[p]->Run(first * row, n * row);
      }
    }

   private:
    void Reduce(FusedWorker& worker, int64_t first, int64_t n) {
      const int64_t row = step_.rows_.reduced;
      const int64_t step = worker.rows_at_once(row), piece = worker.assembled() ? row : kTile;
      for (const int64_t end = first + n; first < end; first += step) {
        const int rows = static_cast<int>(std::min(step, end - first));
        worker.Start(rows);
        for (int64_t done = 0; done < row; done += piece)
          worker.FoldRows(first * row + done, rows, std::min(piece, row - done));
        worker.Finish(first, rows);
      }
    }

    // Sets the tables of all phases' pointers for a block that begins at row `first`.
    void Point(int64_t first) {
      auto** table = reinterpret_cast<std::byte**>(memory_);
      for (const Phase& phase : step_.phases_) {
        for (const Place& place : phase.inputs) *table++ = Pointer(place, first);
        for (const Place& place : phase.outputs) *table++ = Pointer(place, first);
      }
    }
    std::byte* Pointer(const Place& place, int64_t first) const {
      if (place.kind == Place::Kind::kInput) return const_cast<std::byte*>(inputs_[place.number]);
      if (place.kind == Place::Kind::kOutput) return outputs_[place.number];
      const Inner& inner = step_.inner_[static_cast<size_t>(place.number)];
      // The address may be outside of any memory; only that of the block's rows is used.
      return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(memory_ + inner.offset) -
                                          static_cast<uintptr_t>(first * inner.row_bytes));
    }

    const RowsStep& step_;
    const std::byte* const* const inputs_;
    std::byte* const* const outputs_;
    std::byte* const memory_;
    std::optional<FusedWorker> workers_[kPhasesMax];
  };

  const int threads_;
  bool complete_ = true;
  ReducePattern rows_;
  std::deque<Phase> phases_;  // Not moved: kernels are installed in their programs.
  std::vector<Inner> inner_;
  std::vector<KernelSlot*> slots_;
  std::unique_ptr<KernelTrial> trial_;
  size_t tables_ = 0;  // The pointers of all phases.
  int64_t block_ = 1;  // The rows of a block.
  int64_t worker_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeRowsStep(const hlo::Module& module, const hlo::Computation& computation,
                                   const FusionGroup& group, int threads) {
  auto step = std::make_unique<RowsStep>(module, computation, group, threads);
  if (!step->complete()) return nullptr;
  return step;
}

}  // namespace hlod::engine
