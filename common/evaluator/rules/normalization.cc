// batch-norm-training, -inference and -grad: computed in double, rounded once.
#include <cmath>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

// The operand's elements, and the feature of each.
struct Features {
  std::vector<double> x;
  int64_t count, step;  // The number of features, and the distance of a feature's next element.

  Evaluation& evaluation;

  Features(Evaluation& evaluation, const Literal& operand, int64_t feature_index)
      : x(LoadAs<double>(operand)), evaluation(evaluation) {
    count = operand.shape().dims[feature_index];
    step = hlo::RowMajorStrides(operand.shape().dims)[feature_index];
  }
  int64_t FeatureOf(size_t i) const { return static_cast<int64_t>(i) / step % count; }
  double per_feature() const { return static_cast<double>(x.size()) / static_cast<double>(count); }

  // Calls visit(element, feature) for each element.
  template <typename Visit>
  absl::Status ForEach(Visit visit) const {
    return evaluation.InBlocks(static_cast<int64_t>(x.size()), 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) visit(static_cast<size_t>(i), FeatureOf(i));
    });
  }

  // Returns, for each feature, the mean of term(element, feature).
  template <typename Term>
  absl::StatusOr<std::vector<double>> Mean(Term term) const {
    std::vector<double> sums(count, 0);
    RETURN_IF_ERROR(ForEach([&](size_t i, int64_t f) { sums[f] += term(i, f); }));
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

absl::StatusOr<std::vector<double>> Normalized(const Features& features, const std::vector<double>& mean,
                                               const std::vector<double>& variance,
                                               const std::vector<double>& scale,
                                               const std::vector<double>& offset, double epsilon) {
  std::vector<double> y(features.x.size());
  RETURN_IF_ERROR(features.ForEach([&](size_t i, int64_t f) {
    y[i] = (features.x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }));
  return y;
}

}  // namespace

absl::StatusOr<Literal> BatchNormTraining(Evaluation& evaluation, Instruction instruction,
                                          Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(evaluation, operands[0], norm.feature_index);
  ASSIGN_OR_RETURN(const std::vector<double> mean,
                   features.Mean([&](size_t i, int64_t) { return features.x[i]; }));
  ASSIGN_OR_RETURN(const std::vector<double> variance, features.Mean([&](size_t i, int64_t f) {
    return (features.x[i] - mean[f]) * (features.x[i] - mean[f]);
  }));
  ASSIGN_OR_RETURN(const std::vector<double> y,
                   Normalized(features, mean, variance, LoadAs<double>(operands[1]),
                              LoadAs<double>(operands[2]), norm.epsilon));
  return StoredTriple(evaluation, instruction, y, mean, variance);
}

absl::StatusOr<Literal> BatchNormInference(Evaluation& evaluation, Instruction instruction,
                                           Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(evaluation, operands[0], norm.feature_index);
  ASSIGN_OR_RETURN(const std::vector<double> y,
                   Normalized(features, LoadAs<double>(operands[3]), LoadAs<double>(operands[4]),
                              LoadAs<double>(operands[1]), LoadAs<double>(operands[2]), norm.epsilon));
  return Stored(evaluation, instruction.shape(), y);
}

// With r = 1/sqrt(variance + epsilon) and h = (x - mean) r:
//   d offset = sum g,  d scale = sum g h,  d x = scale r (g - mean(g) - h mean(g h)).
absl::StatusOr<Literal> BatchNormGrad(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& norm = instruction.attributes<hlo::BatchNormAttributes>();
  const Features features(evaluation, operands[0], norm.feature_index);
  const std::vector<double> scale = LoadAs<double>(operands[1]), mean = LoadAs<double>(operands[2]),
                            variance = LoadAs<double>(operands[3]), g = LoadAs<double>(operands[4]);
  const auto r = [&](int64_t f) { return 1 / std::sqrt(variance[f] + static_cast<double>(norm.epsilon)); };
  const auto h = [&](size_t i, int64_t f) { return (features.x[i] - mean[f]) * r(f); };
  ASSIGN_OR_RETURN(const std::vector<double> mean_g, features.Mean([&](size_t i, int64_t) { return g[i]; }));
  ASSIGN_OR_RETURN(const std::vector<double> mean_gh,
                   features.Mean([&](size_t i, int64_t f) { return g[i] * h(i, f); }));
  std::vector<double> dx(features.x.size()), dscale = mean_gh, doffset = mean_g;
  RETURN_IF_ERROR(features.ForEach(
      [&](size_t i, int64_t f) { dx[i] = scale[f] * r(f) * (g[i] - mean_g[f] - h(i, f) * mean_gh[f]); }));
  for (double& d : dscale) d *= features.per_feature();
  for (double& d : doffset) d *= features.per_feature();
  return StoredTriple(evaluation, instruction, dx, dscale, doffset);
}

}  // namespace hlod::evaluator
