// Products of matrices and tensors, norms, distances.
#include "tests/unit/client/tensor/operation/bindings.h"

#include <stdexcept>

namespace hlod {
namespace {

Binding Product(const char* name, Tensor (*call)(const Operand&, const Operand&)) {
  return {name, "input other", [call](Arguments& a) { return call(a.Arg("input"), a.Arg("other")); }};
}

Binding Added(const char* name,
              Tensor (*call)(const Operand&, const Operand&, const Operand&, Scalar, Scalar)) {
  return {name, "input a b beta alpha", [call](Arguments& a) {
            return call(a.Arg("input"), a.Arg("a"), a.Arg("b"), a.Number("beta", 1), a.Number("alpha", 1));
          }};
}

}  // namespace

std::vector<Binding> AlgebraBindings() {
  return {
      Product("inner", Inner),
      Product("vdot", Vdot),
      Product("kron", Kron),
      Added("addmv", Addmv),
      Added("addr", Addr),
      Added("addbmm", Addbmm),
      Added("baddbmm", Baddbmm),
      {"cross", "input other dim",
       [](Arguments& a) { return Cross(a.Arg("input"), a.Arg("other"), a.MaybeInt("dim")); }},
      {"tensordot", "a b dims",
       [](Arguments& a) {
         const nlohmann::json& dims = a.Json("dims");
         if (!dims.is_array()) return Tensordot(a.Arg("a"), a.Arg("b"), a.Int("dims", 2));
         const std::vector<int64_t> left = dims[0], right = dims[1];
         return Tensordot(a.Arg("a"), a.Arg("b"), left, right);
       },
       4},  // PyTorch accumulates in bf16.
      {"dist", "input other p",
       [](Arguments& a) { return Dist(a.Arg("input"), a.Arg("other"), a.Double("p", 2)); }},
      {"cdist", "x1 x2 p compute_mode",
       [](Arguments& a) {
         a.Text("compute_mode", "");
         return Cdist(a.Arg("x1"), a.Arg("x2"), a.Double("p", 2));
       }},
      {"norm", "input p dim keepdim dtype",
       [](Arguments& a) {
         const bool named = a.Json("p").is_string();
         if (named && a.Text("p") == "nuc") {
           return linalg::NuclearNorm(a.Arg("input"), a.Ints("dim", Dims{-2, -1}), a.Bool("keepdim", false));
         }
         const double p = named ? 2 : a.Double("p", 2);
         return Norm(a.Arg("input"), p, a.Ints("dim", Dims()), a.Bool("keepdim", false), a.Type("dtype"));
       }},
      {"renorm", "input p dim maxnorm",
       [](Arguments& a) { return Renorm(a.Arg("input"), a.Double("p"), a.Int("dim"), a.Double("maxnorm")); }},
  };
}

}  // namespace hlod
