// Calls operations: finds the device and the types, records the operation and makes the result. apply.cc
// lists the steps.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/value/impl.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// The operands as nodes, converted as the operation's row requires.
using Operands = absl::Span<const Op>;
inline std::vector<hlo::NodeId> Ids(Operands ops) {
  std::vector<hlo::NodeId> ids;
  for (const Op op : ops) ids.push_back(op.id);
  return ids;
}
using LowerOne = absl::FunctionRef<Op(Lowering&, Operands)>;
using LowerSeveral = absl::FunctionRef<std::vector<Op>(Lowering&, Operands)>;

// Records `operation` on `operands` in the open trace of their device, or evaluates it if all are on the
// host. `lower` appends the instructions; it may throw Refusal. Throws an Error that names the operation, the
// operands and the line of the first operand; no live value has changed then.
Tensor Call(const Operation& operation, absl::Span<const Operand> operands, LowerOne lower);
std::vector<Tensor> CallSeveral(const Operation& operation, absl::Span<const Operand> operands,
                                LowerSeveral lower);
inline Tensor Call(const Operation& operation, std::initializer_list<Operand> operands, LowerOne lower) {
  return Call(operation, absl::MakeConstSpan(operands.begin(), operands.size()), lower);
}

inline std::vector<Tensor> CallSeveral(const Operation& operation, std::initializer_list<Operand> operands,
                                       LowerSeveral lower) {
  return CallSeveral(operation, absl::MakeConstSpan(operands.begin(), operands.size()), lower);
}

// Like Call() for a `lower` that depends only on the operands' shapes: a call that was recorded before is
// recorded again without calling `lower`. `lowering` is an address that identifies `lower`. The operands are
// pointers, because copies would cost as much as recording.
Tensor CallByShape(const Operation& operation, const void* lowering,
                   std::initializer_list<const Operand*> operands, LowerOne lower);

// Returns an argument of `operation` as a tensor. Throws when it is a number or undefined.
const Tensor& TensorOf(const Operation& operation, const Operand& x);
// Returns a list of tensors as operands of one call.
std::vector<Operand> OperandsOf(const std::vector<Tensor>& tensors, const Caller& caller);
using OperandCopies = absl::InlinedVector<Operand, 2>;
OperandCopies Copies(std::initializer_list<const Operand*> operands);

// Like Call(), but the result replaces the value of `target` (or the part that a view covers). `target` is
// the first tensor among the operands; the result is converted to its type and must have its shape.
Tensor& CallInPlace(const Operation& operation, Tensor& target, absl::Span<const Operand> operands,
                    LowerOne lower);

// Refuses, as PyTorch does, an update of `target` by other operands that share some of its elements.
// CallInPlace checks its own operands. Throws Refusal.
void CheckOverlap(const TensorImpl& target, absl::Span<const Operand> operands);

// Makes a tensor without operands: on a device it is recorded; on the host it is a recipe, which is evaluated
// when its bytes are first needed.
Tensor Create(const Operation& operation, const Dims& dims, PrimitiveType type, const Device& device,
              Recipe recipe, const Caller& caller);

// Returns the device for a factory's tensor: `device`, or the one that the settings determine.
Device FactoryDevice(const std::optional<Device>& device);

// Runs `body`; a Refusal becomes an Error with the operation's name, its arguments and the line.
void Explain(const Operation& operation, absl::Span<const Operand> operands, const Caller& caller,
             absl::FunctionRef<void()> body);

}  // namespace hlod::lazy
