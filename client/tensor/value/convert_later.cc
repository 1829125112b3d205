// Extends a recipe by a conversion, and makes a file's array convert when it is loaded.
#include "client/tensor/value/convert_later.h"

#include <utility>

#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/impl.h"
#include "common/base/errors/status.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/builder.h"

namespace hlod::lazy {
namespace {

absl::StatusOr<Literal> EvaluatedConvert(const Literal& literal, PrimitiveType type) {
  Module module("host");
  hlo::Builder b(module, "main");
  RETURN_IF_ERROR(b.Build(b.Convert(b.Parameter(0, literal.shape()), type)));
  return hlod::Evaluate(module, {&literal});
}

}  // namespace

Tensor ConvertedLater(const Tensor& x, PrimitiveType type, const Caller& caller) {
  const TensorImpl& impl = Defined(x);
  if (!impl.place().is_host() || FunctionTrace::Innermost() != nullptr) return {};
  const TraceLock lock;
  const Value& value = impl.value();
  if (!IsRoot(impl) || (GradMode() && RequiresGrad(impl))) return {};
  auto later = MakeRef<Value>(type, value.dims, value.place, caller);
  switch (value.state()) {
    case Value::State::kRecipe:
      later->Become(
          Recipe([recipe = value.recipe(), type](Lowering& l) { return l.Convert(recipe(l), type); }));
      break;
    case Value::State::kFile:
      later->Become(Value::File{[load = value.file().load, type]() -> absl::StatusOr<Literal> {
                                  ASSIGN_OR_RETURN(const Literal literal, load());
                                  return EvaluatedConvert(literal, type);
                                },
                                /*keeps_loaded=*/true});
      break;
    default: return {};
  }
  later->sharding = value.sharding;
  return MakeTensor(std::move(later));
}

}  // namespace hlod::lazy
