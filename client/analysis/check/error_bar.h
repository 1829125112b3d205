// The accuracy of estimated peaks, as measured on programs whose peak a compiler says
// (tests/conformance/sharded/memory.md, tests/conformance/peaks.md, client/examples/llama_405b.d/README.md).
#pragma once

#include <string>
#include <string_view>

#include "client/analysis/module/placement.h"

namespace hlod::analysis {

// The estimates of nine of ten measured programs are off by no more than this.
struct ErrorBar {
  double part = 0;         // The part of the peak: 0.05 is 5%.
  int covered = 0;         // The number of programs whose estimates are off by no more.
  int programs = 0;        // The number of programs that were measured.
  std::string_view judge;  // The compiler that says the true peak.
};

ErrorBar ErrorBarOf(Compiler compiler);

// Returns "+-5%, which covers 86 of 95 programs compared with XLA's CPU compiler".
std::string ToString(const ErrorBar& bar);

}  // namespace hlod::analysis
