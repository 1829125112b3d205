// Holding a process to fewer instructions than its processor has, to see what another machine computes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/cpu.h"

namespace hlod {

std::string_view Name(CpuLevel level);  // "avx2"

inline constexpr std::string_view kNoCpuLimit = "all";
// The limit of a name, nullopt for "all". INVALID_ARGUMENT names what `processor` has, when the name is
// unknown or means a level that it lacks.
absl::StatusOr<std::optional<CpuLevel>> ParseCpuLimit(std::string_view name, CpuLevel processor);
// Limits this process. To be called before any other thread runs.
void LimitCpu(std::optional<CpuLevel> limit);
// The limit in force; nullopt when there is none.
std::optional<CpuLevel> CpuLimit();
// The processor and the limit in a line, as far as what code computes may depend on them.
std::string DescribeCpu();

}  // namespace hlod
