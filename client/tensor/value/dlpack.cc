// Exchanges host tensors by DLPack.
#include "hlod/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

using lazy::Throw;

constexpr uint8_t kBoolCode = 6;  // kDLBool, which the header of DLPack 0.6 does not have.

struct TypeRow {
  PrimitiveType type;
  uint8_t code, bits;
};
constexpr TypeRow kTypes[] = {
    {kPred, kBoolCode, 8},  {kS8, kDLInt, 8},       {kS16, kDLInt, 16},       {kS32, kDLInt, 32},
    {kS64, kDLInt, 64},     {kU8, kDLUInt, 8},      {kU16, kDLUInt, 16},      {kU32, kDLUInt, 32},
    {kU64, kDLUInt, 64},    {kF16, kDLFloat, 16},   {kF32, kDLFloat, 32},     {kF64, kDLFloat, 64},
    {kBF16, kDLBfloat, 16}, {kC64, kDLComplex, 64}, {kC128, kDLComplex, 128},
};

// An exported tensor: the literal that it keeps alive, and the arrays that its description points to.
struct Exported {
  std::shared_ptr<const Literal> literal;
  Dims dims, strides;
  DLManagedTensor managed{};
};

}  // namespace

DLManagedTensor* ToDlpack(const Tensor& tensor, Caller caller) {
  constexpr char kName[] = "to_dlpack";
  if (!tensor.defined()) Throw(ErrorKind::kArgument, "the tensor is undefined", kName, caller);
  lazy::TensorImpl& impl = *tensor.impl();
  auto exported = std::make_unique<Exported>();
  lazy::Ref<lazy::Value> value;
  {
    const lazy::TraceLock lock;
    value = impl.storage->value;
  }
  if (!value->place.is_host() && !tensor.is_placeholder()) {
    Throw(ErrorKind::kArgument,
          absl::StrCat(tensor.Describe(),
                       " is on a device, whose memory another process holds; copy it with "
                       "ToHost()"),
          kName, caller);
  }
  exported->literal = lazy::Read(value, TraceCause::kToHost, Cause::kDownload, kName, caller);
  const TypeRow* row = nullptr;
  for (const TypeRow& candidate : kTypes) {
    if (candidate.type == tensor.dtype()) row = &candidate;
  }
  if (row == nullptr) {
    Throw(ErrorKind::kArgument, absl::StrCat("DLPack has no type for ", ToAbsl(hlo::Name(tensor.dtype()))),
          kName, caller);
  }
  {
    const lazy::TraceLock lock;
    impl.storage->exposed = true;
  }
  exported->dims = impl.dims();
  exported->strides = impl.view().strides;
  DLTensor& described = exported->managed.dl_tensor;
  described.data = const_cast<std::byte*>(exported->literal->bytes().data());
  described.device = {kDLCPU, 0};
  described.ndim = static_cast<int>(exported->dims.size());
  described.dtype = {row->code, row->bits, 1};
  described.shape = exported->dims.data();
  described.strides = exported->strides.data();
  described.byte_offset = static_cast<uint64_t>(impl.view().offset * hlo::ByteWidth(tensor.dtype()));
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* managed) {
    delete static_cast<Exported*>(managed->manager_ctx);
  };
  return &exported.release()->managed;
}

namespace {

constexpr char kFromDlpack[] = "from_dlpack";

// Returns the HLO type of the described elements. Throws for memory or a type that the host does not read.
PrimitiveType TypeOfDlpack(const DLTensor& described, const Caller& caller) {
  if (described.device.device_type != kDLCPU && described.device.device_type != kDLCUDAHost) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("the memory is of DLPack's device type ",
                       static_cast<int>(described.device.device_type), ", which the host does not read"),
          kFromDlpack, caller);
  }
  for (const TypeRow& row : kTypes) {
    if (row.code == described.dtype.code && row.bits == described.dtype.bits && described.dtype.lanes == 1)
      return row.type;
  }
  Throw(ErrorKind::kArgument,
        absl::StrCat("DLPack's type of code ", described.dtype.code, ", ", described.dtype.bits, " bits and ",
                     described.dtype.lanes, " lanes is not an HLO type"),
        kFromDlpack, caller);
}

// Returns the number of elements from the first to the last that the strides address.
int64_t ReachOf(const Dims& dims, const Dims& strides, const Caller& caller) {
  int64_t reach = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) reach = 0;
    int64_t along = 0;
    if (dims[i] > 1 && (strides[i] < 0 || __builtin_mul_overflow(dims[i] - 1, strides[i], &along) ||
                        __builtin_add_overflow(reach, reach == 0 ? 0 : along, &reach))) {
      Throw(ErrorKind::kArgument,
            absl::StrCat("the stride (", strides[i], ") of dimension ", i, " of size ", dims[i],
                         " is negative or reaches too far"),
            kFromDlpack, caller);
    }
  }
  return reach;
}

// Returns a literal of the shape in the tensor's memory, or a copy when that memory is not aligned. Takes the
// managed tensor, which is freed with the literal's memory.
std::shared_ptr<const Literal> TakeMemory(DLManagedTensor* managed, const Shape& shape) {
  const DLTensor& described = managed->dl_tensor;
  auto* const data = static_cast<std::byte*>(described.data) + described.byte_offset;
  std::shared_ptr<void> owner(managed, [](void* taken) {
    auto* const tensor = static_cast<DLManagedTensor*>(taken);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  const int alignment = std::min(hlo::ByteWidth(shape.type), 16);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) == 0)
    return std::make_shared<const Literal>(Literal::Borrow(shape, data, std::move(owner)));
  Literal copy(shape);
  std::memcpy(copy.bytes().data(), data, copy.bytes().size());
  return std::make_shared<const Literal>(std::move(copy));
}

}  // namespace

Tensor FromDlpack(DLManagedTensor* managed, Caller caller) {
  if (managed == nullptr) Throw(ErrorKind::kArgument, "the managed tensor is null", kFromDlpack, caller);
  const DLTensor& described = managed->dl_tensor;
  const PrimitiveType type = TypeOfDlpack(described, caller);
  if (described.ndim < 0) {
    Throw(ErrorKind::kArgument, absl::StrCat("the number of dimensions (", described.ndim, ") is negative"),
          kFromDlpack, caller);
  }
  const Dims dims(described.shape, described.shape + described.ndim);
  lazy::ThrowIfError(hlo::ValidateShape(Shape::Array(type, dims)), kFromDlpack, caller);
  Dims strides = hlo::RowMajorStrides(dims);
  for (size_t i = 0; i < dims.size() && described.strides != nullptr; ++i) {
    // Strides of dimensions of size 0 and 1 have no meaning.
    if (dims[i] > 1) strides[i] = described.strides[i];
  }
  const Shape flat = Shape::Array(type, {ReachOf(dims, strides, caller)});
  lazy::ThrowIfError(hlo::ValidateShape(flat), kFromDlpack, caller);
  const bool dense = strides == hlo::RowMajorStrides(dims);
  const Shape shape = dense ? Shape::Array(type, dims) : flat;
  auto value = lazy::MakeRef<lazy::Value>(type, shape.dims, lazy::Place{}, caller);
  value->Become(TakeMemory(managed, shape));
  Tensor tensor = lazy::MakeTensor(std::move(value));
  tensor.impl()->storage->exposed = true;
  return dense ? tensor : tensor.AsStrided(dims, strides, 0, caller);
}

}  // namespace hlod
