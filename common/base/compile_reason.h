// Why programs are compiled: a closed set, one table (compile_reasons.inc).
#pragma once

#include <string_view>

namespace hlod {

enum class CompileReason : int {
#define HLOD_COMPILE_REASON(id, number, text, meaning) id = number,
#include "common/base/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
};
// "parameter", ...
std::string_view Name(CompileReason reason);
// kUnsaid for a number that this build does not have.
CompileReason CompileReasonFromNumber(int number);

}  // namespace hlod
