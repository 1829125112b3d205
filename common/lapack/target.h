// The names of LAPACK's custom calls, as JAX's CPU has them: "lapack_sgetrf_ffi" is getrf for f32.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/hlo/shape.h"

namespace hlod::lapack {

// The types that routines exist for, and their letters in names of routines.
inline constexpr hlo::PrimitiveType kTypes[] = {hlo::kF32, hlo::kF64, hlo::kC64, hlo::kC128};
inline constexpr std::string_view kTypeLetters = "sdcz";

// Returns the index of a type in kTypes, or nullopt for a type without routines.
std::optional<int> TypeIndex(hlo::PrimitiveType type);

struct Target {
  std::string_view routine;  // "getrf"; refers to the text that was parsed.
  int type = 0;              // The index in kTypes.
};
// Returns nullopt for a name of another form. There may be no such routine.
std::optional<Target> ParseTarget(std::string_view name);
// Returns the name of a routine's custom call. REQUIRES: TypeIndex(type) has a value.
std::string TargetName(std::string_view routine, hlo::PrimitiveType type);

}  // namespace hlod::lapack
