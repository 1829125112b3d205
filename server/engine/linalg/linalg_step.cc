// Distributes the problems of a batch over the team. A routine cannot be stopped, so cancellation and
// deadline are checked between problems, and a run that must stop abandons a long routine.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"
#include "common/lapack/call.h"
#include "common/lapack/target.h"
#include "server/engine/linalg/linalg_steps.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/run/strays.h"

namespace hlod::engine {
namespace {

using lapack::Call;

// Returns true when any result has elements. If none has, a batch may be arbitrarily long, and there are no
// equations to solve.
bool HasElements(const hlo::Shape& shape) {
  const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(shape);
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const hlo::ShapeLeaf& leaf) { return hlo::ElementCount(*leaf.shape) != 0; });
}

class LapackStep : public Step {
 public:
  LapackStep(hlo::Instruction instruction, Call call, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        call_(std::make_shared<const Call>(std::move(call))),
        problems_(HasElements(instruction.shape()) ? call_->batch() : 0) {
    workers_ = static_cast<int>(std::clamp<int64_t>(problems_, 1, std::max(1, threads)));
    worker_bytes_ = ScratchAlign(call_->scratch_bytes());
    set_scratch_bytes(workers_ * worker_bytes_);
    set_flops(call_->work() * static_cast<double>(problems_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    return RunProblems(inputs, outputs, context, [](int64_t) {});
  }

 protected:
  // Solves all problems, and calls `after(problem)` after each one, on the thread that solved it.
  template <typename After>
  absl::Status RunProblems(const std::byte* const* inputs, std::byte* const* outputs, StepContext& context,
                           After&& after) const {
    RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    const double work = std::min(1e15, flops() + 1000 * static_cast<double>(problems_));
    return ParallelPieces(context, std::min(context.threads, workers_), problems_, static_cast<int64_t>(work),
                          [&](int64_t begin, int64_t end, int worker) {
                            std::byte* const scratch = context.scratch + worker * worker_bytes_;
                            const std::shared_ptr<Call::Problem> place = call_->Place(scratch);
                            for (int64_t problem = begin; problem < end; ++problem) {
                              if (!Solve(inputs, outputs, problem, place, context.run)) return;
                              after(problem);
                            }
                          });
  }
  int64_t problems() const { return problems_; }

 private:
  // The work of about 10 ms for the slowest routines; the fastest do it in less than one.
  static constexpr double kLongWork = 1e7;

  // Returns false when the run has to stop while the routine goes on, on memory of its own.
  bool Solve(const std::byte* const* inputs, std::byte* const* outputs, int64_t problem,
             const std::shared_ptr<Call::Problem>& place, const RunContext& run) const {
    if (run.strays == nullptr || call_->work() < kLongWork) {
      call_->Run(inputs, outputs, problem, *place);
      return true;
    }
    if (call_->Answer(inputs, outputs, problem)) return true;
    place->Load(inputs, problem);
    if (!run.strays->Make(run, [call = call_, place] { place->Solve(); })) return false;
    place->Store(outputs);
    return true;
  }

  const std::shared_ptr<const Call> call_;  // Shared, because an abandoned routine may outlive the plan.
  const int64_t problems_;
  int workers_;
  int64_t worker_bytes_;
};

// A cholesky. If there is no factor the result is NaN, because it has no other way to say so. The other
// triangle of a factor is set to zero.
template <typename T>
class CholeskyStep final : public LapackStep {
 public:
  CholeskyStep(hlo::Instruction instruction, Call call, int threads)
      : LapackStep(instruction, std::move(call), threads),
        lower_(instruction.attributes<hlo::CholeskyAttributes>().lower),
        n_(instruction.shape().dims.back()),
        infos_at_(scratch_bytes()) {
    set_scratch_bytes(infos_at_ + ScratchAlign(problems() * 4));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const auto* const infos = reinterpret_cast<const int32_t*>(context.scratch + infos_at_);
    std::byte* const results[] = {outputs[0], context.scratch + infos_at_};
    return RunProblems(inputs, results, context, [&](int64_t problem) {
      T* const a = reinterpret_cast<T*>(outputs[0]) + problem * n_ * n_;
      bool failed = infos[problem] != 0;
      for (int64_t i = 0; i < n_; ++i) failed = failed || std::isnan(std::real(a[i * n_ + i]));
      if (failed) {
        std::fill(a, a + n_ * n_, T(std::numeric_limits<double>::quiet_NaN()));
        return;
      }
      for (int64_t i = 0; i < n_; ++i)
        std::fill(a + i * n_ + (lower_ ? i + 1 : 0), a + i * n_ + (lower_ ? n_ : i), T(0));
    });
  }

 private:
  const bool lower_;
  const int64_t n_, infos_at_;
};

template <typename T>
MaybeStep MakeCholesky(hlo::Instruction instruction, Call call, int threads) {
  return std::make_unique<CholeskyStep<T>>(instruction, std::move(call), threads);
}

MaybeStep MakeCholeskyStep(hlo::Instruction instruction, int threads) {
  const hlo::Shape& shape = instruction.operand(0).shape();
  if (!lapack::TypeIndex(shape.type).has_value()) return nullptr;
  const hlo::Shape info = hlo::Shape::Array(hlo::kS32, hlo::Dims(shape.dims.begin(), shape.dims.end() - 2));
  const bool lower = instruction.attributes<hlo::CholeskyAttributes>().lower;
  absl::StatusOr<Call> call = Call::Make(lapack::TargetName("potrf", shape.type), {&shape}, {&shape, &info},
                                         absl::StrCat("{uplo = ", int{lower ? 'L' : 'U'}, "}"));
  if (!call.ok()) return nullptr;
  switch (shape.type) {
    case hlo::kF32: return MakeCholesky<float>(instruction, *std::move(call), threads);
    case hlo::kF64: return MakeCholesky<double>(instruction, *std::move(call), threads);
    case hlo::kC64: return MakeCholesky<std::complex<float>>(instruction, *std::move(call), threads);
    default: return MakeCholesky<std::complex<double>>(instruction, *std::move(call), threads);
  }
}

MaybeStep MakeTriangularSolveStep(hlo::Instruction instruction, int threads) {
  const hlo::Shape &a = instruction.operand(0).shape(), &b = instruction.operand(1).shape();
  if (!lapack::TypeIndex(a.type).has_value()) return nullptr;
  const auto& options = instruction.attributes<hlo::TriangularSolveAttributes>();
  constexpr std::string_view kTranspose = "NNTC";
  const std::string config = absl::StrFormat(
      "{side = %d, uplo = %d, trans_x = %d, diag = %d}", options.left_side ? 'L' : 'R',
      options.lower ? 'L' : 'U', int{kTranspose[options.transpose_a & 3]}, options.unit_diagonal ? 'U' : 'N');
  absl::StatusOr<Call> call = Call::Make(lapack::TargetName("trsm", a.type), {&a, &b}, {&b}, config);
  if (!call.ok()) return nullptr;
  return std::make_unique<LapackStep>(instruction, *std::move(call), threads);
}

}  // namespace

MaybeStep MakeLinalgStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  switch (instruction.opcode()) {
    case hlo::kCholesky: return MakeCholeskyStep(instruction, threads);
    case hlo::kTriangularSolve: return MakeTriangularSolveStep(instruction, threads);
    case hlo::kCustomCall: {
      absl::StatusOr<Call> call = Call::Make(instruction);
      if (!call.ok()) return nullptr;
      return std::make_unique<LapackStep>(instruction, *std::move(call), threads);
    }
    default: return nullptr;
  }
}

}  // namespace hlod::engine
