// Kernels: the meaning of each elementwise opcode on blocks of carriers, looked up once per instruction.
#pragma once

#include <cstdint>

#include "common/evaluator/wide.h"
#include "common/hlo/module.h"

namespace hlod::evaluator {

// The grid of a float format, to which reduce-precision and stochastic-convert round.
struct FloatFormat {
  int exponent_bits = 11, mantissa_bits = 52;
};
// Returns the format of a float element type; for any other type, double's.
FloatFormat FormatOf(hlo::PrimitiveType type);

// Parameters of a kernel besides its operands.
struct KernelContext {
  hlo::PrimitiveType operand = hlo::kInvalid;  // Type of the first operand.
  hlo::PrimitiveType result = hlo::kInvalid;
  int bits = 64;       // Width of the first operand's elements.
  FloatFormat format;  // For reduce-precision.
};

// Applies an operation to `n` elements: in[i] is a block of operand i, `out` one of the result's carrier, not
// yet rounded to its type.
using KernelFunction = void (*)(const void* const* in, void* out, int64_t n, const KernelContext& context);

struct Kernel {
  KernelFunction run = nullptr;
  KernelContext context;
  explicit operator bool() const { return run != nullptr; }
};

// Returns the kernel of an elementwise instruction (a bitcast-convert between equal widths is one), or an
// empty one when the opcode is not elementwise or not defined for these types.
Kernel FindKernel(hlo::Instruction instruction);

// The families among which FindKernel chooses, one file each. `type` is the operand's. They return null for
// opcodes of other families.
KernelFunction FindUnaryKernel(hlo::Opcode opcode, hlo::PrimitiveType type);
KernelFunction FindBinaryKernel(hlo::Opcode opcode, hlo::PrimitiveType type);
KernelFunction FindCompareKernel(const hlo::CompareAttributes& attributes, hlo::PrimitiveType type);
KernelFunction FindConvertKernel(hlo::PrimitiveType from, hlo::PrimitiveType to);
KernelFunction FindStochasticConvertKernel(hlo::PrimitiveType to);
KernelFunction FindTernaryKernel(hlo::Opcode opcode, hlo::PrimitiveType data_type);
// For bitcast-convert between types of one width, with any carriers.
KernelFunction BitcastKernel();
KernelFunction ReducePrecisionKernel();

// Make kernels from a stateless function of elements, which may take the context as its last argument.
template <typename In, typename Out, typename F>
KernelFunction MakeUnary(F) {
  return [](const void* const* in, void* out, int64_t n, const KernelContext& context) {
    const In* x = static_cast<const In*>(in[0]);
    Out* y = static_cast<Out*>(out);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_invocable_v<F, In, const KernelContext&>) {
        y[i] = F()(x[i], context);
      } else {
        y[i] = F()(x[i]);
      }
    }
  };
}

template <typename In, typename Out, typename F>
KernelFunction MakeBinary(F) {
  return [](const void* const* in, void* out, int64_t n, const KernelContext& context) {
    const In* a = static_cast<const In*>(in[0]);
    const In* b = static_cast<const In*>(in[1]);
    Out* y = static_cast<Out*>(out);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_invocable_v<F, In, In, const KernelContext&>) {
        y[i] = F()(a[i], b[i], context);
      } else {
        y[i] = F()(a[i], b[i]);
      }
    }
  };
}

}  // namespace hlod::evaluator
