// hlod::Tensor: lazy on devices, eager on the host. The operations are in hlod/ops/*.h, under PyTorch's
// names.
#pragma once

#include <complex>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/error.h"
#include "hlod/runtime/types.h"
#include "hlod/tensor/operand.h"

namespace hlod {

using enum hlo::PrimitiveType;  // hlod::kF32, hlod::kBF16, ...

namespace lazy {
class TensorImpl;
void Retain(TensorImpl*);
void Release(TensorImpl*);
}  // namespace lazy

// A list of sizes, or of dimensions (counted from the end when negative): {2, 3}, a vector, Dims, or one
// number. It refers to the numbers, so it must not outlive the call.
class DimList : public absl::Span<const int64_t> {
 public:
  DimList() = default;
  DimList(std::initializer_list<int64_t> sizes)  // NOLINT: implicit, as the others.
      : Span(sizes.begin(), sizes.size()) {}
  template <typename Sizes>
  requires std::convertible_to<const Sizes&, absl::Span<const int64_t>> DimList(const Sizes& sizes)
      : Span(sizes) {}  // NOLINT
  template <std::integral T>
  DimList(T only) : only_(static_cast<int64_t>(only)) {  // NOLINT
    Refer({&only_, 1});
  }
  DimList(const DimList& other) : Span(other), only_(other.only_) {
    if (other.data() == &other.only_) Refer({&only_, 1});
  }
  DimList& operator=(const DimList&) = delete;

 private:
  void Refer(Span sizes) { Span::operator=(sizes); }
  int64_t only_ = 0;
};

class Tensor;
class GradHookHandle;  // hlod/tensor/autograd.h
// A function that is called with a gradient, which it may replace by another of the same shape, type and
// device.
using GradHook = std::function<void(Tensor& gradient)>;

// The state of a tensor, which decides what a read of it does.
enum class TensorState {
  kHost,         // A value in this process, read without waiting.
  kLazy,         // Recorded in a trace that has not run: a read closes the trace and waits.
  kPending,      // The program was sent and is not known to have completed: a read waits.
  kReady,        // On the device.
  kPlaceholder,  // A shape without a value, or computed from one: a read is refused.
  kDonated,      // Donated to an execute: a read is refused.
  kFailed,       // The operation that makes it failed: a read throws its error.
};

struct BackwardOptions;

// A value, or a view of another tensor's value, with the methods of PyTorch's Tensor. Copies refer to the
// same tensor: x.Add_(1) on one is seen through all. Thread-safe, but two threads that write to the same
// tensor must synchronise. Misuse throws hlod::Error.
class Tensor {
 public:
  Tensor() = default;  // Undefined: every method except defined() throws.
  Tensor(const Tensor& other) : impl_(other.impl_) {
    if (impl_ != nullptr) lazy::Retain(impl_);
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  // Makes this variable refer to another tensor. x[1] = y would not change x, so it does not compile; use
  // x[1].Copy_(y).
  Tensor& operator=(Tensor other) & noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_ != nullptr) lazy::Release(impl_);
  }

  bool defined() const { return impl_ != nullptr; }

  // The following methods need no value: they work on placeholders, and do not send anything to the daemon.
  const Dims& dims(Caller caller = Caller::Here()) const;
  int64_t size(int64_t dim, Caller caller = Caller::Here()) const;
  int64_t rank(Caller caller = Caller::Here()) const { return static_cast<int64_t>(dims(caller).size()); }
  int64_t numel(Caller caller = Caller::Here()) const;
  PrimitiveType dtype(Caller caller = Caller::Here()) const;
  Shape shape(Caller caller = Caller::Here()) const;
  Device device(Caller caller = Caller::Here()) const;
  // The strides of a view, in elements, as in PyTorch. Other tensors are dense row-major.
  Dims strides(Caller caller = Caller::Here()) const;
  int64_t storage_offset(Caller caller = Caller::Here()) const;
  bool is_contiguous(Caller caller = Caller::Here()) const;
  bool is_view(Caller caller = Caller::Here()) const;
  TensorState state(Caller caller = Caller::Here()) const;
  bool is_placeholder(Caller caller = Caller::Here()) const {
    return state(caller) == TensorState::kPlaceholder;
  }
  // Unique in the process and never reused; unchanged by updates in place and by Fill.
  uint64_t id(Caller caller = Caller::Here()) const;
  // A description, without a read: "f32[2,3] placeholder, tensor 7, made at model.cc:8".
  std::string Describe() const;

  // True when Backward() computes a gradient for this tensor; only for floating and complex types.
  bool requires_grad(Caller caller = Caller::Here()) const;
  Tensor& RequiresGrad_(bool requires_grad = true, Caller caller = Caller::Here());

  // True unless it was computed from tensors that require gradients.
  bool is_leaf(Caller caller = Caller::Here()) const;
  // Returns the gradient that Backward() has accumulated, of this tensor's shape; undefined before, and after
  // ZeroGrad().
  Tensor Grad(Caller caller = Caller::Here()) const;
  void ZeroGrad(Caller caller = Caller::Here());
  // Computes the gradients of this tensor, which must have one element, with respect to the leaves that it
  // was computed from and that require gradients, and adds them to the leaves' Grad(). Recorded like any
  // operation. Frees the values that were kept for it, so a second call throws (BackwardOptions).
  void Backward(Caller caller = Caller::Here()) const;
  void Backward(const BackwardOptions& options, Caller caller = Caller::Here()) const;
  // Keeps the gradient also of a tensor that is not a leaf.
  Tensor& RetainGrad(Caller caller = Caller::Here());
  // Calls `hook` with this tensor's gradient each time that Backward() or Gradients() has computed it: the
  // sum of all that flows to the tensor, before it flows on, is kept by RetainGrad(), or is added to Grad().
  // Hooks run in order of registration, those of leaves after all others. Throws for a view, and for a tensor
  // that requires no gradient. torch.Tensor.register_hook.
  GradHookHandle RegisterHook(GradHook hook, Caller caller = Caller::Here()) const;
  // Takes a hook that returns the gradient to go on with, as PyTorch's do; an undefined one changes nothing.
  template <typename F>
  requires std::convertible_to<std::invoke_result_t<F&, Tensor&>, Tensor> GradHookHandle
  RegisterHook(F hook, Caller caller = Caller::Here())
  const;  // In hlod/tensor/autograd.h.

  // Returns the value on the host: closes the open trace, and waits. A host tensor is returned as it is.
  Tensor ToHost(Caller caller = Caller::Here()) const;
  // Does the same, and returns the value as a literal.
  Literal ToLiteral(Caller caller = Caller::Here()) const;
  // Returns the only element, converted to T (float, double, bool, int64_t, std::complex<double>): PyTorch's
  // item().
  template <typename T>
  T Item(Caller caller = Caller::Here()) const;
  // True when the only element is not zero. Reads the value.
  explicit operator bool() const;
  // Returns all elements in row-major order. REQUIRES: T is the storage type of dtype().
  template <typename T>
  std::vector<T> ToVector(Caller caller = Caller::Here()) const;
  // Returns the elements as text, "tensor([[1, 2], [3, 4]])"; abbreviated above 1,000 elements. Reads the
  // value.
  std::string ToString(Caller caller = Caller::Here()) const;

  // Copies it to another device or the host; returns the tensor itself when it is there already. An upload is
  // sent at once, without waiting for it.
  Tensor To(const Device& device, Caller caller = Caller::Here()) const;
  // Converts it to another type; returns the tensor itself when it has that type.
  Tensor To(PrimitiveType type, Caller caller = Caller::Here()) const;
  // Returns a tensor that shares the value and later updates, but has no gradient history.
  Tensor Detach(Caller caller = Caller::Here()) const;
  // Returns the device's buffer with the value, for the runtime's functions. Closes the trace, does not wait.
  // Tensor and buffer are one array: no bytes move.
  Buffer ToBuffer(Caller caller = Caller::Here()) const;
  // Returns a device tensor whose value is the buffer's; updates in place leave the buffer as it is. Throws
  // for a buffer that is not valid, or has dynamic dimensions.
  static Tensor FromBuffer(Buffer buffer, Caller caller = Caller::Here());

  // Gives a placeholder its value: it can then be read, and so can tensors computed from it. Its id stays.
  Tensor& Fill(const Literal& value, Caller caller = Caller::Here());

  // Updates in place, seen by every view of the same data. The result must have this tensor's shape, and is
  // converted to its type, which must be able to hold it.
  Tensor& Copy_(const Operand& source);
  Tensor& Fill_(const Operand& value);
  Tensor& Zero_(Caller caller = Caller::Here());
  Tensor& Add_(const Operand& other);
  Tensor& Sub_(const Operand& other);
  Tensor& Mul_(const Operand& other);
  Tensor& Div_(const Operand& other);
  Tensor& operator+=(const Operand& other) { return Add_(other); }
  Tensor& operator-=(const Operand& other) { return Sub_(other); }
  Tensor& operator*=(const Operand& other) { return Mul_(other); }
  Tensor& operator/=(const Operand& other) { return Div_(other); }

  // Views share the data: an update in place of either is seen by both. Errors are those of PyTorch.
  Tensor View(DimList dims, Caller caller = Caller::Here()) const;
  // A view when strides allow it, else a copy.
  Tensor Reshape(DimList dims, Caller caller = Caller::Here()) const;
  Tensor Permute(DimList permutation, Caller caller = Caller::Here()) const;
  Tensor Transpose(int64_t dim0, int64_t dim1, Caller caller = Caller::Here()) const;
  Tensor T(Caller caller = Caller::Here()) const;   // Reverses all dimensions; for a matrix, its transpose.
  Tensor MT(Caller caller = Caller::Here()) const;  // Exchanges the last two dimensions.
  // Exchanges the last two dimensions and conjugates; a copy when complex.
  Tensor MH(Caller caller = Caller::Here()) const;
  Tensor H(Caller caller = Caller::Here()) const;  // Transposes a matrix and conjugates it.
  // The elements start, start + step, ... before `end` along a dimension. Positions are counted from the end
  // when negative, and clamped; by default all elements.
  Tensor Slice(int64_t dim, std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
               int64_t step = 1, Caller caller = Caller::Here()) const;
  // The slice at an index, without that dimension. When the index varies from call to call, the line is
  // compiled once for all of them: the index is sent with the execute.
  Tensor Select(int64_t dim, int64_t index, Caller caller = Caller::Here()) const;
  Tensor operator[](IndexNumber index) const { return Select(0, index.value(), index.caller()); }
  // `length` elements from `start` on along a dimension. Throws when they are not all inside.
  Tensor Narrow(int64_t dim, int64_t start, int64_t length, Caller caller = Caller::Here()) const;
  // A size of -1 keeps the dimension's size.
  Tensor Expand(DimList dims, Caller caller = Caller::Here()) const;
  // Removes a dimension if its size is 1; without `dim`, all dimensions of size 1.
  Tensor Squeeze(std::optional<int64_t> dim = {}, Caller caller = Caller::Here()) const;
  Tensor Unsqueeze(int64_t dim, Caller caller = Caller::Here()) const;  // Inserts a dimension of size 1.
  // Joins the dimensions from `start` to `end` (included) into one; a copy when strides do not allow a view.
  Tensor Flatten(int64_t start = 0, int64_t end = -1, Caller caller = Caller::Here()) const;
  // Elements of the underlying data by strides, in elements, from `offset` on; nullopt: the view's own
  // offset.
  Tensor AsStrided(DimList dims, DimList strides, std::optional<int64_t> offset = {},
                   Caller caller = Caller::Here()) const;
  // The diagonal of two dimensions, as the last dimension of the result; `offset` > 0 lies above it.
  Tensor Diagonal(int64_t offset = 0, int64_t dim0 = 0, int64_t dim1 = 1,
                  Caller caller = Caller::Here()) const;
  // All windows of `size` elements along a dimension, `step` apart, as a new last dimension.
  Tensor Unfold(int64_t dim, int64_t size, int64_t step, Caller caller = Caller::Here()) const;
  // Returns a dense tensor with the same elements: the tensor itself unless it is a view.
  Tensor Contiguous(Caller caller = Caller::Here()) const;
  Tensor Clone(Caller caller = Caller::Here()) const;

  // For the library.
  explicit Tensor(lazy::TensorImpl* adopted) : impl_(adopted) {}
  lazy::TensorImpl* impl() const { return impl_; }

 private:
  double ItemAsDouble(Caller caller) const;
  int64_t ItemAsInt(Caller caller) const;
  std::complex<double> ItemAsComplex(Caller caller) const;

  lazy::TensorImpl* impl_ = nullptr;  // One counted reference.
};

template <typename T>
T Tensor::Item(Caller caller) const {
  if constexpr (std::is_same_v<T, bool>) return ItemAsComplex(caller) != std::complex<double>(0);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(ItemAsInt(caller));
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(ItemAsDouble(caller));
  else return T(ItemAsComplex(caller));
}

template <typename T>
std::vector<T> Tensor::ToVector(Caller caller) const {
  if (dtype() != hlo::kPrimitiveTypeOf<T>) {
    throw Error(MakeError(ErrorKind::kArgument, "ToVector() takes the storage type of " +
                                                    std::string(hlo::Name(dtype())) + " as its T."),
                "tolist", caller);
  }
  const Literal literal = ToLiteral(caller);
  const absl::Span<const T> values = literal.data<T>();
  return std::vector<T>(values.begin(), values.end());
}

struct BackwardOptions {
  Tensor gradient = {};       // The cotangent of the outputs; required when they have more than one element.
  bool retain_graph = false;  // Allows Backward() to be called again.
  // Records the gradients, so that they can be differentiated. Implies retain_graph.
  bool create_graph = false;
};

// Returns the gradients of the sum of `outputs`, weighted by options.gradient or 1, by `inputs`, which must
// require gradients; undefined for an input that no output depends on. Grad() of leaves is not changed.
// torch.autograd.grad.
std::vector<Tensor> Gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const BackwardOptions& options = {}, Caller caller = Caller::Here());

// The results of a selection along a dimension: the chosen elements, and their positions (s64).
struct ValuesAndIndices {
  Tensor values, indices;
};

// A tensor without a value: a shape, a type and a device. Operations on it, lowering and dumping work;
// reading it, or a tensor computed from it, throws an error of kind placeholder that names the line that made
// it. It does not send anything. `requires_grad` is refused for a type that is not floating or complex.
Tensor Placeholder(DimList dims, PrimitiveType type, const Device& device, bool requires_grad = false,
                   Caller caller = Caller::Here());
// A placeholder with a sharding in HLO's spelling, "{devices=[2,1]<=[2]}" or "{replicated}", which its
// parameter in a program carries for partitioners. A sharding that does not fit the rank is refused.
Tensor ShardedPlaceholder(DimList dims, PrimitiveType type, const Device& device, const std::string& sharding,
                          bool requires_grad = false, Caller caller = Caller::Here());

}  // namespace hlod
