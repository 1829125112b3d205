// The runtime's values as JSON: keys are the names of the fields, as `hloctl --help` lists them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "hlod/observe/account.h"
#include "hlod/runtime/admin.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/types.h"

namespace hlod::cli {

using Json = nlohmann::ordered_json;

Json ToJson(const Amount& amount);
Json ToJson(const Origin& origin);
Json ToJson(const LedgerRow& row);
Json ToJson(const SessionStats& stats);
Json ToJson(const CompileResult& result);
Json ToJson(const DeviceRow& row);
Json ToJson(const BufferRow& row);
Json ToJson(const ExecutableRow& row);
Json ToJson(const SessionRow& row);
Json ToJson(const DaemonStats& stats);
Json ToJson(const TransferSum& sum);
Json ToJson(const RunSum& sum);
Json ToJson(const CompileRow& row);
// Returns an array as nested lists, one level per dimension; an array without dimensions as its element.
// Elements of pred are true and false, complex ones [real, imaginary], all others numbers. The values that
// JSON cannot write are the strings "nan", "inf" and "-inf". A tuple is the list of its elements.
absl::StatusOr<Json> ToJson(const hlo::Literal& value);
// Returns the JSON as text. Bytes that are not UTF-8 (names and messages may hold any) are replaced.
std::string Dump(const Json& json);
// {"error": {"code": ..., "kind": ..., "message": ...}}
Json ErrorToJson(const absl::Status& status);

template <typename T>
requires requires(const T& row) { ToJson(row); }
Json ToJson(const std::vector<T>& rows) {
  Json list = Json::array();
  for (const T& row : rows) list.push_back(ToJson(row));
  return list;
}

}  // namespace hlod::cli
