// Lines into objects.
#include "client/report/run_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace hlod::report {
namespace {

constexpr int64_t kVersion = 1;

const Json* Find(const Json& object, const char* field) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

double Number(const Json& object, const char* field) {
  const Json* const found = Find(object, field);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

int64_t Integer(const Json& object, const char* field) {
  const Json* const found = Find(object, field);
  return found != nullptr && found->is_number_integer() ? found->get<int64_t>() : 0;
}

std::string Text(const Json& object, const char* field) {
  const Json* const found = Find(object, field);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

bool Flag(const Json& object, const char* field) {
  const Json* const found = Find(object, field);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const Json& Part(const Json& object, const char* field) {
  static const auto* const nothing = new Json(Json::object());
  const Json* const found = Find(object, field);
  return found != nullptr && found->is_structured() ? *found : *nothing;
}

std::string LineOf(const Json& object, const char* field) {
  const Json& origin = Part(object, field);
  const std::string file = Text(origin, "file");
  return file.empty() ? "" : absl::StrCat(file, ":", Integer(origin, "line"));
}

absl::StatusOr<RunFile> ParseRunFile(std::string_view text, std::string_view name, bool allow_cut) {
  RunFile run;
  run.complete = false;
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool whole = end != std::string_view::npos && object.is_object();
    if (number == 1) {
      if (!whole || !object.contains("hlod_run")) return InvalidArgument("%s is not a run file.", name);
      if (const int64_t version = Integer(object, "hlod_run"); version != kVersion) {
        return InvalidArgument("%s is a run file of version %d; this program reads version %d.", name,
                               version, kVersion);
      }
      run.program = Text(object, "program");
      run.started = Text(object, "started");
      continue;
    }
    if (!whole) {
      if (!text.empty()) return InvalidArgument("%s:%d: the line is not a JSON object.", name, number);
      if (allow_cut) break;
      return InvalidArgument("%s:%d: the file ends in the middle of the line: it was cut.", name, number);
    }
    if (run.complete) return InvalidArgument("%s:%d: something follows the end.", name, number);
    if (object.contains("event")) {
      run.events.push_back(std::move(object));
    } else if (object.contains("account")) {
      run.accounts.push_back(std::move(object));
    } else if (Flag(object, "end")) {
      const int64_t events = Integer(object, "events"), accounts = Integer(object, "accounts");
      if (events != static_cast<int64_t>(run.events.size()) ||
          accounts != static_cast<int64_t>(run.accounts.size())) {
        return InvalidArgument("%s:%d: %d events and %d accounts were written; the file has %d and %d.", name,
                               number, events, accounts, run.events.size(), run.accounts.size());
      }
      run.complete = true;
    } else {
      return InvalidArgument("%s:%d: the line is neither an event, an account nor the end.", name, number);
    }
  }
  if (number == 0) return InvalidArgument("%s is empty: it is not a run file.", name);
  if (!run.complete && !allow_cut) {
    return InvalidArgument(
        "%s has no end: the program ended abnormally, still runs, or the file was cut. What is there can be "
        "reported with --cut.",
        name);
  }
  return run;
}

absl::StatusOr<RunFile> ReadRunFile(const std::string& path, bool allow_cut) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseRunFile(text, path, allow_cut);
}

}  // namespace hlod::report
