// Timing and printing: medians of interleaved runs, and the ratio of our figure to the limit's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace hlod::bench {

inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Pair {
  double ours, limit, ratio;  // Medians; the ratio is the median of the ratios of all repeats.
};

// Runs the two in turn, so that a drift of the machine affects both. Each function returns its figure.
inline Pair Interleave(int repeats, const std::function<double()>& ours,
                       const std::function<double()>& limit) {
  std::vector<double> a, b, ratios;
  for (int i = 0; i < repeats; ++i) {
    a.push_back(ours());
    b.push_back(limit());
    ratios.push_back(a.back() / b.back());
  }
  return {Median(a), Median(b), Median(ratios)};
}

inline void Print(const std::string& what, const Pair& pair, const char* unit, const char* limit,
                  const char* aim) {
  std::printf("%-46s %10.2f %-6s %10.2f %-6s (%s)  ratio %.2f  aim %s\n", what.c_str(), pair.ours, unit,
              pair.limit, unit, limit, pair.ratio, aim);
  std::fflush(stdout);
}

}  // namespace hlod::bench
