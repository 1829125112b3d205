// Restricts a process to fewer instructions than its processor has, to reproduce another machine's results.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/system/cpu.h"

namespace hlod {

std::string_view Name(CpuLevel level);  // "avx2"

inline constexpr std::string_view kNoCpuLimit = "all";
// Returns the limit with this name, or nullopt for "all". INVALID_ARGUMENT, with a list of the levels that
// `processor` has, when the name is unknown or names a level that it lacks.
absl::StatusOr<std::optional<CpuLevel>> ParseCpuLimit(std::string_view name, CpuLevel processor);
// Limits this process. Must be called before other threads are started.
void LimitCpu(std::optional<CpuLevel> limit);
// Returns the limit in force, or nullopt when there is none.
std::optional<CpuLevel> CpuLimit();
// Describes the processor and the limit in one line, as far as the results of code may depend on them.
std::string DescribeCpu();

}  // namespace hlod
