// Programs that work block by block, as in Pallas: a grid of steps, a map from steps to the blocks of each
// array, and a body written with tensors. It becomes one loop in the caller's program, for any size of the
// grid.
//
//   // x [m, k] times y [k, n], by blocks of 128.
//   const hlod::Kernel product("product",
//       {.grid = {m / 128, n / 128, k / 128},
//        .in = {{{128, 128}, [](int64_t i, int64_t j, int64_t l) { return Dims{i, l}; }},
//               {{128, 128}, [](int64_t i, int64_t j, int64_t l) { return Dims{l, j}; }}},
//        .out = {{Shape::Array(kF32, {m, n}),
//                 {{128, 128}, [](int64_t i, int64_t j, int64_t l) { return Dims{i, j}; }}}}},
//       [](const Tensor& x, const Tensor& y, Tensor& out) { out += MatMul(x, y); });
//   Tensor z = product({x, y});
//
// Defined here where Pallas leaves it open: steps run one after another, so that a step sees the writes of
// those before it. Outputs and scratch are zeros before the first step. A block that reaches over the edge of
// an input has zeros there; writes outside of an output are dropped.
//
// Works on host tensors, device tensors and placeholders, under Jit and every transform. It is differentiated
// like a scan, which keeps the residuals of each step; CustomVjp can give it a better rule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "hlod/runtime/types.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/function.h"

namespace hlod {

// In the body of a kernel: ProgramId is the step's position along a dimension of the grid, an s32 scalar;
// NumPrograms is the size of that dimension. Both throw outside of a body. pl.program_id, pl.num_programs.
Tensor ProgramId(int64_t dim, Caller caller = Caller::Here());
int64_t NumPrograms(int64_t dim, Caller caller = Caller::Here());

// A block size that takes one element along the dimension, which the body does not see. Pallas's None.
inline constexpr int64_t kSqueezed = -1;

// The position of a block among an array's blocks, which begin at multiples of the block's sizes.
using BlockIndex = std::vector<std::variant<int64_t, Tensor>>;

// Maps a step's position in the grid to the block that it takes.
//   [](int64_t i, int64_t j) { return Dims{i, 0}; }
// A function of numbers is called for every step when the kernel is called, so a block that does not exist is
// an error. A function of tensors (s32 scalars) becomes part of the program, so it can read captured tensors,
// such as a page table; an index out of range means the nearest block.
//   [=](const Tensor& i, const Tensor& j) { return BlockIndex{Take(pages, i), 0}; }
class IndexMap {
 public:
  using OfNumbers = std::function<bool(absl::Span<const int64_t>, Dims&)>;
  using OfTensors = std::function<bool(absl::Span<const Tensor>, BlockIndex&)>;

  IndexMap() = default;  // Always block 0.
  template <typename F>
    requires(!std::is_same_v<std::decay_t<F>, IndexMap>)
  IndexMap(F f) {  // NOLINT: implicit.
    if constexpr (lazy::TakesSome<F, const int64_t, lazy::kGridDimsMax>()) {
      numbers_ = [f = std::move(f)](absl::Span<const int64_t> at, Dims& block) mutable {
        return lazy::CallWith<lazy::kGridDimsMax>(f, at.data(), at.size(),
                                                  [&](Dims index) { block = std::move(index); });
      };
    } else {
      static_assert(lazy::TakesSome<F, const Tensor, lazy::kGridDimsMax>(),
                    "An index map takes an int64_t (or a Tensor) for each dimension of the grid, 6 at most.");
      tensors_ = [f = std::move(f)](absl::Span<const Tensor> at, BlockIndex& block) mutable {
        return lazy::CallWith<lazy::kGridDimsMax>(f, at.data(), at.size(),
                                                  [&](BlockIndex index) { block = std::move(index); });
      };
    }
  }

  // At most one of these is set. They return false when the function does not accept that number of
  // arguments.
  const OfNumbers& numbers() const { return numbers_; }
  const OfTensors& tensors() const { return tensors_; }

 private:
  OfNumbers numbers_;
  OfTensors tensors_;
};

// The division of an array into blocks. pl.BlockSpec.
struct BlockSpec {
  BlockSpec() = default;  // The whole array at each step.
  BlockSpec(Dims sizes, IndexMap at = {})
      : sizes(std::move(sizes)), at(std::move(at)) {}  // NOLINT: implicit.

  // One size per dimension of the array, which may be kSqueezed; nullopt: the whole array.
  std::optional<Dims> sizes;
  IndexMap at;
};

struct KernelOutput {
  Shape shape;
  BlockSpec block = {};
};

struct KernelSpec {
  Dims grid = {};  // The sizes of the grid; the last dimension varies fastest. Empty: one step.
  std::vector<BlockSpec> in = {};      // One per input.
  std::vector<KernelOutput> out = {};  // At least one.
  std::vector<Shape> scratch = {};     // Arrays that steps keep for later steps.
  std::optional<Device> device = {};   // The device of a kernel without inputs.
};

// The body of a step: a void function of references to the blocks of the inputs, then of the outputs, then of
// the scratch arrays. A block that it assigns (o = ...) or updates in place (o += ...) is written; an
// assigned block must keep its shape and type. Cond (hlod/transform/control.h), which runs only the branch
// that is taken, takes the place of pl.when.
class KernelBody {
 public:
  template <typename F>
    requires(!std::is_same_v<std::decay_t<F>, KernelBody>)
  KernelBody(F f)  // NOLINT: implicit.
      : call_([f = std::move(f)](absl::Span<Tensor> blocks) mutable {
          static_assert(lazy::TakesSome<F, Tensor, lazy::kKernelTensorsMax>(),
                        "A kernel's body takes references to tensors: inputs, outputs, scratch; 24 at most.");
          return lazy::CallWith<lazy::kKernelTensorsMax>(f, blocks.data(), blocks.size(), [](auto&& result) {
            static_assert(sizeof(result) == 0, "A kernel's body returns nothing; it assigns to its outputs.");
          });
        }) {}

  // Returns false when the function does not take that number of tensors.
  bool operator()(absl::Span<Tensor> blocks) const { return call_(blocks); }

 private:
  std::function<bool(absl::Span<Tensor>)> call_;
};

// A kernel: a function of its inputs. Each call traces the body once.
class Kernel {
 public:
  Kernel(std::string name, KernelSpec spec, KernelBody body)
      : name_(std::move(name)), spec_(std::move(spec)), body_(std::move(body)) {}

  // Calls a kernel with one output. Throws an Error that names the kernel and the mistake: a block of another
  // rank than its array, a block that does not exist, an assigned block of another shape or type.
  Tensor operator()(const std::vector<Tensor>& inputs, Caller caller = Caller::Here()) const;
  // Calls the kernel and returns all outputs.
  std::vector<Tensor> Outputs(const std::vector<Tensor>& inputs, Caller caller = Caller::Here()) const;

 private:
  std::string name_;
  KernelSpec spec_;
  KernelBody body_;
};

}  // namespace hlod
