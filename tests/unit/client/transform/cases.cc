// The functions of generate.py, written with hlod.
#include "tests/unit/client/transform/cases.h"

#include <cmath>

namespace hlod {
namespace {

using Ts = std::vector<Tensor>;

Tensor On(const Tensor& like, const std::vector<int64_t>& values, Dims dims) {
  return FromValues<int64_t>(values, std::move(dims), like.device());
}
Tensor Index(const Tensor& like) { return On(like, {2, 0, 2, 1}, {4}); }
Tensor Grid(const Tensor& like) { return On(like, {0, 2, 1, 1, 1, 0}, {2, 3}); }

Tensor Identity(const Tensor& like, int64_t n) {
  return Eye(n, {}, {.type = like.dtype(), .device = like.device()});
}

// Returns cos(0), cos(1), ... in x's shape.
Tensor Weights(const Tensor& x) {
  return Cos(Arange(0, x.numel(), 1, {.type = kF64, .device = x.device()})).Reshape(x.dims());
}

Tensor InPlace(const Tensor& x) {
  Tensor y = x * 2;
  y.Select(0, 0).Mul_(x.Select(0, 1));
  y.Select(1, 1).Copy_(Exp(x.Select(1, 0)));
  y += x;
  return y;
}

template <typename F>
Function One(F f) {
  return [f](const Ts& x) { return f(x[0]); };
}
template <typename F>
Function Two(F f) {
  return [f](const Ts& x) { return f(x[0], x[1]); };
}

using Cases = std::map<std::string, Function>;
using T = const Tensor&;

Cases ElementwiseCases() {
  return {
      {"abs", One([](T x) { return Abs(x); })},
      {"acos", One([](T x) { return Acos(x); })},
      {"acosh", One([](T x) { return Acosh(x); })},
      {"asin", One([](T x) { return Asin(x); })},
      {"asinh", One([](T x) { return Asinh(x); })},
      {"atan", One([](T x) { return Atan(x); })},
      {"atanh", One([](T x) { return Atanh(x); })},
      {"cosh", One([](T x) { return Cosh(x); })},
      {"sinh", One([](T x) { return Sinh(x); })},
      {"cos", One([](T x) { return Cos(x); })},
      {"sin", One([](T x) { return Sin(x); })},
      {"tan", One([](T x) { return Tan(x); })},
      {"tanh", One([](T x) { return Tanh(x); })},
      {"erf", One([](T x) { return Erf(x); })},
      {"exp", One([](T x) { return Exp(x); })},
      {"expm1", One([](T x) { return Expm1(x); })},
      {"log", One([](T x) { return Log(x); })},
      {"log1p", One([](T x) { return Log1p(x); })},
      {"sigmoid", One([](T x) { return Sigmoid(x); })},
      {"sqrt", One([](T x) { return Sqrt(x); })},
      {"rsqrt", One([](T x) { return Rsqrt(x); })},
      {"neg", One([](T x) { return Neg(x); })},
      {"floor", One([](T x) { return Floor(x) * x; })},
      {"add_broadcast", Two([](T x, T y) { return x + y; })},
      {"sub_alpha", Two([](T x, T y) { return Sub(x, y, 3); })},
      {"mul_broadcast", Two([](T x, T y) { return x * y; })},
      {"mul_self", One([](T x) { return x * x; })},
      {"div", Two([](T x, T y) { return x / y; })},
      {"pow", Two([](T x, T y) { return Pow(x, y); })},
      {"pow_number", One([](T x) { return Pow(x, 3); })},
      {"fmod", Two([](T x, T y) { return Fmod(x, y); })},
      {"atan2", Two([](T x, T y) { return Atan2(x, y); })},
      {"maximum", Two([](T x, T y) { return Maximum(x, y); })},
      {"minimum", Two([](T x, T y) { return Minimum(x, y); })},
  };
}

Cases ActivationsAndReductionsCases() {
  return {
      {"relu", One([](T x) { return Relu(x); })},
      {"relu6", One([](T x) { return Relu6(x); })},
      {"hardtanh", One([](T x) { return Hardtanh(x); })},
      {"hardsigmoid", One([](T x) { return Hardsigmoid(x); })},
      {"hardswish", One([](T x) { return Hardswish(x); })},
      {"leaky_relu", One([](T x) { return LeakyRelu(x, 0.1); })},
      {"elu", One([](T x) { return Elu(x); })},
      {"selu", One([](T x) { return Selu(x); })},
      {"silu", One([](T x) { return Silu(x); })},
      {"gelu", One([](T x) { return Gelu(x); })},
      {"softplus", One([](T x) { return Softplus(x); })},
      {"logsigmoid", One([](T x) { return Logsigmoid(x); })},
      {"mish", One([](T x) { return Mish(x); })},
      {"clamp", One([](T x) { return Clamp(x, -1, 1); })},
      {"where", Two([](T x, T y) { return Where(Gt(x, 0), x * y, y); })},
      {"logaddexp", Two([](T x, T y) { return Logaddexp(x, y); })},
      {"sum", One([](T x) { return Sum(x, {1}); })},
      {"mean", One([](T x) {
         return Mean(x, {0, 2});
       })},
      {"prod", One([](T x) { return Prod(x, {1}); })},
      {"amax", One([](T x) { return Amax(x, {1}); })},
      {"amin", One([](T x) { return Amin(x, {0}); })},
      {"logsumexp", One([](T x) { return Logsumexp(x, {1}); })},
      {"softmax", One([](T x) { return Softmax(x, 1); })},
      {"log_softmax", One([](T x) { return LogSoftmax(x, 0); })},
      {"var", One([](T x) { return Var(x, {1}); })},
      {"norm", One([](T x) { return VectorNorm(x, 2, {1}); })},
      {"cross_entropy", One([](T x) { return CrossEntropy(x, Index(x)); })},
      {"mse_loss", Two([](T x, T y) { return MseLoss(x, y); })},
  };
}

Cases ProductsAndPoolingCases() {
  return {
      {"matmul", Two([](T x, T y) { return MatMul(x, y); })},
      {"matmul_batch", Two([](T x, T y) { return MatMul(x, y); })},
      {"matmul_broadcast", Two([](T x, T y) { return MatMul(x, y); })},
      {"cholesky", One([](T x) { return linalg::Cholesky(MatMul(x, x.T()) + Identity(x, 3)); })},
      {"cholesky_upper",
       One([](T x) { return linalg::Cholesky(MatMul(x, x.Transpose(-1, -2)) + Identity(x, 2), true); })},
      {"solve_triangular",
       Two([](T a, T b) { return linalg::SolveTriangular(a + 2 * Identity(a, 3), b, false); })},
      {"solve_triangular_right",
       Two([](T a, T b) { return linalg::SolveTriangular(a + 2 * Identity(a, 3), b, true, false); })},
      {"solve_triangular_unit",
       Two([](T a, T b) { return linalg::SolveTriangular(a, b, true, true, true); })},
      {"solve", Two([](T a, T b) { return linalg::Solve(a + 2 * Identity(a, 3), b); })},
      {"inv", One([](T a) { return linalg::Inv(a + 2 * Identity(a, 3)); })},
      {"logdet", One([](T a) { return linalg::Slogdet(a + 2 * Identity(a, 3)).second; })},
      {"matmul_vector", Two([](T x, T y) { return MatMul(x, y); })},
      {"linear", [](const Ts& x) { return Linear(x[0], x[1], x[2]); }},
      {"einsum", Two([](T x, T y) {
         return Einsum("bij,kjb->ikb", {x, y});
       })},
      {"conv1d", Two([](T x, T w) { return Conv1d(x, w, {}, {.stride = 2, .padding = 1}); })},
      {"conv2d", [](const Ts& x) { return Conv2d(x[0], x[1], x[2], {.padding = 1}); }},
      {"conv2d_dilated", Two([](T x, T w) {
         return Conv2d(x, w, {}, {.stride = {2, 1}, .dilation = {1, 2}});
       })},
      {"conv2d_groups", Two([](T x, T w) { return Conv2d(x, w, {}, {.padding = 1, .groups = 2}); })},
      {"conv_transpose2d", Two([](T x, T w) { return ConvTranspose2d(x, w, {}, {.stride = 2}); })},
      {"max_pool2d", One([](T x) { return MaxPool2d(x, 2); })},
      {"max_pool2d_overlap", One([](T x) { return MaxPool2d(x, 3, {.stride = 2, .padding = 1}); })},
      {"avg_pool2d", One([](T x) { return AvgPool2d(x, 2, {.stride = 1, .padding = 1}); })},
  };
}

Cases MovementCases() {
  return {
      {"reshape", One([](T x) {
         return x.Reshape({3, 2}) * x.Reshape({3, 2});
       })},
      {"permute", One([](T x) {
         return Exp(x.Permute({2, 0, 1}));
       })},
      {"slice", One([](T x) { return Exp(x.Slice(1, 1, 6, 2)); })},
      {"select", One([](T x) { return Exp(x.Select(0, 1)); })},
      {"expand", One([](T x) {
         return Exp(x.Expand({3, 2}));
       })},
      {"cat", Two([](T x, T y) {
         return Exp(Cat({x, y, x}, 1));
       })},
      {"stack", Two([](T x, T y) {
         return Exp(Stack({x, y}, 1));
       })},
      {"pad", One([](T x) {
         return Exp(Pad(x, {1, 2, 0, 1}, PadMode::kConstant, 2.0));
       })},
      {"flip", One([](T x) {
         return Exp(Flip(x, {0, 1}));
       })},
      {"roll", One([](T x) { return Exp(Roll(x, {1}, {1})); })},
      {"diagonal", One([](T x) { return Exp(x.Diagonal()); })},
      {"unfold", One([](T x) { return Exp(x.Unfold(0, 3, 1)); })},
      {"tril", One([](T x) { return Exp(Tril(x)); })},
      {"index_select", One([](T x) { return Exp(IndexSelect(x, 0, Index(x))); })},
      {"gather", One([](T x) { return Exp(Gather(x, 1, Grid(x))); })},
      {"embedding", One([](T w) { return Exp(Embedding(Grid(w), w)); })},
      {"scatter_add", Two([](T x, T s) { return Exp(ScatterAdd(x, 1, Grid(x), s)); })},
      {"index_add", Two([](T x, T s) { return Exp(IndexAdd(x, 0, Index(x), s)); })},
      {"index_copy", Two([](T x, T s) {
         return Exp(IndexCopy(x, 0, On(x, {2, 0}, {2}), s));
       })},
      {"masked_fill", One([](T x) { return Exp(MaskedFill(x, Gt(x, 0), 3.0)); })},
      {"sort", One([](T x) { return Exp(Sort(x, 1, true).values); })},
      {"topk", One([](T x) { return Exp(Topk(x, 2, 1).values); })},
  };
}

Cases ComposedCases() {
  return {
      {"layer_norm", [](const Ts& x) { return LayerNorm(x[0], {4}, x[1], x[2]); }},
      {"group_norm", [](const Ts& x) { return GroupNorm(x[0], 2, x[1], x[2]); }},
      {"attention", [](const Ts& x) { return ScaledDotProductAttention(x[0], x[1], x[2]); }},
      {"mlp",
       [](const Ts& x) { return CrossEntropy(MatMul(Tanh(MatMul(x[0], x[1]) + x[2]), x[3]), Index(x[0])); }},
      // Functions that have a built-in derivative.
      {"erfinv", One([](T x) { return Erfinv(x); })},
      {"lgamma", One([](T x) { return Lgamma(x); })},
      {"sinc", One([](T x) { return Sinc(x); })},
      {"xlogy", Two([](T x, T y) { return Xlogy(x, y); })},
      {"binary_cross_entropy", Two([](T x, T y) { return BinaryCrossEntropy(x, y); })},
      {"std", One([](T x) { return Std(x, {1}); })},
      {"norm_3", One([](T x) { return VectorNorm(x, 3, {1}); })},
      {"max_dim", One([](T x) { return Max(x, 1).values; })},
      {"max_pool2d_with_indices", One([](T x) { return MaxPool2dWithIndices(x, 2, {.stride = 1}).values; })},
      {"adaptive_max_pool2d", One([](T x) { return AdaptiveMaxPool2d(x, 2).values; })},
      {"det", One([](T x) { return linalg::Det(x); })},
      {"slogdet", One([](T x) { return linalg::Slogdet(x).second; })},
      {"qr", One([](T x) {
         const auto [q, r] = linalg::Qr(x);
         return Sum(Weights(q) * q) + Sum(Weights(r) * r);
       })},
      {"svdvals", One([](T x) { return linalg::Svdvals(x); })},
      {"eigvalsh", One([](T x) { return linalg::Eigvalsh(x + x.Transpose(0, 1)); })},
      {"pinv", One([](T x) { return linalg::Pinv(x); })},
      {"ctc_loss", One([](T x) {
         const Tensor targets = On(x, {1, 2, 2, 1, 1, 0}, {2, 3});
         return CtcLoss(LogSoftmax(x, 2), targets, {6, 5}, {3, 2}, 0, Reduction::kSum);
       })},
      {"in_place", One([](T x) { return InPlace(x); })},
  };
}

}  // namespace

const std::map<std::string, Function>& DerivativeCases() {
  static const auto* const cases = [] {
    auto* const all = new Cases;
    for (Cases family : {ElementwiseCases(), ActivationsAndReductionsCases(), ProductsAndPoolingCases(),
                         MovementCases(), ComposedCases()})
      all->merge(family);
    return all;
  }();
  return *cases;
}

}  // namespace hlod
