// Names of reasons, read off their table.
#include "common/base/compile_reason.h"

namespace hlod {

std::string_view Name(CompileReason reason) {
  switch (reason) {
#define HLOD_COMPILE_REASON(id, number, text, meaning) \
  case CompileReason::id: return text;
#include "common/base/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
  }
  return "unsaid";
}

CompileReason CompileReasonFromNumber(int number) {
  switch (number) {
#define HLOD_COMPILE_REASON(id, number, text, meaning) case number:
#include "common/base/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
    return static_cast<CompileReason>(number);
    default: return CompileReason::kUnsaid;
  }
}

}  // namespace hlod
