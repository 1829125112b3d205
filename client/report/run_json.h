// A run as reports read it: the JSON of its events and accounts (hlod/run.h), a field that is missing being
// 0, false or empty. Pages and traces copy most fields as they stand.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "hlod/run.h"

namespace hlod::report {

using Json = nlohmann::ordered_json;

struct RunJson {
  std::string program, started;
  std::vector<Json> events, accounts;
  bool complete = true;  // It has its end.
};

RunJson ToRunJson(const RunLog& run);
// ReadRun's errors.
absl::StatusOr<RunJson> ReadRunJson(const std::string& path, const ReadRunOptions& options = {});

// Fields of an object; what is missing, or of another type, is 0, empty or false.
double Number(const Json& object, const char* field);
int64_t Integer(const Json& object, const char* field);
std::string Text(const Json& object, const char* field);
bool Flag(const Json& object, const char* field);
const Json& Part(const Json& object, const char* field);  // An object or an array; else an empty object.
// "train.cc:88"; empty for an unknown one.
std::string LineOf(const Json& object, const char* field = "origin");

// "host_to_device"; empty for a cause that this program does not know.
std::string_view DirectionOfCause(std::string_view cause);

}  // namespace hlod::report
