// Formats events and causes as text.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/text/strings.h"
#include "hlod/observe/events.h"
#include "hlod/tensor/trace.h"

namespace hlod {
namespace {

std::string Text(const EventValue& value) {
  return absl::StrCat(hlo::ToStringNoLayout(value.shape), " made at ", ToString(value.origin));
}

std::string Text(const CloseEvent& e) {
  std::string text =
      absl::StrFormat("close %d: %s at %s, %d instructions, %d arguments, %d results, program %s (%s)",
                      e.close, ToAbsl(Name(e.cause)), ToString(e.origin), e.nodes, e.inputs.size(),
                      e.outputs.size(), e.name.empty() ? "none" : e.name, ToAbsl(Name(e.found)));
  if (!e.status.ok()) absl::StrAppend(&text, ", failed: ", e.status.message());
  return text;
}
std::string Text(const CompileEvent& e) {
  return absl::StrCat("compile of ", e.name, " at ", ToString(e.origin), ": ", e.why);
}
std::string Text(const ForceEvent& e) {
  return absl::StrCat(ToAbsl(Name(e.cause)), " at ", ToString(e.origin), " needs ", Text(e.value),
                      e.close == 0 ? "" : absl::StrCat(", so close ", e.close));
}
std::string Text(const TransferEvent& e) {
  return absl::StrCat(ToAbsl(Name(DirectionOf(e.cause))), " ", e.value.bytes, " bytes (",
                      ToAbsl(Name(e.cause)), ") at ", ToString(e.origin),
                      e.name.empty() ? "" : absl::StrCat(", ", e.name));
}
std::string Text(const WaitEvent& e) {
  return absl::StrFormat("wait of %.0f us (%s) at %s", e.us, ToAbsl(Name(e.cause)), ToString(e.origin));
}
std::string Text(const HostFunctionEvent& e) {
  return absl::StrFormat("host function %s at %s: %d arguments, %d results, %.0f us", e.name,
                         ToString(e.origin), e.inputs.size(), e.outputs.size(), e.us);
}
std::string Text(const ValueFreedEvent& e) { return absl::StrCat(e.how, ": ", Text(e.value)); }
std::string Text(const SlowEvent& e) {
  return absl::StrFormat("slow path (%s): %s at %s, %.0f us", ToAbsl(Name(e.path)), e.operation,
                         ToString(e.origin), e.us);
}
std::string Text(const StepEvent& e) {
  return absl::StrCat("step ", e.step, " begins at ", ToString(e.origin));
}

}  // namespace

std::string_view Name(TraceCause cause) {
  switch (cause) {
#define HLOD_TRACE_CAUSE(id, text, meaning) \
  case TraceCause::id:                      \
    return text;
#include "hlod/observe/trace_causes.inc"
#undef HLOD_TRACE_CAUSE
  }
  return "invalid";
}

std::string_view Name(WaitCause cause) {
  switch (cause) {
#define HLOD_WAIT_CAUSE(id, text, meaning) \
  case WaitCause::id:                      \
    return text;
#include "hlod/observe/wait_causes.inc"
#undef HLOD_WAIT_CAUSE
  }
  return "invalid";
}

std::string_view Name(SlowPath path) {
  switch (path) {
    case SlowPath::kHostTensor: return "host_tensor";
  }
  return "invalid";
}

std::string_view Name(LiveReason alive) {
  switch (alive) {
    case LiveReason::kTensor: return "tensor";
    case LiveReason::kBackward: return "backward";
    case LiveReason::kResidual: return "residual";
  }
  return "invalid";
}

std::string_view Name(ProgramSource found) {
  switch (found) {
    case ProgramSource::kRecorded: return "recorded";
    case ProgramSource::kCanonical: return "canonical";
    case ProgramSource::kCompiled: return "compiled";
    case ProgramSource::kNone: return "nothing";
  }
  return "invalid";
}

std::string ToString(const Event& event) {
  return std::visit([](const auto& what) { return Text(what); }, event.what);
}

}  // namespace hlod
