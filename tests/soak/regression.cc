// Lines of least squares.
#include "tests/soak/regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace hlod::soak {
namespace {

constexpr double kSecondsPerHour = 3600;

std::vector<Sample> Averaged(const std::vector<Sample>& samples, int bins) {
  if (samples.size() <= static_cast<size_t>(bins)) return samples;
  const double begin = samples.front().seconds;
  const double width = (samples.back().seconds - begin) / bins;
  std::vector<Sample> sums(static_cast<size_t>(bins));
  std::vector<int> counts(static_cast<size_t>(bins), 0);
  for (const Sample& sample : samples) {
    const auto bin = static_cast<size_t>(std::clamp((sample.seconds - begin) / width, 0.0, bins - 1.0));
    sums[bin].seconds += sample.seconds;
    sums[bin].value += sample.value;
    ++counts[bin];
  }
  std::vector<Sample> averages;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] > 0) averages.push_back({sums[i].seconds / counts[i], sums[i].value / counts[i]});
  }
  return averages;
}

}  // namespace

double Mean(const std::vector<Sample>& samples) {
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.value;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

Line Fit(const std::vector<Sample>& samples, int bins) {
  const std::vector<Sample> points = Averaged(samples, bins);
  const auto n = static_cast<double>(points.size());
  Line line{.error_per_hour = std::numeric_limits<double>::infinity()};
  double x_mean = 0, x_squares = 0, products = 0, residuals = 0;
  const double y_mean = Mean(points);
  for (const Sample& point : points) x_mean += point.seconds / n;
  for (const Sample& point : points) {
    x_squares += (point.seconds - x_mean) * (point.seconds - x_mean);
    products += (point.seconds - x_mean) * (point.value - y_mean);
  }
  if (points.size() < 3 || x_squares == 0) return line;
  const double slope = products / x_squares;
  for (const Sample& point : points) {
    const double residual = point.value - y_mean - slope * (point.seconds - x_mean);
    residuals += residual * residual;
  }
  line.slope_per_hour = slope * kSecondsPerHour;
  line.error_per_hour = std::sqrt(residuals / (n - 2) / x_squares) * kSecondsPerHour;
  return line;
}

std::string Verdict(const Line& line, double mean) {
  const double daily = 24 * std::abs(line.slope_per_hour);
  if (std::abs(line.slope_per_hour) <= 3 * line.error_per_hour || daily <= std::abs(mean) / 20) return "flat";
  return line.slope_per_hour > 0 ? "grows" : "falls";
}

std::vector<Sample> LastHalf(const std::vector<Sample>& samples) {
  if (samples.empty()) return {};
  const double middle = (samples.front().seconds + samples.back().seconds) / 2;
  std::vector<Sample> half;
  for (const Sample& sample : samples) {
    if (sample.seconds >= middle) half.push_back(sample);
  }
  return half;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

}  // namespace hlod::soak
