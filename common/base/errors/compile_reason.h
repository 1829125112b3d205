// The reasons for which programs are compiled: a closed set, one table (compile_reasons.inc).
#pragma once

#include <string_view>

namespace hlod {

enum class CompileReason : int {
#define HLOD_COMPILE_REASON(id, number, text, meaning) id = number,
#include "common/base/errors/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
};
// Returns the reason's text in the table: "parameter", ...
std::string_view Name(CompileReason reason);
// Returns the reason with this wire number, or kUnsaid when this build does not know it.
CompileReason CompileReasonFromNumber(int number);
// Returns one sentence of advice that avoids another compilation for this reason.
std::string_view Remedy(CompileReason reason);

}  // namespace hlod
