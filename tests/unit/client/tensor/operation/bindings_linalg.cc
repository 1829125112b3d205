// torch.linalg.
#include "tests/unit/client/tensor/operation/bindings.h"

#include <algorithm>

namespace hlod {
namespace {

using Parts = std::vector<Tensor>;

// Factorizations, and values computed from them, are rounded differently here than in PyTorch.
constexpr double kSlack = 20;

Results Both(const linalg::WithInfo& both) { return Parts{both.result, both.info}; }

// torch.linalg.norm and matrix_norm: the order is a number, "fro", or absent.
Tensor MatrixNormOf(Arguments& a, const Tensor& x, const Dims& dims, bool keepdim) {
  const nlohmann::json& order = a.Json("ord");
  if (!order.is_string()) return linalg::MatrixNorm(x, a.Double("ord"), dims, keepdim);
  if (order.get<std::string>() == "nuc") return linalg::NuclearNorm(x, dims, keepdim);
  return linalg::FrobeniusNorm(x, dims, keepdim);
}

// hlod's tolerances are numbers: returns the element of a recorded tensor.
double NumberOf(Arguments& a, const char* name) {
  return IsArray(a.Json(name)) ? a.Array(name).Item<double>() : a.Double(name);
}
linalg::Tolerance ToleranceOf(Arguments& a) {
  linalg::Tolerance tolerance;
  if (a.Has("atol")) tolerance.absolute = NumberOf(a, "atol");
  if (a.Has("rtol")) tolerance.relative = NumberOf(a, "rtol");
  a.Json("atol");
  a.Json("rtol");
  return tolerance;
}

// Multiplies the vectors by the phases that make their first row positive, as in the recorded ones.
Tensor Unit(const Tensor& x) { return Sgn(x.Narrow(-2, 0, std::min<int64_t>(x.size(-2), 1))); }
Results WithoutPhases(const linalg::EighParts& parts) {
  return Parts{parts.values, parts.vectors * Conj(Unit(parts.vectors))};
}
// Returns, too, the products of all left and of all right vectors, which are identities.
Results WithoutPhases(const linalg::SvdParts& parts) {
  const int64_t k = parts.s.size(-1);
  const Tensor u = parts.u.Narrow(-1, 0, k), vh = parts.vh.Narrow(-2, 0, k), phases = Unit(u);
  const auto products = [](const Tensor& x) { return MatMul(x, Conj(x.Transpose(-2, -1))).Detach(); };
  return Parts{u * Conj(phases), parts.s, phases.Transpose(-2, -1) * vh, products(parts.u),
               products(parts.vh)};
}

// Returns torch.linalg.lstsq's four results; those that a driver does not compute are empty.
Results LeastSquaresOf(Arguments& a) {
  const std::string driver = a.Text("driver");
  const Tensor x = a.Array("input"), b = a.Array("b"), none = Zeros({0}, {.device = x.device()});
  const linalg::LeastSquares found = linalg::Lstsq(x, b);
  const bool full_rank_only = driver == "gels", residuals = driver != "gelsy" && x.size(-2) > x.size(-1);
  return Parts{found.solution, residuals ? found.residuals : none,
               full_rank_only ? none.To(kS64) : found.rank,
               driver == "gelsd" || driver == "gelss" ? linalg::Svdvals(x.Detach()) : none};
}

Tensor NormOf(Arguments& a) {
  const Tensor x = a.Array("input");
  const bool keepdim = a.Bool("keepdim", false), ordered = a.Has("ord");
  const Dims dims = a.Ints("dim", Dims{});
  if (!ordered) {
    a.Json("ord");
    return VectorNorm(x, 2, dims, keepdim);
  }
  if (dims.size() == 2 || (dims.empty() && x.rank() == 2)) {
    return MatrixNormOf(a, x, dims.empty() ? Dims{0, 1} : dims, keepdim);
  }
  return VectorNorm(x, a.Double("ord"), dims, keepdim);
}

}  // namespace

std::vector<Binding> DecompositionBindings() {
  return {
      {"linalg.cholesky", "input upper",
       [](Arguments& a) { return linalg::Cholesky(a.Arg("input"), a.Bool("upper", false)); }, kSlack},
      {"linalg.cholesky_ex", "input upper check_errors",
       [](Arguments& a) { return Both(linalg::CholeskyEx(a.Arg("input"), a.Bool("upper", false))); }, kSlack},
      {"linalg.lu", "input pivot",
       [](Arguments& a) {
         a.Bool("pivot", true);
         const linalg::LuParts parts = linalg::Lu(a.Arg("input"));
         return Parts{parts.p, parts.l, parts.u};
       },
       kSlack},
      {"linalg.lu_factor", "input pivot",
       [](Arguments& a) {
         a.Bool("pivot", true);
         const linalg::LuFactors factors = linalg::LuFactorEx(a.Arg("input"));
         return Parts{factors.lu, factors.pivots};
       },
       kSlack},
      {"linalg.lu_factor_ex", "input pivot check_errors",
       [](Arguments& a) {
         a.Bool("pivot", true);
         const linalg::LuFactors factors = linalg::LuFactorEx(a.Arg("input"));
         return Parts{factors.lu, factors.pivots, factors.info};
       },
       kSlack},
      {"linalg.lu_solve", "LU pivots B left adjoint",
       [](Arguments& a) {
         return linalg::LuSolve(a.Arg("LU"), a.Arg("pivots"), a.Arg("B"), a.Bool("left", true),
                                a.Bool("adjoint", false));
       },
       kSlack},
      {"linalg.solve", "input other",
       [](Arguments& a) { return linalg::Solve(a.Arg("input"), a.Arg("other")); }, kSlack},
      {"linalg.solve_ex", "input other",
       [](Arguments& a) { return Both(linalg::SolveEx(a.Arg("input"), a.Arg("other"))); }, kSlack},
      {"linalg.inv", "input", [](Arguments& a) { return linalg::Inv(a.Arg("input")); }, kSlack},
      {"linalg.inv_ex", "input", [](Arguments& a) { return Both(linalg::InvEx(a.Arg("input"))); }, kSlack},
      {"linalg.solve_triangular", "input other upper left unitriangular",
       [](Arguments& a) {
         return linalg::SolveTriangular(a.Arg("input"), a.Arg("other"), a.Bool("upper"), a.Bool("left", true),
                                        a.Bool("unitriangular", false));
       },
       kSlack},
      {"linalg.det", "input", [](Arguments& a) { return linalg::Det(a.Arg("input")); }, kSlack},
      {"linalg.slogdet", "input", [](Arguments& a) { return linalg::Slogdet(a.Arg("input")); }, kSlack},
      {"logdet", "input", [](Arguments& a) { return linalg::Logdet(a.Arg("input")); }, kSlack},
  };
}

std::vector<Binding> OldLinalgBindings() {
  return {
      {"cholesky", "input upper",
       [](Arguments& a) { return linalg::Cholesky(a.Arg("input"), a.Bool("upper", false)); }, kSlack},
      {"cholesky_inverse", "input upper",
       [](Arguments& a) { return linalg::CholeskyInverse(a.Array("input"), a.Bool("upper", false)); },
       kSlack},
      {"cholesky_solve", "input input2 upper",
       [](Arguments& a) {
         return linalg::CholeskySolve(a.Array("input"), a.Array("input2"), a.Bool("upper", false));
       },
       kSlack},
      {"lu", "input pivot get_infos",
       [](Arguments& a) {
         a.Bool("pivot", true);
         const linalg::LuFactors factors = linalg::LuFactorEx(a.Arg("input"));
         Parts parts = {factors.lu, factors.pivots};
         if (a.Bool("get_infos", false)) parts.push_back(factors.info);
         return parts;
       },
       kSlack},
      {"lu_solve", "b LU_data LU_pivots",
       [](Arguments& a) { return linalg::LuSolve(a.Arg("LU_data"), a.Arg("LU_pivots"), a.Arg("b")); },
       kSlack},
      {"lu_unpack", "LU_data LU_pivots",
       [](Arguments& a) {
         const linalg::LuParts parts = linalg::LuUnpack(a.Arg("LU_data"), a.Arg("LU_pivots"));
         return Parts{parts.p, parts.l, parts.u};
       },
       kSlack},
      {"triangular_solve", "b A upper transpose unitriangular",
       [](Arguments& a) {
         const Tensor triangle = a.Array("A");
         return Parts{linalg::SolveTriangular(triangle, a.Arg("b"), a.Bool("upper", true)), triangle};
       },
       kSlack},
  };
}

std::vector<Binding> MatrixFunctionBindings() {
  return {
      {"qr", "input some", [](Arguments& a) { return linalg::Qr(a.Arg("input")); }, kSlack},
      {"linalg.svdvals", "input", [](Arguments& a) { return linalg::Svdvals(a.Arg("input")); }, kSlack},
      {"linalg.eigvalsh", "input UPLO",
       [](Arguments& a) { return linalg::Eigvalsh(a.Arg("input"), a.Text("UPLO", "L") == "U"); }, kSlack},
      {"linalg.cond", "input", [](Arguments& a) { return linalg::Cond(a.Arg("input")); }, kSlack},
      {"linalg.matrix_rank", "input atol rtol hermitian",
       [](Arguments& a) {
         return linalg::MatrixRank(a.Arg("input"), ToleranceOf(a), a.Bool("hermitian", false));
       }},
      {"linalg.pinv", "input other atol rtol hermitian",
       [](Arguments& a) {
         Tensor x = a.Array("input");
         if (a.Has("other")) x = MatMul(x, a.Array("other").Transpose(-2, -1));
         return linalg::Pinv(x, ToleranceOf(a), a.Bool("hermitian", false));
       },
       kSlack},
      {"pinverse", "input", [](Arguments& a) { return linalg::Pinv(a.Arg("input")); }, kSlack},
      {"linalg.qr", "input mode", [](Arguments& a) { return linalg::Qr(a.Arg("input")); }, kSlack},
      {"linalg.householder_product", "input tau",
       [](Arguments& a) { return linalg::HouseholderProduct(a.Arg("input"), a.Arg("tau")); }, kSlack},
      {"linalg.matrix_power", "input n",
       [](Arguments& a) { return linalg::MatrixPower(a.Arg("input"), a.Int("n")); }, kSlack},
      {"matrix_exp", "input", [](Arguments& a) { return linalg::MatrixExp(a.Arg("input")); }, kSlack},
      {"geqrf", "input",
       [](Arguments& a) {
         const linalg::ReflectionParts parts = linalg::Geqrf(a.Arg("input"));
         return Parts{parts.a, parts.tau};
       },
       kSlack},
      {"ormqr", "input tau other left transpose",
       [](Arguments& a) {
         return linalg::Ormqr(a.Arg("input"), a.Arg("tau"), a.Arg("other"), a.Bool("left", true),
                              a.Bool("transpose", false));
       },
       kSlack},
  };
}

std::vector<Binding> SpectralBindings() {
  return {
      {"linalg.eig", "input",
       [](Arguments& a) {
         const linalg::EigenParts parts = linalg::Eig(a.Arg("input"));
         return WithoutPhases(linalg::EighParts{parts.values, parts.vectors});
       },
       kSlack},
      {"linalg.eigvals", "input", [](Arguments& a) { return linalg::Eigvals(a.Arg("input")); }, kSlack},
      {"linalg.eigh", "input UPLO",
       [](Arguments& a) { return WithoutPhases(linalg::Eigh(a.Arg("input"), a.Text("UPLO", "L") == "U")); },
       kSlack},
      {"symeig", "input eigenvectors upper",
       [](Arguments& a) {
         a.Bool("eigenvectors", false);
         return WithoutPhases(linalg::Eigh(a.Arg("input"), a.Bool("upper", true)));
       },
       kSlack},
      {"linalg.svd", "input full_matrices driver",
       [](Arguments& a) { return WithoutPhases(linalg::Svd(a.Arg("input"), a.Bool("full_matrices", true))); },
       kSlack},
      {"svd", "input some compute_uv",
       [](Arguments& a) { return WithoutPhases(linalg::Svd(a.Arg("input"), !a.Bool("some", true))); },
       kSlack},
      {"linalg.lstsq", "input b driver", LeastSquaresOf, kSlack},
      {"linalg.lstsq.grad_oriented", "input b driver",
       [](Arguments& a) {
         a.Text("driver");
         return linalg::Lstsq(a.Arg("input"), a.Arg("b")).solution;
       },
       kSlack},
      {"linalg.multi_dot", "tensors", [](Arguments& a) { return linalg::MultiDot(a.Arrays("tensors")); }},
      {"linalg.tensorinv", "input ind",
       [](Arguments& a) { return linalg::Tensorinv(a.Array("input"), a.Int("ind", 2)); }, kSlack},
      {"linalg.tensorsolve", "input other dims",
       [](Arguments& a) {
         return linalg::Tensorsolve(a.Array("input"), a.Array("other"), a.Ints("dims", Dims{}));
       },
       kSlack},
      {"linalg.cross", "input other dim",
       [](Arguments& a) { return linalg::Cross(a.Arg("input"), a.Arg("other"), a.Int("dim", -1)); }},
      {"linalg.vecdot", "input other dim",
       [](Arguments& a) { return linalg::Vecdot(a.Arg("input"), a.Arg("other"), a.Int("dim", -1)); }},
      {"linalg.vander", "input N",
       [](Arguments& a) { return linalg::Vander(a.Arg("input"), a.MaybeInt("N")); }},
      {"linalg.matrix_norm", "input ord dim keepdim",
       [](Arguments& a) {
         return MatrixNormOf(a, a.Array("input"), a.Ints("dim", Dims{-2, -1}), a.Bool("keepdim", false));
       }},
      {"linalg.norm", "input ord dim keepdim", [](Arguments& a) { return NormOf(a); }},
  };
}

}  // namespace hlod
