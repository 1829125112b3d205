// Initial values by torch.nn.init's formulas.
#include "hlod/nn/init.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/inplace.h"
#include "hlod/ops/linalg.h"
#include "hlod/ops/math.h"
#include "hlod/ops/random.h"
#include "hlod/ops/shape.h"
#include "hlod/ops/sorting.h"
#include "hlod/tensor/autograd.h"

namespace hlod::nn::init {
namespace {

void RequireRank(const char* what, const Tensor& x, int64_t least, int64_t most, const Caller& caller) {
  const auto rank = static_cast<int64_t>(x.dims().size());
  if (rank >= least && rank <= most) return;
  const std::string wanted = least == most ? absl::StrCat(least) : absl::StrCat("at least ", least);
  lazy::Throw(ErrorKind::kArgument,
              absl::StrCat("the parameter is ", hlo::ToStringNoLayout(x.shape()), ", and must have ", wanted,
                           " dimensions"),
              what, caller);
}

struct Fans {
  double in = 0, out = 0;
};
constexpr int64_t kAnyRank = 64;
Fans FansOf(const char* what, const Tensor& x, const Caller& caller) {
  RequireRank(what, x, 2, kAnyRank, caller);
  double window = 1;
  for (size_t dim = 2; dim < x.dims().size(); ++dim) window *= static_cast<double>(x.dims()[dim]);
  return {static_cast<double>(x.dims()[1]) * window, static_cast<double>(x.dims()[0]) * window};
}

double KaimingDeviation(const char* what, const Tensor& x, const KaimingOptions& options,
                        const Caller& caller) {
  const Fans fans = FansOf(what, x, caller);
  return CalculateGain(options.nonlinearity, options.a) /
         std::sqrt(options.mode == Fan::kIn ? fans.in : fans.out);
}

// Stores `value` in the parameter's type, hidden from derivatives.
Tensor& Store(Tensor& x, const Tensor& value, const Caller& caller) {
  return x.Copy_(Operand(value, caller));
}

Tensor NormalLike(const Tensor& x, Dims dims) {
  return Randn(dims, {.type = x.dtype(), .device = x.device()});
}

}  // namespace

double CalculateGain(Nonlinearity nonlinearity, double param) {
  switch (nonlinearity) {
    case Nonlinearity::kLinear:
    case Nonlinearity::kSigmoid: return 1;
    case Nonlinearity::kTanh: return 5.0 / 3;
    case Nonlinearity::kRelu: return std::sqrt(2.0);
    case Nonlinearity::kLeakyRelu: return std::sqrt(2.0 / (1 + param * param));
    case Nonlinearity::kSelu: return 3.0 / 4;
  }
  return 1;
}

Tensor& Uniform_(Tensor& x, double from, double to, Caller caller) {
  const NoGrad scope;
  return hlod::Uniform_(x, from, to, caller);
}
Tensor& Normal_(Tensor& x, double mean, double std, Caller caller) {
  const NoGrad scope;
  return hlod::Normal_(x, mean, std, caller);
}
Tensor& Constant_(Tensor& x, double value, Caller caller) {
  const NoGrad scope;
  return x.Fill_(Operand(value, caller));
}
Tensor& Ones_(Tensor& x, Caller caller) { return Constant_(x, 1, caller); }
Tensor& Zeros_(Tensor& x, Caller caller) { return Constant_(x, 0, caller); }

// Takes the distribution's quantiles of a uniform draw between the bounds' probabilities.
Tensor& TruncNormal_(Tensor& x, double mean, double std, double low, double high, Caller caller) {
  const NoGrad scope;
  const CallerScope line(caller);
  if (!(low < high) || !(std > 0)) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the bounds (", low, " and ", high, ") must be in order, and the deviation (",
                             std, ") above 0"),
                "trunc_normal_", caller);
  }
  const auto below = [&](double bound) { return std::erf((bound - mean) / std / std::sqrt(2.0)); };
  const Tensor drawn = Uniform(x.dims(), below(low), below(high), {.type = x.dtype(), .device = x.device()});
  return Store(x, Clamp(Erfinv(drawn) * (std * std::sqrt(2.0)) + mean, Operand(low), Operand(high)), caller);
}

Tensor& Eye_(Tensor& x, Caller caller) {
  RequireRank("eye_", x, 2, 2, caller);
  const NoGrad scope;
  const CallerScope line(caller);
  const Tensor rows = Arange(0, x.size(0), 1, {.type = kS64, .device = x.device()}).Unsqueeze(1);
  const Tensor columns = Arange(0, x.size(1), 1, {.type = kS64, .device = x.device()});
  return Store(x, Eq(rows, columns), caller);
}

Tensor& Dirac_(Tensor& x, int64_t groups, Caller caller) {
  RequireRank("dirac_", x, 3, 5, caller);
  if (groups < 1 || x.size(0) % groups != 0) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the ", x.size(0), " output channels cannot be divided by ", groups, " groups"),
                "dirac_", caller);
  }
  const NoGrad scope;
  x.Zero_();
  const int64_t outputs = x.size(0) / groups;
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t channel = 0; channel < std::min(outputs, x.size(1)); ++channel) {
      Tensor element = x.Select(0, group * outputs + channel).Select(0, channel);
      while (!element.dims().empty()) element = element.Select(0, element.size(0) / 2);
      element.Fill_(Operand(1, caller));
    }
  }
  return x;
}

Tensor& XavierUniform_(Tensor& x, double gain, Caller caller) {
  const Fans fans = FansOf("xavier_uniform_", x, caller);
  const double bound = gain * std::sqrt(6 / (fans.in + fans.out));
  return init::Uniform_(x, -bound, bound, caller);
}
Tensor& XavierNormal_(Tensor& x, double gain, Caller caller) {
  const Fans fans = FansOf("xavier_normal_", x, caller);
  return init::Normal_(x, 0, gain * std::sqrt(2 / (fans.in + fans.out)), caller);
}
Tensor& KaimingUniform_(Tensor& x, const KaimingOptions& options, Caller caller) {
  const double bound = std::sqrt(3.0) * KaimingDeviation("kaiming_uniform_", x, options, caller);
  return init::Uniform_(x, -bound, bound, caller);
}
Tensor& KaimingNormal_(Tensor& x, const KaimingOptions& options, Caller caller) {
  return init::Normal_(x, 0, KaimingDeviation("kaiming_normal_", x, options, caller), caller);
}

// Takes the Q of a random matrix, with each column's sign changed so that R has a positive diagonal: then
// every orthogonal matrix is equally likely.
Tensor& Orthogonal_(Tensor& x, double gain, Caller caller) {
  RequireRank("orthogonal_", x, 2, kAnyRank, caller);
  const NoGrad scope;
  const CallerScope line(caller);
  const int64_t rows = x.size(0), columns = rows == 0 ? 0 : x.numel() / rows;
  if (rows == 0 || columns == 0) return x;
  const Tensor drawn = NormalLike(x, {std::max(rows, columns), std::min(rows, columns)});
  const auto [q, r] = linalg::Qr(drawn);
  const Tensor turned = q * Sign(r.Diagonal());
  return Store(x, ((rows < columns ? turned.T() : turned) * gain).Reshape(x.dims()), caller);
}

Tensor& Sparse_(Tensor& x, double sparsity, double std, Caller caller) {
  RequireRank("sparse_", x, 2, 2, caller);
  RequireWithin(Limit::kUpToOne, "sparsity", sparsity, "sparse_", caller);
  const NoGrad scope;
  const CallerScope line(caller);
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(x.size(0))));
  // The zeros of a column are the first rows of a random order.
  const Tensor order = Argsort(Rand(x.dims(), {.device = x.device()}), 0);
  const Tensor place = Argsort(order, 0);
  return Store(x, Where(Lt(place, zeros), 0.0, NormalLike(x, x.dims()) * std), caller);
}

}  // namespace hlod::nn::init
