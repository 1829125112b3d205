// Kernels: the meaning of each elementwise opcode on blocks of carriers, looked up once per instruction.
#pragma once

#include <cstdint>

#include "common/evaluator/elements/wide.h"
#include "common/hlo/module.h"

namespace hlod::evaluator {

// The parameters of a float format that reduce-precision and stochastic-convert round to.
struct FloatFormat {
  int exponent_bits = 11, mantissa_bits = 52;
};
// Returns the format of a float element type; for any other type, double's.
FloatFormat FormatOf(hlo::PrimitiveType type);

// Parameters of a kernel other than its operands.
struct KernelContext {
  hlo::PrimitiveType operand = hlo::kInvalid;  // The type of the first operand.
  hlo::PrimitiveType result = hlo::kInvalid;
  int bits = 64;       // The width of the first operand's elements.
  FloatFormat format;  // For reduce-precision.
};

// Applies an operation to `n` elements. in[i] is a block of operand i; `out` is a block of the result's
// carrier, which is not rounded to the result's type yet.
using KernelFunction = void (*)(const void* const* in, void* out, int64_t n, const KernelContext& context);

struct Kernel {
  KernelFunction run = nullptr;
  KernelContext context;
  explicit operator bool() const { return run != nullptr; }
};

// Returns the kernel of an elementwise instruction (a bitcast-convert between equal widths is one). It is
// empty if the opcode is not elementwise, or not defined for these types.
Kernel FindKernel(hlo::Instruction instruction);

// The families that FindKernel searches, one per file. `type` is the type of the operand. They return null
// for opcodes of other families.
KernelFunction FindUnaryKernel(hlo::Opcode opcode, hlo::PrimitiveType type);
KernelFunction FindBinaryKernel(hlo::Opcode opcode, hlo::PrimitiveType type);
KernelFunction FindCompareKernel(const hlo::CompareAttributes& attributes, hlo::PrimitiveType type);
KernelFunction FindConvertKernel(hlo::PrimitiveType from, hlo::PrimitiveType to);
KernelFunction FindStochasticConvertKernel(hlo::PrimitiveType to);
KernelFunction FindTernaryKernel(hlo::Opcode opcode, hlo::PrimitiveType data_type);
// For bitcast-convert between types of the same width, with any carriers.
KernelFunction BitcastKernel();
KernelFunction ReducePrecisionKernel();

// Make kernels from a stateless function of elements, whose last argument may be the context.
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
