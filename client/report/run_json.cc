// Events and accounts into JSON.
#include "client/report/run_json.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/kinds.h"
#include "common/base/status.h"

namespace hlod::report {
namespace {

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

std::string_view DirectionOfCause(std::string_view cause) {
#define HLOD_CAUSE(id, number, text, direction, meaning) \
  if (cause == text) return Name(Direction::direction);
#include "common/base/causes.inc"
#undef HLOD_CAUSE
  return "";
}

RunJson ToRunJson(const RunLog& run) {
  RunJson json{.program = run.program, .started = run.started, .complete = run.complete};
  const std::string lines = ToJsonLines(run);
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    Json object = Json::parse(line);
    if (object.contains("event")) json.events.push_back(std::move(object));
    else if (object.contains("account")) json.accounts.push_back(std::move(object));
  }
  return json;
}

absl::StatusOr<RunJson> ReadRunJson(const std::string& path, const ReadRunOptions& options) {
  ASSIGN_OR_RETURN(const RunLog run, ReadRun(path, options));
  return ToRunJson(run);
}

}  // namespace hlod::report
