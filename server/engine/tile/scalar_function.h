// Runs scalar computations (reducers, comparators, combiners) on blocks of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/hlo/module.h"

namespace hlod::engine {

// A scalar computation (reducer, comparator, combiner) compiled to run on blocks of elements: the general
// path of reduce, scatter, sort and reduce-window for computations that are not recognised. Computations with
// control flow or calls cannot be compiled in this way; their ScalarFunction is null.
class ScalarFunction {
 public:
  virtual ~ScalarFunction() = default;
  virtual int parameter_count() const = 0;
  virtual int result_count() const = 0;
  // Applies it `count` times: parameters[p] and results[r] point to `count` dense elements of their types.
  // Does not allocate memory. The results may be the parameters.
  virtual void Run(const std::byte* const* parameters, std::byte* const* results, int64_t count) const = 0;
};
std::unique_ptr<ScalarFunction> MakeScalarFunction(const hlo::Module& module, hlo::ComputationId computation);

}  // namespace hlod::engine
