// Marks tensors with shardings.
#include "hlod/tensor/sharding.h"

#include "client/tensor/trace/lock.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/hlo/text/sharding.h"

namespace hlod {

Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller) {
  static constexpr char kName[] = "mark_sharding";
  if (lazy::Defined(tensor).is_view()) {
    lazy::Throw(ErrorKind::kArgument, "a view lies where its base does: mark that", kName, caller);
  }
  auto parsed = std::make_shared<const std::string>(
      lazy::ValueOrThrow(hlo::ParseSharding(sharding, tensor.dims().size()), kName, caller));
  const lazy::TraceLock lock;
  tensor.impl()->value().sharding = std::move(parsed);
  return tensor;
}

}  // namespace hlod
