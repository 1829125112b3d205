// Programs that work block by block, as Pallas has them: a grid of steps, of each array the block that a step
// takes, and a body written with tensors. One loop in the program around it, whatever the size of the grid.
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
// What is defined where Pallas leaves it open: steps run one after another, so that a step sees what those
// before it have written. Outputs and scratch are zeros before the first step. A block that reaches over the
// edge of an input has zeros there; what is written outside of an output is dropped.
//
// On the host as on devices, on placeholders, under Jit and every transform. Gradients go through it (as
// through a scan, which keeps what each step needs); a better rule is put around it by CustomVjp.
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

// Where a step is in the grid of the kernel whose body is being traced, along a dimension of it: an s32
// scalar; and the size of that dimension. pl.program_id, pl.num_programs. Throw outside of a body.
Tensor ProgramId(int64_t dim, Caller caller = Caller::Here());
int64_t NumPrograms(int64_t dim, Caller caller = Caller::Here());

// The size of a block along a dimension that the body does not see: one element is taken. Pallas's None.
inline constexpr int64_t kSqueezed = -1;

// A block's place among an array's blocks, which begin at multiples of the block's sizes.
using BlockIndex = std::vector<std::variant<int64_t, Tensor>>;

namespace lazy {

constexpr size_t kGridDimsMax = 6;
constexpr size_t kKernelTensorsMax = 24;

template <typename F, typename Argument, size_t... I>
constexpr bool Takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, decltype(*(std::declval<Argument*>() + I))...>;
}
// f(arguments[0], ..., arguments[count - 1]); false when f does not take so many.
template <size_t kCount, typename F, typename Argument, typename Use>
bool CallWith(F& f, Argument* arguments, size_t count, const Use& use) {
  if (count == kCount) {
    if constexpr (Takes<F, Argument>(std::make_index_sequence<kCount>())) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (std::is_void_v<decltype(f(arguments[I]...))>) f(arguments[I]...);
        else use(f(arguments[I]...));
      }(std::make_index_sequence<kCount>());
      return true;
    }
  }
  if constexpr (kCount == 0) return false;
  else return CallWith<kCount - 1>(f, arguments, count, use);
}
template <typename F, typename Argument, size_t kMost>
constexpr bool TakesSome() {
  if constexpr (Takes<F, Argument>(std::make_index_sequence<kMost>())) return true;
  else if constexpr (kMost == 0) return false;
  else return TakesSome<F, Argument, kMost - 1>();
}

}  // namespace lazy

// Which block a step takes: a function of the step's place in the grid.
//   [](int64_t i, int64_t j) { return Dims{i, 0}; }
// It takes numbers, and is called for every step when the kernel is: a block that does not exist is an error.
// Or it takes tensors (s32 scalars) and is a part of the program, so that it can look into tensors of the
// surroundings, a table of pages for instance; then an index out of range means the nearest block.
//   [=](const Tensor& i, const Tensor& j) { return BlockIndex{Take(pages, i), 0}; }
class IndexMap {
 public:
  using OfNumbers = std::function<bool(absl::Span<const int64_t>, Dims&)>;
  using OfTensors = std::function<bool(absl::Span<const Tensor>, BlockIndex&)>;

  IndexMap() = default;  // Block 0.
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

  // At most one is set. False: the function does not take so many arguments.
  const OfNumbers& numbers() const { return numbers_; }
  const OfTensors& tensors() const { return tensors_; }

 private:
  OfNumbers numbers_;
  OfTensors tensors_;
};

// How an array is cut into blocks. pl.BlockSpec.
struct BlockSpec {
  BlockSpec() = default;  // The whole array, at each step.
  BlockSpec(Dims sizes, IndexMap at = {})
      : sizes(std::move(sizes)), at(std::move(at)) {}  // NOLINT: implicit.

  std::optional<Dims> sizes;  // One for each of the array's dimensions; or kSqueezed.
  IndexMap at;
};

struct KernelOutput {
  Shape shape;
  BlockSpec block = {};
};

struct KernelSpec {
  Dims grid = {};                      // The last dimension runs fastest. Empty: one step.
  std::vector<BlockSpec> in = {};      // One for each input.
  std::vector<KernelOutput> out = {};  // One at least.
  std::vector<Shape> scratch = {};     // What steps keep for those after them.
  std::optional<Device> device = {};   // Of a kernel without inputs.
};

// What a step does: a function of references to the blocks of the inputs, then to those of the outputs, then
// to scratch, which returns nothing: what it assigns to (o = ...), or updates in place (o += ...), is
// written. An assigned block keeps its shape and type. A branch that is not taken costs nothing: Cond
// (hlod/transform/control.h) takes the place of pl.when.
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

  // False: the function does not take so many tensors.
  bool operator()(absl::Span<Tensor> blocks) const { return call_(blocks); }

 private:
  std::function<bool(absl::Span<Tensor>)> call_;
};

// A kernel, which is a function of its inputs. The body is traced at each call, once.
class Kernel {
 public:
  Kernel(std::string name, KernelSpec spec, KernelBody body)
      : name_(std::move(name)), spec_(std::move(spec)), body_(std::move(body)) {}

  // Of a kernel with one output. Throws an Error that names the kernel and what does not fit: a block of
  // another rank than its array, a block that does not exist, an assigned block of another shape or type.
  Tensor operator()(const std::vector<Tensor>& inputs, Caller caller = Caller::Here()) const;
  // All outputs.
  std::vector<Tensor> Outputs(const std::vector<Tensor>& inputs, Caller caller = Caller::Here()) const;

 private:
  std::string name_;
  KernelSpec spec_;
  KernelBody body_;
};

}  // namespace hlod
