// Helpers that losses share.
#pragma once

#include <optional>
#include <vector>

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/nn/loss.h"
#include "hlod/runtime/caller.h"

namespace hlod::lazy {

Tensor Reduced(const Tensor& loss, Reduction reduction);

// The call of a loss. While it exists, operations inside report the caller's line. Errors name the loss and
// the arguments' shapes.
class LossCall {
 public:
  // Throws when an argument is undefined.
  LossCall(const char* name, std::vector<const Tensor*> arguments, const Caller& caller);

  template <typename... Args>
  void Require(bool holds, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    if (!holds) Explain(operation_, operands_, caller_, [&] { Refuse(format, args...); });
  }
  void RequireSame(const Tensor& x, const Tensor& y) const;
  void RequireBroadcast(const Tensor& x, const Tensor& y) const;
  // Throws unless `target` holds classes: [n, ...] for scores x [n, classes, ...], or one class for
  // [classes]. `weight` is undefined or has one element per class.
  void RequireClasses(const Tensor& x, const Tensor& target, const Tensor& weight) const;
  // Throws when a class whose value is known is neither in [0, count) nor `allowed`.
  void CheckClasses(const Tensor& target, int64_t count, std::optional<int64_t> allowed = {}) const;
  // Requires classes of a type that the loss accepts (accepted_indices.inc).
  void RequireClassType(const Tensor& target) const;

 private:
  const Operation operation_;
  const Caller caller_;
  const CallerScope scope_;
  std::vector<Operand> operands_;
};

}  // namespace hlod::lazy
