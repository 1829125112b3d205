// Reductions.
#include "tests/tensor/operation/bindings.h"

namespace hlod {

std::vector<Binding> ReductionBindings() {
  return {
      {"sum", "input dim keepdim",
       [](Arguments& a) { return Sum(a.Arg("input"), a.Ints("dim", Dims()), a.Bool("keepdim", false)); }},
      {"mean", "input dim keepdim",
       [](Arguments& a) { return Mean(a.Arg("input"), a.Ints("dim", Dims()), a.Bool("keepdim", false)); }},
      {"matmul", "input other", [](Arguments& a) { return MatMul(a.Arg("input"), a.Arg("other")); }},
  };
}

}  // namespace hlod
