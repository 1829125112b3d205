// The limits as a table.
#include "client/tensor/value/limits.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"

namespace hlod {
namespace {

struct LimitRow {
  bool (*holds)(double);
  const char* text;
};

// Indexed by Limit.
constexpr LimitRow kLimits[] = {
    {[](double) { return true; }, "anything"},
    {[](double x) { return x >= 0; }, "at least 0"},
    {[](double x) { return x > 0; }, "positive"},
    {[](double x) { return x >= 0 && x < 1; }, "at least 0 and below 1"},
    {[](double x) { return x >= 0 && x <= 1; }, "at least 0 and at most 1"},
    {[](double x) { return x > 0 && x < 1; }, "above 0 and below 1"},
    {[](double x) { return x > 1; }, "above 1"},
    {[](double x) { return x != 0; }, "another number than 0"},
    {[](double x) { return x >= -1; }, "at least -1"},
};

}  // namespace

std::string FaultOf(Limit limit, const char* name, double value) {
  const LimitRow& row = kLimits[static_cast<size_t>(limit)];
  return row.holds(value) ? "" : absl::StrCat(name, " is ", value, ", and must be ", row.text);
}

void RequireWithin(Limit limit, const char* name, double value, const char* operation, const Caller& caller) {
  const std::string fault = FaultOf(limit, name, value);
  RequireThat(fault.empty(), fault, operation, caller);
}

void RequireThat(bool holds, const std::string& text, const char* operation, const Caller& caller) {
  if (!holds) lazy::Throw(ErrorKind::kArgument, text, operation, caller);
}

}  // namespace hlod
