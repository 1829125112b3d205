// Kernels: a loop over the grid whose steps read and write blocks (blocked.h).
#include "hlod/transform/kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/value/throw.h"
#include "client/transform/functions/blocked.h"
#include "client/transform/functions/loop.h"
#include "hlod/ops/creation.h"

namespace hlod {
namespace lazy {
namespace {

constexpr Operation kId = {"ProgramId", "program_id", Promotion::kNone, "where a step is in the grid"};
// The maximum number of steps; index maps of numbers are called for each.
constexpr int64_t kStepsMax = int64_t{1} << 24;

// Returns the kernel whose body this thread is tracing, or null.
const Running*& Innermost() {
  thread_local const Running* running = nullptr;
  return running;
}
class RunningScope {
 public:
  explicit RunningScope(const Running& running) : around_(std::exchange(Innermost(), &running)) {}
  ~RunningScope() { Innermost() = around_; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  const Running* const around_;
};

// Returns the position of a step in the grid: per dimension (step / the steps of its inner dimensions) %
// size.
std::vector<Tensor> IdsOf(const Dims& grid, const Tensor& step, const Caller& caller) {
  std::vector<Tensor> ids;
  int64_t places = StepsOf(grid);
  for (const int64_t size : grid) {
    const int64_t outer = places;
    places /= size;
    ids.push_back(Call(kId, {Operand(step, caller)}, [&](Lowering& l, Operands o) {
      Op id = size == 1 ? l.Number(hlo::kS32, 0) : o[0];
      if (size > 1 && places > 1) id = id / l.Number(hlo::kS32, places);
      if (size > 1 && outer < StepsOf(grid)) id = l.b.Binary(hlo::kRemainder, id, l.Number(hlo::kS32, size));
      return id;
    }));
  }
  return ids;
}

const Running& CurrentKernel(int64_t dim, const char* what, const Caller& caller) {
  const Running* const running = Innermost();
  if (running == nullptr)
    Throw(ErrorKind::kArgument, "it is called outside of a kernel's body", what, caller);
  if (dim < 0 || dim >= static_cast<int64_t>(running->grid.size())) {
    Throw(ErrorKind::kArgument, absl::StrCat("the grid ", ListText(running->grid), " has no dimension ", dim),
          what, caller);
  }
  return *running;
}

// A call of a kernel.
class KernelCall {
 public:
  KernelCall(const std::string& name, const KernelSpec& spec, const std::vector<Tensor>& inputs,
             const Caller& caller)
      : name_(name), spec_(spec), caller_(caller) {
    loop_.length = CheckedSteps();
    if (inputs.size() != spec.in.size())
      Fail(absl::StrCat("it takes ", spec.in.size(), " inputs; ", inputs.size(), " are given"));
    if (spec.out.empty()) Fail("it has no output");
    Device place = inputs.empty() ? FactoryDevice(spec.device) : Device();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string what = absl::StrCat("input ", i);
      if (!inputs[i].defined()) Fail(absl::StrCat(what, " is undefined"));
      if (!inputs[i].device().is_host()) place = inputs[i].device();
      in_.emplace_back(name, what, inputs[i].shape(), spec.in[i], spec.grid, caller);
    }
    for (size_t i = 0; i < spec.out.size(); ++i) {
      const std::string what = absl::StrCat("output ", i);
      const Shape& shape = Checked(spec.out[i].shape, what);
      out_.emplace_back(name, what, shape, spec.out[i].block, spec.grid, caller);
      AddCarry(what, shape.type, out_[i].padded(), place);
    }
    for (size_t i = 0; i < spec.scratch.size(); ++i) {
      const std::string what = absl::StrCat("scratch ", i);
      const Shape& shape = Checked(spec.scratch[i], what);
      AddCarry(what, shape.type, shape.dims, place);
    }
    loop_.stacks = {Arange(0, loop_.length, 1, {.type = kS32, .device = place}, caller)};
    for (size_t i = 0; i < inputs.size(); ++i) loop_.constants.push_back(in_[i].Pad(inputs[i]));
  }

  std::vector<Tensor> Run(const KernelBody& f) {
    // The body's arguments are the carries, the number of the step, and the inputs.
    std::vector<Tensor> arguments = loop_.carries;
    std::vector<std::string> paths = carry_paths_;
    arguments.push_back(Placeholder({}, kS32, loop_.stacks[0].device(), false, caller_));
    paths.push_back(Path("the step"));
    for (size_t i = 0; i < in_.size(); ++i) {
      arguments.push_back(loop_.constants[i]);
      paths.push_back(Path(in_[i].what()));
    }
    Body body(kKernel.pytorch, arguments, paths, caller_);
    const auto traced = body.Finish(Trace(body.arguments(), f), carry_paths_);
    std::vector<Tensor> results = CallLoop(kKernel, *traced, loop_, caller_);
    results.resize(out_.size());
    for (size_t i = 0; i < out_.size(); ++i) results[i] = out_[i].Trim(results[i]);
    return results;
  }

  [[noreturn]] void Fail(const std::string& why) const {
    Throw(ErrorKind::kArgument, absl::StrCat(name_, ": ", why), kKernel.pytorch, caller_);
  }

 private:
  std::string Path(const std::string& what) const { return absl::StrCat(name_, ": ", what); }

  int64_t CheckedSteps() const {
    const auto fail = [&](const std::string& why) {
      Fail(absl::StrCat("the grid ", ListText(spec_.grid), " has ", why));
    };
    if (spec_.grid.size() > kGridDimsMax) fail(absl::StrCat("more than ", kGridDimsMax, " dimensions"));
    int64_t steps = 1;
    for (const int64_t size : spec_.grid) {
      if (size < 1) fail("a size below 1");
      if (size > kStepsMax / steps) fail(absl::StrCat("more than ", kStepsMax, " steps"));
      steps *= size;
    }
    return steps;
  }
  const Shape& Checked(const Shape& shape, const std::string& what) const {
    if (!shape.IsArray()) Fail(absl::StrCat(what, " is not an array"));
    return shape;
  }
  void AddCarry(const std::string& what, PrimitiveType type, const Dims& dims, const Device& place) {
    loop_.carries.push_back(Zeros(dims, {.type = type, .device = place}, caller_));
    carry_paths_.push_back(Path(what));
  }

  // Traces a step; returns the next carries.
  std::vector<Tensor> Trace(const std::vector<Tensor>& inside, const KernelBody& f) {
    const size_t carries = loop_.carries.size();
    Running running{spec_.grid, inside[carries]};
    running.ids = IdsOf(spec_.grid, running.step, caller_);
    std::vector<Tensor> blocks;
    for (size_t i = 0; i < in_.size(); ++i) blocks.push_back(in_[i].Read(running, inside[carries + 1 + i]));
    for (size_t i = 0; i < out_.size(); ++i) blocks.push_back(out_[i].Read(running, inside[i]));
    // The body may update scratch in place, so it gets clones.
    for (size_t i = out_.size(); i < carries; ++i) blocks.push_back(inside[i].Clone(caller_));
    {
      const RunningScope scope(running);
      if (!f(absl::MakeSpan(blocks))) {
        Fail(absl::StrCat("its body does not take ", blocks.size(), " tensors, which are ", in_.size(),
                          " of inputs, ", out_.size(), " of outputs and ", spec_.scratch.size(),
                          " of scratch"));
      }
    }
    std::vector<Tensor> results;
    for (size_t i = 0; i < carries; ++i) {
      const Tensor& assigned = blocks[in_.size() + i];
      if (i < out_.size()) {
        CheckAssigned(assigned, out_[i].what(), out_[i].block());
        results.push_back(out_[i].Write(running, inside[i], assigned));
      } else {
        const size_t scratch = i - out_.size();
        CheckAssigned(assigned, absl::StrCat("scratch ", scratch), spec_.scratch[scratch]);
        results.push_back(assigned);
      }
    }
    return results;
  }
  void CheckAssigned(const Tensor& assigned, const std::string& what, const Shape& wanted) const {
    if (assigned.defined() && assigned.dtype() == wanted.type && assigned.dims() == wanted.dims) return;
    Fail(absl::StrCat("the body assigns ",
                      assigned.defined() ? hlo::ToStringNoLayout(assigned.shape()) : "an undefined tensor",
                      " to ", what, ", whose block is ", hlo::ToStringNoLayout(wanted)));
  }

  const std::string& name_;
  const KernelSpec& spec_;
  const Caller caller_;
  std::vector<Blocked> in_, out_;
  LoopInputs loop_;  // The loop; its carries are the outputs, then the scratch arrays.
  std::vector<std::string> carry_paths_;
};

}  // namespace
}  // namespace lazy

Tensor ProgramId(int64_t dim, Caller caller) {
  // Returns a clone, because the caller may update it in place, and the step needs the number to write its
  // blocks.
  return lazy::CurrentKernel(dim, "program_id", caller).ids[static_cast<size_t>(dim)].Clone(caller);
}

int64_t NumPrograms(int64_t dim, Caller caller) {
  return lazy::CurrentKernel(dim, "num_programs", caller).grid[static_cast<size_t>(dim)];
}

std::vector<Tensor> Kernel::Outputs(const std::vector<Tensor>& inputs, Caller caller) const {
  return lazy::KernelCall(name_, spec_, inputs, caller).Run(body_);
}

Tensor Kernel::operator()(const std::vector<Tensor>& inputs, Caller caller) const {
  lazy::KernelCall call(name_, spec_, inputs, caller);
  if (spec_.out.size() != 1)
    call.Fail(absl::StrCat("it has ", spec_.out.size(), " outputs, which Outputs() gives"));
  return call.Run(body_)[0];
}

}  // namespace hlod
