// Kernels: the loop over the grid, and the blocks that its steps read and write.
#include "hlod/kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/tensor/apply.h"
#include "client/tensor/throw.h"
#include "client/transform/loop.h"
#include "hlod/ops/creation.h"

namespace hlod {
namespace lazy {
namespace {

constexpr Operation kKernel = {"Kernel", "kernel", Promotion::kNone, "a loop over blocks"};
constexpr Operation kId = {"ProgramId", "program_id", Promotion::kNone, "where a step is in the grid"};
// Index maps of numbers are called for each step.
constexpr int64_t kStepsMax = int64_t{1} << 24;

// The kernel whose body this thread is tracing.
struct Running {
  const Dims& grid;
  Tensor step;                // s32: how many steps came before.
  std::vector<Tensor> ids{};  // s32, one for each dimension of the grid.
};
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

int64_t StepsOf(const Dims& grid) {
  int64_t steps = 1;
  for (const int64_t size : grid) steps *= size;
  return steps;
}

// Advances a place in the grid by a step.
void Advance(const Dims& grid, Dims& at) {
  for (size_t d = grid.size(); d-- > 0;) {
    if (++at[d] < grid[d]) return;
    at[d] = 0;
  }
}

// The number of a block along one dimension: a sum of multiples of the step's place in the grid; where it is
// not, a table of all steps.
struct Coordinate {
  int64_t at_zero = 0;
  Dims factors;
  std::vector<int64_t> table;

  int64_t Linear(const Dims& at) const {
    int64_t sum = at_zero;
    for (size_t d = 0; d < at.size(); ++d) sum += factors[d] * at[d];
    return sum;
  }
};

// One array of a kernel and how it is cut into blocks.
class Blocked {
 public:
  // `what` names the array in errors: "input 0". Throws when the block does not fit the array.
  Blocked(const std::string& kernel, std::string what, Shape array, const BlockSpec& spec, const Dims& grid,
          const Caller& caller)
      : kernel_(kernel), what_(std::move(what)), array_(std::move(array)), spec_(spec), caller_(caller) {
    sizes_ = spec.sizes.value_or(array_.dims);
    if (sizes_.size() != array_.dims.size()) {
      Fail(absl::StrCat("has ", array_.dims.size(), " dimensions; its block ", ListText(sizes_), " has ",
                        sizes_.size()));
    }
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const bool squeezed = sizes_[d] == kSqueezed;
      if (spec.sizes.has_value() && sizes_[d] < 1 && !squeezed)
        Fail(absl::StrCat("has the block ", ListText(sizes_),
                          "; a block's sizes are 1 at least, or kSqueezed"));
      if (squeezed) sizes_[d] = 1;
      else block_.push_back(sizes_[d]);
      counts_.push_back(sizes_[d] == 0 ? 1 : array_.dims[d] / sizes_[d] + (array_.dims[d] % sizes_[d] != 0));
      if (counts_[d] == 0) Fail(absl::StrCat("has no blocks of ", ListText(sizes_)));
      padded_.push_back(counts_[d] * sizes_[d]);
    }
    if (spec.at.tensors() == nullptr) Call(grid);
  }

  Shape block() const { return Shape::Array(array_.type, block_); }
  const Dims& padded() const { return padded_; }
  const std::string& what() const { return what_; }

  // Zeros behind the array up to the end of its last blocks; and what is not behind.
  Tensor Pad(const Tensor& x) const {
    if (padded_ == array_.dims) return x;
    return lazy::Call(kKernel, {Operand(x, caller_)}, [&](Lowering& l, Operands o) {
      std::vector<hlo::PadDimension> padding;
      for (size_t d = 0; d < padded_.size(); ++d) padding.push_back({0, padded_[d] - array_.dims[d], 0});
      return l.b.Pad(o[0], l.Number(array_.type, 0), padding);
    });
  }
  Tensor Trim(const Tensor& x) const {
    if (padded_ == array_.dims) return x;
    return lazy::Call(kKernel, {Operand(x, caller_)}, [&](Lowering& l, Operands o) {
      return l.b.Slice(o[0], Dims(array_.dims.size(), 0), array_.dims, Dims(array_.dims.size(), 1));
    });
  }

  // In the body: the step's block of the array.
  Tensor Read(const Running& running, const Tensor& padded) {
    if (IsWhole()) return Squeezed(padded);
    std::vector<Operand> operands = {Operand(padded, caller_)};
    AddIndex(running, operands);
    return lazy::CallSeveral(kKernel, operands, [&](Lowering& l, Operands o) {
      return std::vector<Op>{l.Reshape(l.b.DynamicSlice(o[0], Starts(l, o.subspan(1)), sizes_), block_)};
    })[0];
  }
  // The array with the step's block replaced. REQUIRES: Read() was called.
  Tensor Write(const Running& running, const Tensor& padded, const Tensor& block) {
    std::vector<Operand> operands = {Operand(padded, caller_), Operand(block, caller_)};
    AddIndex(running, operands);
    return lazy::CallSeveral(kKernel, operands, [&](Lowering& l, Operands o) {
      const Op update = l.Reshape(o[1], sizes_);
      if (IsWhole()) return std::vector<Op>{update};
      return std::vector<Op>{l.b.DynamicUpdateSlice(o[0], update, Starts(l, o.subspan(2)))};
    })[0];
  }

 private:
  // What a step takes is all there is.
  bool IsWhole() const { return sizes_ == padded_; }
  Tensor Squeezed(const Tensor& x) const {
    return lazy::Call(kKernel, {Operand(x, caller_)},
                      [&](Lowering& l, Operands o) { return l.Reshape(o[0], block_); });
  }

  [[noreturn]] void Fail(const std::string& why) const {
    Throw(ErrorKind::kArgument,
          absl::StrCat(kernel_, ": ", what_, ", ", hlo::ToStringNoLayout(array_), ", ", why), kKernel.pytorch,
          caller_);
  }

  // Calls the map for each step: checks the blocks, and finds what gives their numbers.
  void Call(const Dims& grid) {
    const size_t rank = sizes_.size();
    coordinates_.resize(rank);
    for (Coordinate& coordinate : coordinates_) coordinate.factors.resize(grid.size(), 0);
    if (spec_.at.numbers() == nullptr) return;
    const Dims origin(grid.size(), 0);
    const Dims zero = At(origin);
    for (size_t k = 0; k < rank; ++k) coordinates_[k].at_zero = zero[k];
    for (size_t d = 0; d < grid.size(); ++d) {
      if (grid[d] == 1) continue;
      Dims one = origin;
      one[d] = 1;
      const Dims index = At(one);
      for (size_t k = 0; k < rank; ++k) coordinates_[k].factors[d] = index[k] - zero[k];
    }
    const int64_t steps = StepsOf(grid);
    Dims at = origin;
    std::vector<bool> linear(rank, true);
    for (int64_t step = 0; step < steps; ++step, Advance(grid, at)) {
      const Dims index = At(at);
      for (size_t k = 0; k < rank; ++k) linear[k] = linear[k] && index[k] == coordinates_[k].Linear(at);
    }
    if (std::find(linear.begin(), linear.end(), false) == linear.end()) return;
    at = origin;
    for (int64_t step = 0; step < steps; ++step, Advance(grid, at)) {
      const Dims index = At(at);
      for (size_t k = 0; k < rank; ++k) {
        if (!linear[k]) coordinates_[k].table.push_back(index[k]);
      }
    }
  }

  // The block of a step: checked.
  Dims At(const Dims& at) const {
    Dims index;
    if (!spec_.at.numbers()(at, index)) FailArity(at.size());
    CheckRank(index.size());
    for (size_t k = 0; k < index.size(); ++k) {
      if (index[k] >= 0 && index[k] < counts_[k]) continue;
      Fail(absl::StrCat("has no block ", ListText(index), ", which its index map gives at step ",
                        ListText(at), ": there are ", ListText(counts_), " blocks of ", ListText(sizes_)));
    }
    return index;
  }
  void CheckRank(size_t size) const {
    if (size == counts_.size()) return;
    Fail(absl::StrCat("has an index map that gives ", size, " numbers; the array has ", counts_.size(),
                      " dimensions"));
  }
  [[noreturn]] void FailArity(size_t dims) const {
    Fail(absl::StrCat("has an index map that does not take ", dims,
                      " numbers, one for each dimension of the grid"));
  }

  // What the block's place is computed from: the step and its place in the grid; or what the map has
  // computed.
  void AddIndex(const Running& running, std::vector<Operand>& operands) {
    if (spec_.at.tensors() == nullptr) {
      operands.emplace_back(running.step, caller_);
      for (const Tensor& id : running.ids) operands.emplace_back(id, caller_);
      return;
    }
    if (!computed_) {
      if (!spec_.at.tensors()(running.ids, index_)) FailArity(running.ids.size());
      CheckRank(index_.size());
      computed_ = true;
      for (const auto& number : index_) {
        const Tensor* const tensor = std::get_if<Tensor>(&number);
        if (tensor == nullptr ||
            (tensor->defined() && tensor->rank() == 0 && hlo::IsInteger(tensor->dtype())))
          continue;
        Fail(absl::StrCat("has an index map that gives ",
                          tensor->defined() ? hlo::ToStringNoLayout(tensor->shape()) : "an undefined tensor",
                          "; a block's number is an integer scalar"));
      }
    }
    for (const auto& number : index_) {
      if (const Tensor* const tensor = std::get_if<Tensor>(&number)) operands.emplace_back(*tensor, caller_);
    }
  }
  std::vector<Op> Starts(Lowering& l, Operands o) const {
    std::vector<Op> starts;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      const Op number = spec_.at.tensors() == nullptr ? NumberOf(l, coordinates_[k], o) : NumberOf(l, k, o);
      starts.push_back(sizes_[k] == 1 ? number : number * l.Number(hlo::kS64, sizes_[k]));
    }
    return starts;
  }
  static Op NumberOf(Lowering& l, const Coordinate& coordinate, Operands o) {
    if (!coordinate.table.empty()) {
      const auto steps = static_cast<int64_t>(coordinate.table.size());
      Literal table(Shape::Array(hlo::kS64, {steps}));
      std::copy(coordinate.table.begin(), coordinate.table.end(), table.data<int64_t>().begin());
      const Op number = l.b.DynamicSlice(l.b.Constant(std::move(table)), {o[0]}, {1});
      return l.Reshape(number, {});
    }
    std::optional<Op> sum;
    for (size_t d = 0; d < coordinate.factors.size(); ++d) {
      if (coordinate.factors[d] == 0) continue;
      Op term = l.Convert(o[1 + d], hlo::kS64);
      if (coordinate.factors[d] != 1) term = term * l.Number(hlo::kS64, coordinate.factors[d]);
      sum = sum.has_value() ? *sum + term : term;
    }
    const Op zero = l.Number(hlo::kS64, coordinate.at_zero);
    if (!sum.has_value()) return zero;
    return coordinate.at_zero == 0 ? *sum : *sum + zero;
  }
  Op NumberOf(Lowering& l, size_t k, Operands& o) const {
    const Op last = l.Number(hlo::kS64, counts_[k] - 1), zero = l.Number(hlo::kS64, 0);
    if (const auto* const number = std::get_if<int64_t>(&index_[k]))
      return l.Number(hlo::kS64, std::clamp<int64_t>(*number, 0, std::max<int64_t>(counts_[k] - 1, 0)));
    const Op number = l.Convert(o.front(), hlo::kS64);
    o.remove_prefix(1);
    return l.b.Clamp(zero, number, last);
  }

  const std::string& kernel_;
  const std::string what_;
  const Shape array_;
  const BlockSpec& spec_;
  const Caller caller_;
  Dims sizes_;   // Of a block in the array ...
  Dims block_;   // ... and as the body sees it.
  Dims counts_;  // Of blocks.
  Dims padded_;
  std::vector<Coordinate> coordinates_;  // Of a map of numbers.
  BlockIndex index_;                     // Of a map of tensors, once it is computed.
  bool computed_ = false;
};

// (step / what one place counts) % size, for each dimension.
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

// One call of a kernel.
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
    // The body's arguments: the carries, the number of the step, the inputs.
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

  // What a step leaves of the carries.
  std::vector<Tensor> Trace(const std::vector<Tensor>& inside, const KernelBody& f) {
    const size_t carries = loop_.carries.size();
    Running running{spec_.grid, inside[carries]};
    running.ids = IdsOf(spec_.grid, running.step, caller_);
    std::vector<Tensor> blocks;
    for (size_t i = 0; i < in_.size(); ++i) blocks.push_back(in_[i].Read(running, inside[carries + 1 + i]));
    for (size_t i = 0; i < out_.size(); ++i) blocks.push_back(out_[i].Read(running, inside[i]));
    // Clones, since the body may update them in place.
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
  LoopInputs loop_;  // The carries: outputs, then scratch.
  std::vector<std::string> carry_paths_;
};

}  // namespace
}  // namespace lazy

Tensor ProgramId(int64_t dim, Caller caller) {
  // A clone, which may be updated in place: the step writes its blocks by the number itself.
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
