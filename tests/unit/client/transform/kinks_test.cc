// The gradients at ties and kinks, compared with the table in hlod/tensor/autograd_kinks.md, which holds
// PyTorch's numbers (kinks/generate.py): on the host and on a device.
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Tensors = std::vector<Tensor>;
using Expression = std::function<Tensor(const Tensors&)>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor Like(const Tensor& x, const std::vector<float>& values) {
  return FromValues<float>(values, Dims{static_cast<int64_t>(values.size())}, x.device());
}
Tensor Pairs(const Tensor& x) { return FromValues<int64_t>({0, 0}, Dims{2}, x.device()); }

template <Tensor (*f)(const Operand&)>
Expression One() {
  return [](const Tensors& x) { return f(x[0]); };
}
template <Tensor (*f)(const Operand&, const Operand&)>
Expression Two() {
  return [](const Tensors& x) { return f(x[0], x[1]); };
}

std::map<std::string, Expression> Reductions() {
  return {
      {"Max(x)", One<Max>()},
      {"Min(x)", One<Min>()},
      {"Amax(x)", [](const Tensors& x) { return Amax(x[0]); }},
      {"Amin(x)", [](const Tensors& x) { return Amin(x[0]); }},
      {"Median(x)", One<Median>()},
      {"Nanmedian(x)", One<Nanmedian>()},
      {"Max(x, 0).values", [](const Tensors& x) { return Max(x[0], 0).values; }},
      {"Min(x, 0).values", [](const Tensors& x) { return Min(x[0], 0).values; }},
      {"Median(x, 0).values", [](const Tensors& x) { return Median(x[0], 0).values; }},
      {"Mode(x, 0).values", [](const Tensors& x) { return Mode(x[0], 0).values; }},
      {"Sort(x).values * w", [](const Tensors& x) { return Sort(x[0]).values * Like(x[0], {1, 2, 3, 4}); }},
      {"Quantile(x, 0.5)", [](const Tensors& x) { return Quantile(x[0], 0.5); }},
      {"Nanquantile(x, 0.5)", [](const Tensors& x) { return Nanquantile(x[0], 0.5); }},
      {"Cummax(x, 0).values", [](const Tensors& x) { return Cummax(x[0], 0).values; }},
      {"Cummin(x, 0).values", [](const Tensors& x) { return Cummin(x[0], 0).values; }},
      {"Norm(x, 1)", [](const Tensors& x) { return Norm(x[0], 1); }},
      {"Norm(x, 1.5)", [](const Tensors& x) { return Norm(x[0], 1.5); }},
      {"Norm(x, 2)", [](const Tensors& x) { return Norm(x[0], 2); }},
      {"Norm(x, inf)", [](const Tensors& x) { return Norm(x[0], kInfinity); }},
      {"Dist(x, y)", [](const Tensors& x) { return Dist(x[0], x[1]); }},
      {"Cdist(x, y)", [](const Tensors& x) { return Cdist(x[0].Unsqueeze(0), x[1].Unsqueeze(0)); }},
      {"Logsumexp(x, 0)", [](const Tensors& x) { return Logsumexp(x[0], 0); }},
      {"Softmax(x, 0) * w", [](const Tensors& x) { return Softmax(x[0], 0) * Like(x[0], {1, 2, 3, 4}); }},
      {"Normalize(x)", [](const Tensors& x) { return Normalize(x[0], 2, 0); }},
      {"Nansum(x)", [](const Tensors& x) { return Nansum(x[0]); }},
      {"Nanmean(x)", [](const Tensors& x) { return Nanmean(x[0]); }},
      {"Prod(x)", [](const Tensors& x) { return Prod(x[0]); }},
      {"Cumprod(x, 0)", [](const Tensors& x) { return Cumprod(x[0], 0); }},
      {"Std(x)", [](const Tensors& x) { return Std(x[0]); }},
      {"Renorm(x, 2, 0, 5)", [](const Tensors& x) { return Renorm(x[0].Unsqueeze(0), 2, 0, 5); }},
      {"MaxPool1d(x, 2)", [](const Tensors& x) { return MaxPool1d(x[0].Unsqueeze(0), 2); }},
      {"AdaptiveMaxPool1d(x, 1)",
       [](const Tensors& x) { return AdaptiveMaxPool1d(x[0].Unsqueeze(0), 1).values; }},
      {"ScatterReduce(x, 0, [0, 0], y, amax)",
       [](const Tensors& x) { return ScatterReduce(x[0], 0, Pairs(x[0]), x[1], ScatterReduction::kAmax); }},
      {"IndexReduce(x, 0, [0, 0], y, amax)",
       [](const Tensors& x) { return IndexReduce(x[0], 0, Pairs(x[0]), x[1], ScatterReduction::kAmax); }},
      {"ScatterReduce(x, 0, [0, 0], y, prod)",
       [](const Tensors& x) { return ScatterReduce(x[0], 0, Pairs(x[0]), x[1], ScatterReduction::kProd); }},
  };
}

std::map<std::string, Expression> Elementwise() {
  return {
      {"Maximum(x, y)", Two<Maximum>()},
      {"Minimum(x, y)", Two<Minimum>()},
      {"Fmax(x, y)", Two<Fmax>()},
      {"Fmin(x, y)", Two<Fmin>()},
      {"Clamp(x, 0, 1)", [](const Tensors& x) { return Clamp(x[0], Operand(0), Operand(1)); }},
      {"Clamp(x, 1, 0)", [](const Tensors& x) { return Clamp(x[0], Operand(1), Operand(0)); }},
      {"Clamp(x, y, z)", [](const Tensors& x) { return Clamp(x[0], Operand(x[1]), Operand(x[2])); }},
      {"Abs(x)", One<Abs>()},
      {"Sign(x)", One<Sign>()},
      {"Floor(x)", One<Floor>()},
      {"Round(x)", [](const Tensors& x) { return Round(x[0]); }},
      {"Trunc(x)", One<Trunc>()},
      {"Frac(x)", One<Frac>()},
      {"Copysign(x, y)", Two<Copysign>()},
      {"Remainder(x, y)", Two<Remainder>()},
      {"FloorDivide(x, y)", Two<FloorDivide>()},
      {"TruncDivide(x, y)", Two<TruncDivide>()},
      {"Fmod(x, y)", Two<Fmod>()},
      {"Sqrt(x)", One<Sqrt>()},
      {"Pow(x, y)", Two<Pow>()},
      {"Atan2(x, y)", Two<Atan2>()},
      {"Hypot(x, y)", Two<Hypot>()},
      {"Logaddexp(x, y)", Two<Logaddexp>()},
      {"Xlogy(x, y)", Two<Xlogy>()},
      {"Sinc(x)", One<Sinc>()},
      {"Real(Polar(x, y))", [](const Tensors& x) { return Real(Polar(x[0], x[1])); }},
      {"Logit(x)", [](const Tensors& x) { return Logit(x[0]); }},
      {"Logit(x, 0.25)", [](const Tensors& x) { return Logit(x[0], 0.25); }},
      {"NanToNum(x)", [](const Tensors& x) { return NanToNum(x[0]); }},
  };
}

std::map<std::string, Expression> ActivationsAndLosses() {
  return {
      {"Relu(x)", One<Relu>()},
      {"Relu6(x)", One<Relu6>()},
      {"Hardtanh(x)", [](const Tensors& x) { return Hardtanh(x[0]); }},
      {"Hardsigmoid(x)", One<Hardsigmoid>()},
      {"Hardswish(x)", One<Hardswish>()},
      {"LeakyRelu(x, 0.5)", [](const Tensors& x) { return LeakyRelu(x[0], 0.5); }},
      {"Prelu(x, y)", Two<Prelu>()},
      {"Elu(x, 2)", [](const Tensors& x) { return Elu(x[0], 2); }},
      {"Celu(x, 2)", [](const Tensors& x) { return Celu(x[0], 2); }},
      {"Selu(x)", One<Selu>()},
      {"Threshold(x, 1, 5)", [](const Tensors& x) { return Threshold(x[0], 1, 5); }},
      {"Hardshrink(x)", [](const Tensors& x) { return Hardshrink(x[0]); }},
      {"Softshrink(x)", [](const Tensors& x) { return Softshrink(x[0]); }},
      {"GaussianNllLoss(x, 0, y)",
       [](const Tensors& x) { return GaussianNllLoss(x[0], ZerosLike(x[0]), x[1]); }},
      {"L1Loss(x, y)", [](const Tensors& x) { return L1Loss(x[0], x[1]); }},
      {"SmoothL1Loss(x, y)", [](const Tensors& x) { return SmoothL1Loss(x[0], x[1]); }},
      {"HuberLoss(x, y)", [](const Tensors& x) { return HuberLoss(x[0], x[1]); }},
      {"MarginRankingLoss(x, y, 1)",
       [](const Tensors& x) { return MarginRankingLoss(x[0], x[1], Like(x[0], {1})); }},
      {"HingeEmbeddingLoss(x, -1)",
       [](const Tensors& x) { return HingeEmbeddingLoss(x[0], Like(x[0], {-1, -1})); }},
      {"MultiMarginLoss(x, 0)",
       [](const Tensors& x) {
         return MultiMarginLoss(x[0], Zeros({}, {.type = kS64, .device = x[0].device()}));
       }},
  };
}

struct Row {
  std::string expression;
  std::vector<std::vector<float>> operands, gradients;
};

std::vector<std::vector<float>> Lists(const std::string& text) {
  std::vector<std::vector<float>> lists;
  for (const auto& list : absl::StrSplit(text, ';')) {
    std::istringstream words{std::string(list)};
    lists.emplace_back();
    for (std::string word; words >> word;) lists.back().push_back(std::stof(word));
  }
  return lists;
}

// Returns the lines "| expression | operands | gradients |" after the heading.
std::vector<Row> Table() {
  std::ifstream file(SourceDir() / "client/include/hlod/tensor/autograd_kinks.md");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (cells.size() != 3 || cells[0] == "| expression") continue;
    rows.push_back({cells[0].substr(2), Lists(cells[1]), Lists(cells[2].substr(0, cells[2].rfind(" |")))});
  }
  return rows;
}

bool Near(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= 1e-4F * std::abs(y);
}

class Kinks : public TensorTest {
 protected:
  static void Check(const Row& row, const Expression& expression, const Device& device) {
    Tensors operands;
    for (const std::vector<float>& values : row.operands) {
      const Dims dims = {static_cast<int64_t>(values.size())};
      operands.push_back(FromValues<float>(values, dims, device).RequiresGrad_());
    }
    Sum(expression(operands)).Backward();
    ASSERT_EQ(operands.size(), row.gradients.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      const Tensor gradient = operands[i].Grad();
      ASSERT_TRUE(gradient.defined()) << "of operand " << i;
      const std::vector<float> found = gradient.ToVector<float>();
      const bool same = found.size() == row.gradients[i].size() &&
                        std::equal(found.begin(), found.end(), row.gradients[i].begin(), Near);
      EXPECT_TRUE(same) << "of operand " << i << ": " << gradient.ToString();
    }
  }
};

TEST_F(Kinks, HaveTheGradientsOfTheTable) {
  std::map<std::string, Expression> expressions = Reductions();
  expressions.merge(Elementwise());
  expressions.merge(ActivationsAndLosses());
  std::map<std::string, int> seen;
  for (const Row& row : Table()) {
    ++seen[row.expression];
    const auto found = expressions.find(row.expression);
    ASSERT_NE(found, expressions.end()) << row.expression;
    for (const Device& device : {Device(), this->device()}) {
      SCOPED_TRACE(absl::StrCat(row.expression, device.is_host() ? " on the host" : " on a device",
                                ", operands ", ::testing::PrintToString(row.operands)));
      Check(row, found->second, device);
    }
  }
  EXPECT_EQ(seen.size(), expressions.size()) << "the table has no line of an expression of this test";
}

}  // namespace
}  // namespace hlod
