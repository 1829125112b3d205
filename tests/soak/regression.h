// A straight line through samples of a quantity over time, and a verdict about its slope.
#pragma once

#include <string>
#include <vector>

namespace hlod::soak {

struct Sample {
  double seconds = 0, value = 0;
};

// The line of least squares through samples.
struct Line {
  double slope_per_hour = 0;
  // The standard error of the slope, from the residuals; infinite for fewer than three samples.
  double error_per_hour = 0;
};

// Fits a line. Samples that are close in time resemble one another, which would make the error too small:
// they are first averaged in at most `bins` bins of equal time.
Line Fit(const std::vector<Sample>& samples, int bins);

// Returns "grows" when the slope is above three of its standard errors and a day would add more than a
// twentieth to the mean, "falls" in the opposite case, else "flat". A single value is always flat.
std::string Verdict(const Line& line, double mean);

// Returns the samples of the last half of the time, when caches are full.
std::vector<Sample> LastHalf(const std::vector<Sample>& samples);

double Mean(const std::vector<Sample>& samples);
// Returns the value below which the part `q` of the values lies; 0 without values.
double Quantile(std::vector<double> values, double q);

}  // namespace hlod::soak
