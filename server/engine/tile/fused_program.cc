// Builds the tile program of a fused group, with the views of its operands.
#include "server/engine/tile/fused_program.h"

#include <utility>

#include "common/base/arithmetic.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// Shorter rows do not fill a vector.
constexpr int64_t kKernelRowMin = 8;

}  // namespace

FusedProgram::FusedProgram(const hlo::Module& module, const hlo::Computation& computation,
                           const FusionGroup& group) {
  count_ = Elements(computation[group.nodes[0]].shape());
  for (hlo::NodeId id : group.nodes) {
    if (computation[id].opcode() != hlo::kReduce) continue;
    pattern_ = *MatchReduce(module, computation[id]);
    count_ = pattern_.count();
  }
  TileProgram::Builder builder(computation, count_);
  for (size_t i = 0; i < group.inputs.size(); ++i) builder.AddInput(group.inputs[i], static_cast<int>(i));
  for (hlo::NodeId id : group.nodes) {
    if (computation[id].opcode() != hlo::kReduce) complete_ = complete_ && builder.Add(id);
  }
  for (size_t o = 0; o < group.outputs.size(); ++o) {
    if (computation[group.outputs[o]].opcode() != hlo::kReduce)
      complete_ = complete_ && builder.AddOutput(group.outputs[o], static_cast<int>(o));
  }
  for (size_t o = 0; o < group.outputs.size(); ++o) {
    const hlo::Instruction reduce = computation[group.outputs[o]];
    if (reduce.opcode() != hlo::kReduce) continue;
    const int kept = builder.Keep(reduce.operands()[0]);
    std::optional<FusedReduction> reduction =
        FusedReduction::Make(module, computation, reduce, group.inputs, kept, static_cast<int>(o));
    complete_ = complete_ && kept >= 0 && reduction.has_value();
    if (reduction.has_value()) reductions_.push_back(*reduction);
  }
  program_ = std::move(builder).Build();
  AddSlot();
  program_bytes_ = AlignUp(std::max(program_.workspace_bytes(), KernelRun::WorkspaceBytes(program_)), 64);
  // One more tile is temporary memory of FusedReduction::Finish.
  const auto accumulators = static_cast<int64_t>(reductions_.size() + 1) * FusedWorker::kAccumulatorBytes;
  worker_bytes_ = AlignUp(program_bytes_ + accumulators, 64);
}

void FusedProgram::AddSlot() {
  KernelForm form = KernelForm::kMap;
  std::vector<KernelFold> folds;
  if (reduces()) {
    const bool rows = pattern_.inner == 1;
    form = rows ? KernelForm::kRows : KernelForm::kColumns;
    for (const FusedReduction& reduction : reductions_) folds.push_back(reduction.kernel_fold());
    if (folds.size() > kKernelFoldsMax || (rows ? pattern_.reduced : pattern_.inner) < kKernelRowMin) return;
    if (rows) program_.KeepRunsWhole(pattern_.reduced);
    program_.ComputeRows(rows ? pattern_.reduced : pattern_.inner);
  } else {
    program_.ComputeRows(program_.CommonRun());
  }
  slot_ = std::make_unique<KernelSlot>(program_, count_, form, std::move(folds));
}

FusedWorker::FusedWorker(const FusedProgram& program, const std::byte* const* inputs,
                         std::byte* const* outputs, std::byte* workspace)
    : program_(program), inputs_(inputs), outputs_(outputs), workspace_(workspace) {
  const TileKernel* const kernel = program.slot_ != nullptr ? program.slot_->kernel() : nullptr;
  if (kernel != nullptr) {
    run_.emplace(program.program_, *kernel, inputs, outputs, workspace);
  } else {
    program.program_.Begin(inputs, workspace, static_cast<int>(std::min<int64_t>(program.count_, kTile)));
  }
}

void FusedWorker::Run(int64_t start, int64_t n) {
  if (run_.has_value()) return run_->Run(start, n);
  for (const int64_t end = start + n; start < end; start += kTile) {
    program_.program_.RunTile(inputs_, outputs_, workspace_, start,
                              static_cast<int>(std::min<int64_t>(kTile, end - start)));
  }
}

void FusedWorker::FoldGroups(int64_t start, int groups, int rows, int64_t columns) {
  const std::vector<FusedReduction>& reductions = program_.reductions_;
  if (run_.has_value()) {
    for (int g = 0; g < groups; ++g, start += rows * columns) {
      for (size_t r = 0; r < reductions.size(); ++r)
        run_->SetAccumulators(r, accumulators(r) + g * columns * reductions[r].accumulator_bytes());
      run_->RunRows(start, rows, columns, columns);
    }
    return;
  }
  program_.program_.RunTile(inputs_, outputs_, workspace_, start, static_cast<int>(groups * rows * columns));
  for (size_t r = 0; r < reductions.size(); ++r) {
    const void* const kept =
        program_.program_.Kept(reductions[r].kept(), inputs_, outputs_, workspace_, start);
    reductions[r].FoldGroups(accumulators(r), kept, groups, rows, static_cast<int>(columns));
  }
}

void FusedWorker::Start(int n) const {
  for (size_t r = 0; r < program_.reductions_.size(); ++r)
    program_.reductions_[r].Start(inputs_, accumulators(r), n);
}

void FusedWorker::Finish(int64_t first, int n) const {
  std::byte* const temporary = accumulators(program_.reductions_.size());
  for (size_t r = 0; r < program_.reductions_.size(); ++r)
    program_.reductions_[r].Finish(outputs_, accumulators(r), first, n, temporary);
}

}  // namespace hlod::engine
