// A run file as reports read it: JSON, one object a line, as HLOD_RUN=FILE writes it. The first line is
// {"hlod_run": 1, ...}, then events in order, each session's account, and {"end": true, ...}. A field that is
// missing is 0, false or empty.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hlod::report {

using Json = nlohmann::ordered_json;

struct RunFile {
  std::string program, started;
  std::vector<Json> events, accounts;
  bool complete = true;  // It has its end.
};

// INVALID_ARGUMENT names the file, the line and what is wrong: not a run file, another version, a line that
// is not an object, no end. `allow_cut`: a file that ends early is read as far as it goes.
absl::StatusOr<RunFile> ReadRunFile(const std::string& path, bool allow_cut = false);
absl::StatusOr<RunFile> ParseRunFile(std::string_view text, std::string_view name, bool allow_cut = false);

// Fields of an object; what is missing, or of another type, is 0, empty or false.
double Number(const Json& object, const char* field);
int64_t Integer(const Json& object, const char* field);
std::string Text(const Json& object, const char* field);
bool Flag(const Json& object, const char* field);
const Json& Part(const Json& object, const char* field);  // An object or an array; else an empty object.
// "train.cc:88"; empty for an unknown one.
std::string LineOf(const Json& object, const char* field = "origin");

}  // namespace hlod::report
