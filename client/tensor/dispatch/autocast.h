// The part of autocast in an operation's call.
#pragma once

#include <vector>

#include "client/tensor/dispatch/operation.h"
#include "hlod/tensor/autocast.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// True while this thread is in an enabled region.
extern constinit thread_local bool autocast_active;

// Returns the open regions as text, because a function traced under other regions is a different program.
std::string RegionsText();

// Holds the operands of a call of `operation`, cast as the open region requires. Throws Refusal.
class CastOperands {
 public:
  CastOperands(const Operation& operation, absl::Span<const Operand> operands);
  absl::Span<const Operand> get() const { return operands_; }

 private:
  std::vector<Tensor> tensors_;  // Declared before the member that refers to them.
  std::vector<Operand> operands_;
};

// The casts of a listed operation that is composed of public ones: its arguments are cast, and its parts are
// computed in the resulting types.
//   Tensor MseLoss(x, target) {
//     const CompositeCast cast("mse_loss", {&x, &target});
//     ... cast(x) - cast(target)
class CompositeCast {
 public:
  // `name` is the operation's name in autocast.inc.
  CompositeCast(const char* name, std::initializer_list<const Tensor*> arguments);
  ~CompositeCast();
  CompositeCast(const CompositeCast&) = delete;
  CompositeCast& operator=(const CompositeCast&) = delete;

  Tensor operator()(const Tensor& argument) const;

 private:
  bool suspends_ = false;
  std::optional<PrimitiveType> host_type_, device_type_;  // The types that floating arguments are cast to.
};

// Returns f(arguments...) with the arguments cast as for the operation `name` of autocast.inc.
template <typename F, typename... Tensors>
Tensor UnderAutocast(const char* name, F f, const Tensors&... arguments) {
  if (!autocast_active) return f(arguments...);
  const CompositeCast cast(name, {&arguments...});
  return f(cast(arguments)...);
}

}  // namespace hlod::lazy
