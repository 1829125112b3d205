// Medians, quantiles, counts in bins, covariances.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The lower of the two middle elements; NaN when an element is NaN.
Tensor Median(const Operand& x);
ValuesAndIndices Median(const Operand& x, int64_t dim, bool keepdim = false);
// The median of the elements that are not NaN.
Tensor Nanmedian(const Operand& x);
ValuesAndIndices Nanmedian(const Operand& x, int64_t dim, bool keepdim = false);
// The most frequent element (the least one, when several are) and its last index.
ValuesAndIndices Mode(const Operand& x, int64_t dim = -1, bool keepdim = false);

enum class QuantileInterpolation { kLinear, kLower, kHigher, kMidpoint, kNearest };
// Returns the value below which the fraction `q` of the elements lies. q is a number, a scalar or a vector of
// x's type, with values between 0 and 1. For a vector, the results lie along a new first dimension. Without a
// dimension all elements count.
Tensor Quantile(const Operand& x, const Operand& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                QuantileInterpolation interpolation = QuantileInterpolation::kLinear);
// The quantiles of the elements that are not NaN.
Tensor Nanquantile(const Operand& x, const Operand& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                   QuantileInterpolation interpolation = QuantileInterpolation::kLinear);

// The number of elements in each of `bins` equal parts of [min, max]; elements outside are left out. When
// both bounds are 0 they are the least and the greatest element.
Tensor Histc(const Operand& x, int64_t bins = 100, double min = 0, double max = 0);
// The number of elements, or the sum of their weights, between each edge and the next; the last edge is
// included. The edges are those of `bins` equal parts of a range (by default from the least element to the
// greatest), or a given vector in ascending order. With `density`, the counts times the widths add up to 1.
struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};
  Tensor weight = {};  // Has x's shape.
  bool density = false;
};
struct HistogramParts {
  Tensor counts, edges;
};
HistogramParts Histogram(const Operand& x, int64_t bins, const HistogramOptions& options = {});
HistogramParts Histogram(const Operand& x, const Operand& edges, const HistogramOptions& options = {});
// A histogram of points: their coordinates are the last dimension of x; the weights have x's other
// dimensions.
struct HistogramddOptions {
  std::vector<std::pair<double, double>> range = {};
  Tensor weight = {};
  bool density = false;
};
struct HistogramddParts {
  Tensor counts;
  std::vector<Tensor> edges;
};
HistogramddParts Histogramdd(const Operand& x, DimList bins, const HistogramddOptions& options = {});
HistogramddParts Histogramdd(const Operand& x, const std::vector<Tensor>& edges,
                             const HistogramddOptions& options = {});
// The number of occurrences of each integer from 0 on, or the sum of the weights of its occurrences. Closes
// the trace, because the greatest integer is read; negative integers are refused.
Tensor Bincount(const Operand& x, const Tensor& weights = {}, int64_t minlength = 0);
// Bincount for the integers below `length`; others are left out. Reads nothing.
Tensor BincountBounded(const Operand& x, int64_t length, const Tensor& weights = {});

// The covariance of variables (rows) over observations (columns). fweights: the number of times that each
// observation counts; aweights: its importance.
Tensor Cov(const Operand& x, int64_t correction = 1, const Tensor& fweights = {},
           const Tensor& aweights = {});
Tensor Corrcoef(const Operand& x);  // The covariance divided by the standard deviations.

}  // namespace hlod
