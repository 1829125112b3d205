// The functions of the library that client/python calls beside the PJRT API, by ctypes.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/exceptions.h"
#include "client/pjrt/ffi/registry.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/session/state.h"
#include "hlod/observe/metrics.h"
#include "nlohmann/json.hpp"

namespace hlod::pjrt {
namespace {

using Json = nlohmann::json;

// Returns a copy that the caller gives back to hlod_free.
char* Copied(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

Json ToJson(const Amount& amount) { return {{"bytes", amount.bytes}, {"calls", amount.calls}}; }

Json ToJson(const LedgerRow& row) {
  return {{"cause", Name(row.cause)}, {"bytes", row.amount.bytes}, {"calls", row.amount.calls},
          {"file", row.origin.file},  {"line", row.origin.line},   {"step", row.step},
          {"device", row.device}};
}

// Returns a function's text for the caller to free; null when it fails.
template <typename Function>
char* TextOf(Function function) {
  char* text = nullptr;
  const absl::Status status = Caught("A report", [&] {
    text = Copied(function());
    return absl::OkStatus();
  });
  return status.ok() ? text : nullptr;
}

// Returns null, or the text of a function's error for the caller to free.
template <typename Function>
char* ErrorOf(Function function) {
  const absl::Status status = Caught("A registration", function);
  return status.ok() ? nullptr : Copied(std::string(FromAbsl(status.message())));
}

Json Ledger() {
  const std::optional<hlod::Client> client = Client::Latest();
  if (!client.has_value()) return {{"error", "no client of hlod exists in this process"}};
  const absl::StatusOr<SessionStats> stats = client->Stats(Caller{});
  if (!stats.ok()) return {{"error", stats.status().message()}};
  Json rows = Json::array();
  for (const LedgerRow& row : stats->rows) rows.push_back(ToJson(row));
  return {{"address", client->address()},
          {"session", client->session_id()},
          {"host_to_device", ToJson(stats->host_to_device)},
          {"device_to_host", ToJson(stats->device_to_host)},
          {"device_to_device", ToJson(stats->device_to_device)},
          {"rows", std::move(rows)}};
}

}  // namespace
}  // namespace hlod::pjrt

#define HLOD_EXPORTED extern "C" __attribute__((visibility("default")))

// Sets the line of the program, "FILE:LINE", for which this thread transfers and compiles until the next
// call; null: unknown.
HLOD_EXPORTED void hlod_set_line(const char* location) {
  (void)hlod::pjrt::Caught("hlod_set_line", [&] {
    hlod::pjrt::SetCurrentLine(hlod::pjrt::ReadCallLocation(location));
    return absl::OkStatus();
  });
}

// Has the plugin call `find`, which calls hlod_set_line, for the lines of threads in which `python` does not
// return null (PyGILState_GetThisThreadState). Null ends that.
HLOD_EXPORTED void hlod_find_lines(void* (*python)(), void (*find)()) {
  (void)hlod::pjrt::Caught("hlod_find_lines", [&] {
    const bool both = python != nullptr && find != nullptr;
    hlod::pjrt::SetLineFinder(both ? std::optional(hlod::pjrt::LineFinder{python, find}) : std::nullopt);
    return absl::OkStatus();
  });
}

// Sets the line of the program for which the process compiles from now on, on whichever thread.
HLOD_EXPORTED void hlod_set_compile_line(const char* location) {
  (void)hlod::pjrt::Caught("hlod_set_compile_line", [&] {
    hlod::pjrt::SetCompileLine(hlod::pjrt::ReadCallLocation(location));
    return absl::OkStatus();
  });
}

// Notes for the profile that the program waited at `location`, "FILE:LINE", for `us` microseconds until what
// it had sent was done.
HLOD_EXPORTED void hlod_note_wait(const char* location, double us) {
  (void)hlod::pjrt::Caught("hlod_note_wait", [&] {
    const std::optional<hlod::Client> client = hlod::pjrt::Client::Latest();
    if (!client.has_value()) return absl::OkStatus();
    const hlod::runtime::DeliverEventsAtExit events;
    hlod::runtime::EmitWait(*client->internal_session(), hlod::WaitCause::kSettle,
                            hlod::pjrt::ReadCallLocation(location), us, /*value=*/0);
    return absl::OkStatus();
  });
}

// Returns the metrics and counters of this process as text (hlod/observe/metrics.h). Waits for the commands sent before.
HLOD_EXPORTED char* hlod_metrics_report() { return hlod::pjrt::TextOf(hlod::MetricsReport); }

// Returns the daemon's account of this process's session as JSON: the totals of each direction and a row per
// cause, line, step and device; {"error": TEXT} when there is none. Waits for the commands sent before.
HLOD_EXPORTED char* hlod_ledger() {
  // The name of a file need not be UTF-8.
  return hlod::pjrt::TextOf(
      [] { return hlod::pjrt::Ledger().dump(-1, ' ', false, hlod::pjrt::Json::error_handler_t::replace); });
}

// Ends the preflight logs of this process's abstract clients. Waits for the commands sent before.
HLOD_EXPORTED void hlod_end_preflight() {
  (void)hlod::pjrt::Caught("hlod_end_preflight", [] {
    hlod::pjrt::Client::RetireAbstract();
    return absl::OkStatus();
  });
}

// Ends the sessions of this process with which it runs programs together with others, whose launches then do
// not wait for it. Waits at most `finishing` seconds for its own launches.
HLOD_EXPORTED void hlod_leave_groups(int finishing) {
  (void)hlod::pjrt::Caught("hlod_leave_groups", [finishing] {
    hlod::pjrt::Client::LeaveGroups(absl::Seconds(finishing));
    return absl::OkStatus();
  });
}

// Registers a foreign function by its handlers, all but the last of which may be null. Returns null, or the
// text of an error for hlod_free.
HLOD_EXPORTED char* hlod_register_foreign_function(const char* name, void* instantiate, void* prepare,
                                                   void* initialize, void* execute, bool is_own) {
  using hlod::pjrt::ffi::Handler;
  return hlod::pjrt::ErrorOf([&] {
    return hlod::pjrt::ffi::Register(
        name,
        {reinterpret_cast<Handler*>(instantiate), reinterpret_cast<Handler*>(prepare),
         reinterpret_cast<Handler*>(initialize), reinterpret_cast<Handler*>(execute)},
        is_own);
  });
}

// Registers a foreign function of the older interface, without types. Returns as above.
HLOD_EXPORTED char* hlod_register_untyped_function(const char* name, void* function, bool is_own) {
  return hlod::pjrt::ErrorOf([&] { return hlod::pjrt::ffi::RegisterUntyped(name, function, is_own); });
}

// Registers a type of foreign functions, and sets its number unless it has one. Returns as above.
HLOD_EXPORTED char* hlod_register_foreign_type(const char* name, hlod::pjrt::ffi::TypeId* id,
                                               const hlod::pjrt::ffi::TypeInfo* info) {
  return hlod::pjrt::ErrorOf([&]() -> absl::Status {
    ASSIGN_OR_RETURN(id->type_id, hlod::pjrt::ffi::RegisterType(name, id->type_id,
                                                                info == nullptr ? nullptr : info->deleter));
    return absl::OkStatus();
  });
}

HLOD_EXPORTED void hlod_free(char* text) { std::free(text); }
