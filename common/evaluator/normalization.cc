// batch-norm-training, -inference and -grad: computed in double, rounded once.
#include <cmath>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/evaluator/indexing.h"
#include "common/evaluator/rules.h"
#include "common/evaluator/wide.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

// The operand's elements, and which feature each belongs to.
struct Features {
  std::vector<double> x;
  int64_t count, step;  // Features, and elements from one to the next.

  Features(const Literal& operand, int64_t feature_index) : x(LoadAs<double>(operand)) {
    count = operand.shape().dims[feature_index];
    step = hlo::RowMajorStrides(operand.shape().dims)[feature_index];
  }
  int64_t FeatureOf(size_t i) const { return static_cast<int64_t>(i) / step % count; }
  double per_feature() const { return static_cast<double>(x.size()) / static_cast<double>(count); }

  // For each feature the mean of term(element, feature).
  template <typename Term>
  std::vector<double> Mean(Term term) const {
    std::vector<double> sums(count, 0);
    for (size_t i = 0; i < x.size(); ++i) sums[FeatureOf(i)] += term(i, FeatureOf(i));
    for (double& sum : sums) sum /= per_feature();
    return sums;
  }
};

absl::StatusOr<Literal> Stored(Evaluation& evaluation, const hlo::Shape& shape,
                               const std::vector<double>& values) {
  ASSIGN_OR_RETURN(Literal literal, evaluation.Allocate(shape));
  StoreAll(values, literal);
  return literal;
}

absl::StatusOr<Literal> StoredTriple(Evaluation& evaluation, Instruction instruction,
                                     const std::vector<double>& a, const std::vector<double>& b,
                                     const std::vector<double>& c) {
  const std::vector<double>* values[3] = {&a, &b, &c};
  std::vector<Literal> literals;
  for (int i = 0; i < 3; ++i) {
    ASSIGN_OR_RETURN(Literal literal, Stored(evaluation, instruction.shape().tuple[i], *values[i]));
    literals.push_back(std::move(literal));
  }
  return Literal::MakeTuple(std::move(literals));
}

std::vector<double> Normalized(const Features& features, const std::vector<double>& mean,
                               const std::vector<double>& variance, const std::vector<double>& scale,
                               const std::vector<double>& offset, double epsilon) {
  std::vector<double> y(features.x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t f = features.FeatureOf(i);
    y[i] = (features.x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }
  return y;
}

}  // namespace

absl::StatusOr<Literal> BatchNormTraining(Evaluation& evaluation, Instruction instruction,
                                          Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(operands[0], norm.feature_index);
  const std::vector<double> mean = features.Mean([&](size_t i, int64_t) { return features.x[i]; });
  const std::vector<double> variance = features.Mean(
      [&](size_t i, int64_t f) { return (features.x[i] - mean[f]) * (features.x[i] - mean[f]); });
  return StoredTriple(evaluation, instruction,
                      Normalized(features, mean, variance, LoadAs<double>(operands[1]),
                                 LoadAs<double>(operands[2]), norm.epsilon),
                      mean, variance);
}

absl::StatusOr<Literal> BatchNormInference(Evaluation& evaluation, Instruction instruction,
                                           Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(operands[0], norm.feature_index);
  return Stored(evaluation, instruction.shape(),
                Normalized(features, LoadAs<double>(operands[3]), LoadAs<double>(operands[4]),
                           LoadAs<double>(operands[1]), LoadAs<double>(operands[2]), norm.epsilon));
}

// With r = 1/sqrt(variance + epsilon) and h = (x - mean) r:
//   d offset = sum g,  d scale = sum g h,  d x = scale r (g - mean(g) - h mean(g h)).
absl::StatusOr<Literal> BatchNormGrad(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(operands[0], norm.feature_index);
  const std::vector<double> scale = LoadAs<double>(operands[1]), mean = LoadAs<double>(operands[2]),
                            variance = LoadAs<double>(operands[3]), g = LoadAs<double>(operands[4]);
  const auto r = [&](int64_t f) { return 1 / std::sqrt(variance[f] + static_cast<double>(norm.epsilon)); };
  const auto h = [&](size_t i, int64_t f) { return (features.x[i] - mean[f]) * r(f); };
  const std::vector<double> mean_g = features.Mean([&](size_t i, int64_t) { return g[i]; });
  const std::vector<double> mean_gh = features.Mean([&](size_t i, int64_t f) { return g[i] * h(i, f); });
  std::vector<double> dx(features.x.size()), dscale = mean_gh, doffset = mean_g;
  for (size_t i = 0; i < dx.size(); ++i) {
    const int64_t f = features.FeatureOf(i);
    dx[i] = scale[f] * r(f) * (g[i] - mean_g[f] - h(i, f) * mean_gh[f]);
  }
  for (double& d : dscale) d *= features.per_feature();
  for (double& d : doffset) d *= features.per_feature();
  return StoredTriple(evaluation, instruction, dx, dscale, doffset);
}

}  // namespace hlod::evaluator
