// What losses share.
#pragma once

#include <optional>
#include <vector>

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/loss.h"
#include "hlod/runtime/caller.h"

namespace hlod::lazy {

Tensor Reduced(const Tensor& loss, Reduction reduction);

// A call of a loss: while it exists its parts report the caller, and what does not fit is refused in the
// loss's name, with the arguments' shapes.
class LossCall {
 public:
  // Refuses undefined arguments.
  LossCall(const char* name, std::vector<const Tensor*> arguments, const Caller& caller);

  template <typename... Args>
  void Require(bool holds, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    if (!holds) Explain(operation_, operands_, caller_, [&] { Refuse(format, args...); });
  }
  void RequireSame(const Tensor& x, const Tensor& y) const;
  void RequireBroadcast(const Tensor& x, const Tensor& y) const;
  // Classes [n, ...] for scores [n, classes, ...], or one for [classes], and a weight for each class.
  void RequireClasses(const Tensor& x, const Tensor& target, const Tensor& weight) const;
  // Refuses a class that is known and is neither one of `count` nor `allowed`.
  void CheckClasses(const Tensor& target, int64_t count, std::optional<int64_t> allowed = {}) const;

 private:
  const Operation operation_;
  const Caller caller_;
  const CallerScope scope_;
  std::vector<Operand> operands_;
};

}  // namespace hlod::lazy
