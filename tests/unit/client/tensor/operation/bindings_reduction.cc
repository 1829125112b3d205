// Reductions.
#include "tests/unit/client/tensor/operation/bindings.h"

#include <cmath>

namespace hlod {
namespace {

Binding Over(const char* name, Tensor (*call)(const Operand&, DimList, bool)) {
  return {name, "input dim keepdim", [call](Arguments& a) {
            return call(a.Arg("input"), a.Ints("dim", Dims()), a.Bool("keepdim", false));
          }};
}

// Accepts the forms of PyTorch's signature: (unbiased), (dim, unbiased, keepdim) and (dim, *, correction,
// keepdim).
template <typename F>
Binding DeviationBinding(const char* name, F call) {
  return {name, "input dim unbiased keepdim", [call](Arguments& a) {
            const bool flag_first = a.Json("dim").is_boolean();
            double correction = 1;
            if (flag_first) correction = a.Bool("dim") ? 1 : 0;
            else if (a.Has("unbiased")) correction = a.Bool("unbiased") ? 1 : 0;
            if (a.Has("correction")) correction = a.Double("correction");
            return Results(call(a.Arg("input"), flag_first ? Dims() : a.Ints("dim", Dims()), correction,
                                a.Bool("keepdim", false)));
          }};
}

Binding Extreme(const char* name, Tensor (*of_all)(const Operand&),
                ValuesAndIndices (*along)(const Operand&, int64_t, bool),
                Tensor (*elementwise)(const Operand&, const Operand&)) {
  return {name, "input dim keepdim", [of_all, along, elementwise](Arguments& a) -> Results {
            if (!a.Has("dim")) return of_all(a.Arg("input"));
            if (IsArray(a.Json("dim"))) return elementwise(a.Arg("input"), a.Arg("dim"));
            const ValuesAndIndices both = along(a.Arg("input"), a.Int("dim"), a.Bool("keepdim", false));
            return std::vector<Tensor>{both.values, both.indices};
          }};
}

// Converts the argument to the requested dtype first.
template <typename F>
Binding Typed(const char* name, F call) {
  return {name, "input dim keepdim dtype", [call](Arguments& a) {
            const std::optional<PrimitiveType> type = a.Type("dtype");
            Tensor input = a.Array("input");
            if (type.has_value()) input = input.To(*type);
            return call(input, a.Ints("dim", Dims()), a.Bool("keepdim", false));
          }};
}

}  // namespace

std::vector<Binding> ReductionBindings() {
  return {
      Typed("sum", Sum),
      Typed("mean", Mean),
      Typed("prod", Prod),
      Typed("nansum", Nansum),
      Typed("nanmean", Nanmean),
      Over("amax", Amax),
      Over("amin", Amin),
      Over("all", All),
      Over("any", Any),
      Over("logsumexp", Logsumexp),
      {"count_nonzero", "input dim",
       [](Arguments& a) { return CountNonzero(a.Arg("input"), a.Ints("dim", Dims())); }},
      {"trace", "input", [](Arguments& a) { return Trace(a.Arg("input")); }},
      DeviationBinding("var", Var),
      DeviationBinding("std", Std),
      DeviationBinding("var_mean", VarMean),
      DeviationBinding("std_mean", StdMean),
      {"linalg.vector_norm", "input ord dim keepdim dtype",
       [](Arguments& a) {
         return VectorNorm(a.Arg("input"), a.Double("ord", 2), a.Ints("dim", Dims()),
                           a.Bool("keepdim", false), a.Type("dtype"));
       }},
      {"aminmax", "input dim keepdim",
       [](Arguments& a) { return Aminmax(a.Arg("input"), a.MaybeInt("dim"), a.Bool("keepdim", false)); }},
      Extreme("max", Max, Max, Maximum),
      Extreme("min", Min, Min, Minimum),
      {"argmax", "input dim keepdim",
       [](Arguments& a) { return Argmax(a.Arg("input"), a.MaybeInt("dim"), a.Bool("keepdim", false)); }},
      {"argmin", "input dim keepdim",
       [](Arguments& a) { return Argmin(a.Arg("input"), a.MaybeInt("dim"), a.Bool("keepdim", false)); }},
      {"matmul", "input other", [](Arguments& a) { return MatMul(a.Arg("input"), a.Arg("other")); }},
  };
}

}  // namespace hlod
