// The measured numbers.
#include "client/analysis/check/error_bar.h"

#include "absl/strings/str_format.h"

namespace hlod::analysis {

ErrorBar ErrorBarOf(Compiler compiler) {
  switch (compiler) {
    case Compiler::kXlaCpu:
      return {.part = 0.05, .covered = 129, .programs = 142, .judge = "XLA's CPU compiler"};
    case Compiler::kAccelerator:
      return {.part = 0.11, .covered = 8, .programs = 8, .judge = "XLA's TPU compiler"};
  }
  return {};
}

std::string ToString(const ErrorBar& bar) {
  return absl::StrFormat("+-%.0f%%, which covers %d of %d programs compared with %s", 100 * bar.part,
                         bar.covered, bar.programs, bar.judge);
}

}  // namespace hlod::analysis
