// Medians, quantiles, counts in bins, covariances.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The lower of the two middle elements; NaN when there is one.
Tensor Median(const Operand& x);
ValuesAndIndices Median(const Operand& x, int64_t dim, bool keepdim = false);
// The median of the elements that are not NaN.
Tensor Nanmedian(const Operand& x);
ValuesAndIndices Nanmedian(const Operand& x, int64_t dim, bool keepdim = false);
// The most frequent element, the least of several, and where it is last.
ValuesAndIndices Mode(const Operand& x, int64_t dim = -1, bool keepdim = false);

enum class QuantileInterpolation { kLinear, kLower, kHigher, kMidpoint, kNearest };
// Returns the value below which a part `q` of the elements lies: q is a number, a scalar or a vector of x's
// type, each between 0 and 1. For a vector the results lie along a new first dimension. Without a dimension
// all elements count.
Tensor Quantile(const Operand& x, const Operand& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                QuantileInterpolation interpolation = QuantileInterpolation::kLinear);
// The quantiles of the elements that are not NaN.
Tensor Nanquantile(const Operand& x, const Operand& q, std::optional<int64_t> dim = {}, bool keepdim = false,
                   QuantileInterpolation interpolation = QuantileInterpolation::kLinear);

// The number of elements in each of `bins` equal parts of [min, max], those outside left out. When both are
// 0, from the least element to the greatest.
Tensor Histc(const Operand& x, int64_t bins = 100, double min = 0, double max = 0);
// The number of elements, or the sum of their weights, between each edge and the next, the last edge
// included. Edges are those of `bins` equal parts of a range (by default from the least element to the
// greatest), or a given vector that does not decrease. As a density the counts times the widths add up to 1.
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
// The same of points: x's last dimension has their coordinates, the weights have x's other dimensions.
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
// The number of times that each integer from 0 on occurs, or the sum of its weights. Closes the trace: the
// greatest is read; a negative one is refused.
Tensor Bincount(const Operand& x, const Tensor& weights = {}, int64_t minlength = 0);
// The same for the integers below `length`; others are left out. Reads nothing.
Tensor BincountBounded(const Operand& x, int64_t length, const Tensor& weights = {});

// The covariance of variables (rows) over observations (columns). fweights: how often each observation
// counts; aweights: its importance.
Tensor Cov(const Operand& x, int64_t correction = 1, const Tensor& fweights = {},
           const Tensor& aweights = {});
Tensor Corrcoef(const Operand& x);  // The same divided by the standard deviations.

}  // namespace hlod
