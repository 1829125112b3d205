// Tensor's members that describe it, read it or move it between devices.
#include "hlod/tensor/tensor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/convert_later.h"
#include "client/tensor/value/copy_to.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/host.h"
#include "client/tensor/value/text.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod {

using lazy::Defined;
using lazy::Ref;
using lazy::TraceLock;
using lazy::Value;

lazy::TensorImpl& lazy::Defined(const Tensor& tensor, const Caller& caller) {
  if (tensor.impl() == nullptr) {
    Throw(ErrorKind::kArgument, "the tensor is undefined: it was default-constructed or moved from", "tensor",
          caller);
  }
  return *tensor.impl();
}

const Dims& Tensor::dims(Caller caller) const { return Defined(*this, caller).dims(); }
int64_t Tensor::size(int64_t dim, Caller caller) const {
  const int64_t count = rank(caller);
  if (dim < -count || dim >= count) {
    lazy::Throw(ErrorKind::kArgument, absl::StrCat("dimension (", dim, ") is out of range for ", Describe()),
                "size", caller);
  }
  return dims(caller)[static_cast<size_t>(dim < 0 ? dim + count : dim)];
}
int64_t Tensor::numel(Caller caller) const { return lazy::Count(dims(caller)); }
PrimitiveType Tensor::dtype(Caller caller) const { return Defined(*this, caller).type(); }
Shape Tensor::shape(Caller caller) const { return Shape::Array(dtype(caller), dims(caller)); }
Device Tensor::device(Caller caller) const { return lazy::DeviceOf(Defined(*this, caller).place()); }
Dims Tensor::strides(Caller caller) const { return Defined(*this, caller).view().strides; }
int64_t Tensor::storage_offset(Caller caller) const { return Defined(*this, caller).view().offset; }
bool Tensor::is_contiguous(Caller caller) const { return lazy::IsContiguous(Defined(*this, caller).view()); }
bool Tensor::is_view(Caller caller) const { return Defined(*this, caller).is_view(); }
uint64_t Tensor::id(Caller caller) const { return Defined(*this, caller).id; }
bool Tensor::requires_grad(Caller caller) const {
  const TraceLock lock;
  return lazy::RequiresGrad(Defined(*this, caller));
}

TensorState Tensor::state(Caller caller) const {
  const TraceLock lock;
  const Value& value = Defined(*this, caller).value();
  switch (value.state()) {
    case Value::State::kHost:
    case Value::State::kRecipe:
    case Value::State::kFile: return TensorState::kHost;
    case Value::State::kPlaceholder: return TensorState::kPlaceholder;
    case Value::State::kFailed:
      return KindOf(value.failure()) == ErrorKind::kDonated ? TensorState::kDonated : TensorState::kFailed;
    case Value::State::kNode:
      return value.graph()->kind == lazy::Trace::Kind::kAbstract &&
                     !lazy::PathToPlaceholder(*value.graph(), value.node()).empty()
                 ? TensorState::kPlaceholder
                 : TensorState::kLazy;
    case Value::State::kData: break;
  }
  if (value.buffer().is_placeholder()) return TensorState::kPlaceholder;
  if (const absl::Status state = value.buffer().state(); !state.ok()) {
    return KindOf(state) == ErrorKind::kDonated ? TensorState::kDonated : TensorState::kFailed;
  }
  return value.buffer().ready().Ready() ? TensorState::kReady : TensorState::kPending;
}

std::string Tensor::Describe() const {
  if (impl_ == nullptr) return "an undefined tensor";
  static constexpr const char* kStates[] = {"host",        "lazy",    "pending", "ready",
                                            "placeholder", "donated", "failed"};
  const TraceLock lock;
  const Value& value = Defined(*this).value();
  return absl::StrCat(
      hlo::ToStringNoLayout(shape()), " ", kStates[static_cast<int>(state())], ", tensor ", id(),
      value.place.is_host() || value.place.runtime->ended() ? "" : absl::StrCat(" on ", device().ToString()),
      ", made at ", lazy::LineText(value.origin));
}

Literal Tensor::ToLiteral(Caller caller) const {
  return *lazy::Read(lazy::ShownValue(Defined(*this, caller), "to_host", caller), TraceCause::kToHost,
                     Cause::kDownload, "to_host", caller);
}

Tensor Tensor::ToHost(Caller caller) const { return To(Device(), caller); }

}  // namespace hlod
namespace hlod::lazy {

namespace {

// The argument of a copy to another place.
struct CopySource {
  Ref<Value> shown;
  Value::State state;
  Value::File file;  // Reads a value that is in a file.
};

// Makes `moved` the value of `from` on its device.
void CopyToDevice(const CopySource& from, Value& moved, const Device& device, Cause cause,
                  const Caller& caller) {
  const Place to = PlaceOf(device);
  const auto upload = [&](const Literal& literal) {
    if (to.runtime->ended()) Throw(EndedError(), "to", caller);
    moved.Become(ValueOrThrow(device.Upload(literal, cause, caller), "to", caller));
  };
  if (from.state == Value::State::kRecipe) {
    // The tensor is made on the device, so nothing is uploaded.
    Explain(ops::To, {}, caller, [&] {
      const TraceLock lock;
      if (to.runtime->ended()) throw Refusal{EndedError()};
      Trace& graph = ThreadTraces::Get().Open(to, Trace::Kind::kReal);
      graph.SetOrigin(caller, "to");
      graph.AddLive(moved, graph.NodeOf(*from.shown));
    });
  } else if (from.state != Value::State::kFile) {
    upload(*Read(from.shown, TraceCause::kDeviceCopy, Cause::kImplicitDownload, "to", caller));
  } else if (IsLargeIn(to, *from.shown)) {
    moved.Become(
        ValueOrThrow(runtime::UploadWithoutBytes(device, from.shown->shape(), cause, caller), "to", caller));
  } else {
    // Sent from the file to the device; the host does not keep the bytes.
    upload(ValueOrThrow(from.file.load(), "to", caller));
  }
}

// Returns the tape's entry of a copy: the gradient is copied back.
Ref<TapeEntry> CopyEntry(const Tensor& tensor, const Caller& caller) {
  auto entry = MakeRef<TapeEntry>("to", caller);
  entry->inputs.push_back(MakeTapeInput(Defined(tensor), 0));
  // The gradient does not need values, so it may be computed again.
  entry->inputs.back().value = Ref<Value>();
  entry->output_shapes.push_back(tensor.shape());
  entry->backward = [back = tensor.device(), caller](const std::vector<Tensor>& gradients) {
    return std::vector<Tensor>{gradients[0].To(back, caller)};
  };
  return entry;
}

}  // namespace

Tensor CopyTo(const Tensor& tensor, const Device& device, Cause cause, const Caller& own) {
  const Caller& caller = CallerScope::Of(own);
  const Place to = PlaceOf(device);
  const Place from = Defined(tensor, caller).place();
  if (to == from) {
    const TraceLock lock;
    const Value& value = Defined(tensor, caller).value();
    if (value.state() == Value::State::kFailed) Throw(value.failure(), "to", caller);
    return tensor;
  }
  auto moved = MakeRef<Value>(tensor.dtype(), tensor.dims(), to, caller);
  const runtime::TransferOf transfer(moved->id);
  CopySource source{ShownValue(Defined(tensor), "to", caller), {}, {}};
  {
    const TraceLock lock;
    source.state = source.shown->state();
    if (source.state == Value::State::kFile) source.file = source.shown->file();
  }
  if (source.state == Value::State::kFile && source.file.keeps_loaded && !IsLargeIn(to, *source.shown)) {
    Explain(ops::To, {}, caller, [&] { LoadFile(source.shown); });
    source.state = Value::State::kHost;
  }
  if (to.is_host()) {
    moved->Become(Read(source.shown, TraceCause::kToHost, Cause::kDownload, "to_host", caller));
  } else {
    CopyToDevice(source, *moved, device, cause, caller);
  }
  {
    const TraceLock lock;
    CopyRole(*source.shown, *moved);
    if (!to.is_host()) moved->sharding = source.shown->sharding;
  }
  if (GradMode() && RequiresGrad(Defined(tensor))) moved->history = CopyEntry(tensor, caller);
  return MakeTensor(std::move(moved));
}

}  // namespace hlod::lazy
namespace hlod {

Tensor Tensor::To(const Device& device, Caller caller) const {
  return lazy::CopyTo(*this, device, Cause::kUpload, caller);
}

Tensor Tensor::To(PrimitiveType type, Caller caller) const {
  if (type == dtype(caller)) return *this;
  if (Tensor later = lazy::ConvertedLater(*this, type, caller); later.defined()) return later;
  return lazy::Call(lazy::ops::To, {Operand(*this, caller)},
                    [type](lazy::Lowering& l, lazy::Operands x) { return l.Convert(x[0], type); });
}

Tensor Tensor::Detach(Caller caller) const {
  if (lazy::FunctionTrace::IsInside(Defined(*this, caller))) {  // Recorded for the function's transforms.
    static constexpr lazy::Operation kDetach = {"Detach", "detach", lazy::Promotion::kNone,
                                                "without gradients"};
    return lazy::Call(kDetach, {Operand(*this, caller)},
                      [](lazy::Lowering& l, lazy::Operands x) { return lazy::StopGradient(l, x[0]); });
  }
  auto detached =
      lazy::MakeRef<lazy::TensorImpl>(lazy::NextId(), Defined(*this).storage, Defined(*this).view());
  detached->lineage = lazy::NewLineage(*detached, detached->id);
  return lazy::MakeTensor(std::move(detached));
}

Buffer Tensor::ToBuffer(Caller caller) const {
  if (Defined(*this, caller).place().is_host()) {
    lazy::Throw(ErrorKind::kArgument, "a host tensor has no buffer: copy it to a device with To()",
                "to_buffer", caller);
  }
  const Ref<Value> shown = lazy::ShownValue(Defined(*this, caller), "to_buffer", caller);
  Value::State state;
  {
    const TraceLock lock;
    if (shown->place.runtime->ended()) lazy::Throw(lazy::EndedError(), "to_buffer", caller);
    if (shown->state() == Value::State::kPlaceholder)
      shown->Become(lazy::ValueOrThrow(device().Placeholder(shown->shape(), caller), "to_buffer", caller));
    state = shown->state();
  }
  if (state != Value::State::kData) lazy::Force(shown, TraceCause::kExport, "to_buffer", caller);
  const TraceLock lock;
  if (shown->state() == Value::State::kFailed) lazy::Throw(shown->failure(), "to_buffer", caller);
  return shown->buffer();
}

Tensor Tensor::FromBuffer(Buffer buffer, Caller caller) {
  if (!buffer.valid())
    lazy::Throw(ErrorKind::kArgument, "the buffer refers to nothing", "from_buffer", caller);
  if (buffer.shape().HasDynamicDimension()) {
    lazy::Throw(ErrorKind::kUnimplemented,
                absl::StrCat("the buffer is ", hlo::ToStringNoLayout(buffer.shape()),
                             "; tensors are arrays of static sizes"),
                "from_buffer", caller);
  }
  auto value = lazy::MakeRef<Value>(buffer.shape().type, buffer.shape().dims,
                                    lazy::PlaceOf(lazy::DeviceOfBuffer(buffer)), caller);
  value->Become(std::move(buffer));
  return lazy::MakeTensor(std::move(value));
}

namespace {

Literal ReadOne(const Tensor& tensor, Caller caller) {
  if (tensor.numel() != 1) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("Item() reads a tensor of one element; this is ", tensor.Describe()), "item",
                caller);
  }
  return *lazy::Read(lazy::ShownValue(*tensor.impl(), "item", caller), TraceCause::kItem, Cause::kScalarRead,
                     "item", caller);
}

template <typename T>
T ElementAs(const Literal& literal, PrimitiveType type, Caller caller) {
  return lazy::ValueOrThrow(hlo::Convert(literal, type), "item", caller).template data<T>()[0];
}

}  // namespace

double Tensor::ItemAsDouble(Caller caller) const {
  return ElementAs<double>(ReadOne(*this, caller), kF64, caller);
}
int64_t Tensor::ItemAsInt(Caller caller) const {
  return ElementAs<int64_t>(ReadOne(*this, caller), kS64, caller);
}
std::complex<double> Tensor::ItemAsComplex(Caller caller) const {
  return ElementAs<std::complex<double>>(ReadOne(*this, caller), kC128, caller);
}
// A conversion cannot have an argument for the line; it is the line of the comparison, as in `if (x > 0)`.
Tensor::operator bool() const { return Item<bool>(Defined(*this).value().origin); }

std::string Tensor::ToString(Caller caller) const {
  if (impl_ == nullptr) return "tensor(undefined)";
  if (const std::string shown = lazy::PrintAbstract(*impl_, caller); !shown.empty()) return shown;
  return lazy::TensorText(*lazy::Read(lazy::ShownValue(Defined(*this, caller), "print", caller),
                                      TraceCause::kPrint, Cause::kPrint, "print", caller));
}

}  // namespace hlod
