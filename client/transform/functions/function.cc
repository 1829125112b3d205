// Traces functions, and appends calls of traced ones.
#include "hlod/transform/function.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/bind.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"
#include "client/transform/batch/axis_scope.h"
#include "client/transform/functions/prints_of.h"
#include "client/transform/functions/suspend.h"
#include "hlod/tensor/autocast.h"
#include "hlod/transform/jit.h"

namespace hlod::lazy {
namespace {

std::string LeafText(const Tensor& leaf) {
  const Place place = leaf.impl()->value().place;
  return absl::StrCat(hlo::ToStringNoLayout(leaf.shape()), "@", reinterpret_cast<uintptr_t>(place.runtime),
                      ":", place.ordinal, ";");
}

// Returns the device that the arguments are on (some may be host tensors), or nullopt without arguments.
// Throws when they are on several devices.
std::optional<Place> PlaceOfArguments(const char* what, const std::vector<Tensor>& arguments,
                                      const std::vector<std::string>& paths, const Caller& caller) {
  std::optional<Place> place;
  size_t first = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Place other = arguments[i].impl()->value().place;
    if (other.is_host()) continue;
    if (place.has_value() && !(*place == other)) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(paths[first], " is on ", PlaceText(*place, other), ", ", paths[i], " is on ",
                         PlaceText(other, *place)),
            what, caller);
    }
    if (!place.has_value()) first = i;
    place = other;
  }
  if (!place.has_value() && !arguments.empty()) place = Place{};
  return place;
}

// Returns what must stay as it is for a function that captured the tensor to be called again.
std::string CapturedText(const Tensor& tensor) {
  return absl::StrCat(LeafText(tensor), tensor.impl()->storage->superseded ? " superseded" : "");
}

Operation CallOf(const char* what) { return {what, what, Promotion::kNone, "a call of a traced function"}; }

}  // namespace

Traced::Traced(Function function, const char* what, std::vector<Print> prints)
    : function_(std::make_unique<Function>(std::move(function))),
      prints_(std::make_unique<std::vector<Print>>(std::move(prints))),
      what_(what) {
  for (const Tensor& tensor : function_->Captured()) captured_.push_back(CapturedText(tensor));
}
Traced::~Traced() = default;

size_t Traced::result_count() const { return function_->outputs.size() - ValuesOf(*prints_); }

bool Traced::StillFits() const {
  const std::vector<Tensor> captured = function_->Captured();
  for (size_t i = 0; i < captured.size(); ++i) {
    if (CapturedText(captured[i]) != captured_[i]) return false;
    if (captured[i].impl()->value().state() == Value::State::kFailed) return false;
  }
  return true;
}

namespace {

// Throws when an argument was donated. A function that does not use its argument would not notice.
void CheckArguments(const Traced& traced, const std::vector<Tensor>& arguments, const Caller& caller) {
  const TraceLock lock;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Value& value = *arguments[i].impl()->storage->value;
    if (value.state() != Value::State::kFailed || KindOf(value.failure()) != ErrorKind::kDonated) continue;
    Throw(ErrorKind::kDonated,
          absl::StrCat("tensor ", i, " of its arguments, ", hlo::ToStringNoLayout(value.shape()), " made at ",
                       LineText(value.origin), ": ", std::string(value.failure().message())),
          traced.what(), caller);
  }
}

}  // namespace

std::vector<Tensor> CallTraced(const Traced& traced, const std::vector<Tensor>& arguments,
                               const Caller& caller) {
  CheckArguments(traced, arguments, caller);
  const AutocastSuspension suspension;
  const Function& function = traced.function();
  const std::vector<Tensor> captured = function.Captured();
  std::vector<Operand> operands = OperandsOf(arguments, caller);
  for (const Tensor& tensor : captured) operands.emplace_back(tensor, caller);
  if (operands.empty()) operands.emplace_back(Scalar(0), caller);  // This operand carries the caller's line.
  const Operation operation = CallOf(traced.what());
  if (arguments.empty() && captured.empty()) {
    // Without an operand, the device of the function is not known.
    std::vector<Tensor> results;
    Explain(operation, {}, caller, [&] {
      if (!function.outputs.empty()) Refuse("a function without tensors as arguments is called");
    });
    return results;
  }
  std::vector<Tensor> results = CallSeveral(operation, operands, [&](Lowering& l, Operands o) {
    return Inline(l, function, o.subspan(0, arguments.size()), o.subspan(arguments.size(), captured.size()));
  });
  EmitPrintsOf(traced, traced.prints(), results);
  return results;
}

void EmitPrintsOf(const Traced& traced, std::vector<Print> prints, std::vector<Tensor>& results) {
  const auto first = results.begin() + static_cast<ptrdiff_t>(traced.result_count());
  Emit(std::move(prints), std::vector<Tensor>(first, results.end()));
  results.erase(first, results.end());
}

void RefusePrints(const Traced& traced, const char* what, const Caller& caller) {
  if (traced.prints().empty()) return;
  Throw(ErrorKind::kArgument,
        "the function prints (DebugPrint), and its body can return nothing but its results; return the value "
        "and print it outside",
        what, caller);
}

Body::Body(const char* what, const std::vector<Tensor>& arguments, const std::vector<std::string>& paths,
           const Caller& caller)
    : what_(what), caller_(caller) {
  const std::optional<Place> place = PlaceOfArguments(what, arguments, paths, caller);
  trace_ = std::make_unique<FunctionTrace>(what, place, caller);
  for (const Tensor& argument : arguments) arguments_.push_back(trace_->Argument(argument));
}
Body::~Body() = default;

std::shared_ptr<const Traced> Body::Finish(const std::vector<Tensor>& results,
                                           const std::vector<std::string>& paths) {
  std::vector<Tensor> placed = results;
  Printed printed = std::move(trace_->printed());
  placed.insert(placed.end(), printed.values.begin(), printed.values.end());
  printed.values.clear();
  const auto path = [&](size_t i) { return i < paths.size() ? paths[i] : std::string("a printed value"); };
  for (size_t i = 0; i < placed.size(); ++i) {
    const Place place = placed[i].impl()->value().place;
    if (place == trace_->place()) continue;
    if (!place.is_host()) {
      Throw(ErrorKind::kArgument,
            absl::StrCat(path(i), " is on ", PlaceText(place, trace_->place()), " and the arguments are on ",
                         PlaceText(trace_->place(), place)),
            what_, caller_);
    }
    placed[i] = placed[i].To(DeviceOf(trace_->place()), caller_);
  }
  std::shared_ptr<const Traced> traced;
  Explain(CallOf(what_), {}, caller_, [&] {
    traced = std::make_shared<const Traced>(trace_->Finish(placed), what_, std::move(printed.prints));
  });
  arguments_.clear();
  placed.clear();
  trace_.reset();
  return traced;
}

std::string SignatureOf(const std::vector<Tensor>& leaves, std::string structure) {
  for (const Tensor& leaf : leaves) structure += LeafText(leaf);
  return structure + RegionsText() + AxesText();
}

void CheckDonated(const std::vector<int>& donate, size_t arguments, const Caller& caller) {
  for (const int index : donate) {
    if (index >= 0 && static_cast<size_t>(index) < arguments) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat("donate names argument ", index, ", and the function is called with ", arguments,
                       arguments == 1 ? " argument" : " arguments"),
          "jit", caller);
  }
}

void Donate(const std::vector<Tensor>& leaves, const Caller& caller) {
  std::vector<Ref<Value>> garbage;  // Destroyed after the lock is released.
  const TraceLock lock;
  for (const Tensor& leaf : leaves) {
    Storage& storage = *leaf.impl()->storage;
    Value& value = *storage.value;
    auto gone = MakeRef<Value>(value.type, value.dims, value.place, value.origin);
    gone->Become(
        MakeError(ErrorKind::kDonated, absl::StrCat("the tensor was donated to the function of jit (",
                                                    LineText(caller), "), which may have overwritten it")));
    garbage.push_back(std::exchange(storage.value, std::move(gone)));
    ++storage.version;
  }
}

}  // namespace hlod::lazy
