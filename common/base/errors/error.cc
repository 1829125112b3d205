// Converts ErrorDetails to and from absl::Status, whose payload is a serialized hlod.v1.Error.
#include "common/base/errors/error.h"

#include "absl/status/status_payload_printer.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/base/errors/error_proto.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

constexpr absl::string_view kPayloadUrl = "type.hlod/hlod.v1.Error";

// Status::ToString() prints payloads as raw bytes by default. This prints our payload as the status's own
// text.
absl::optional<std::string> PrintPayload(absl::string_view url, const absl::Cord& payload) {
  v1::Error proto;
  if (url != kPayloadUrl || !proto.ParseFromString(std::string(payload))) return absl::nullopt;
  return absl::StrCat("kind ", ToAbsl(Name(static_cast<ErrorKind>(proto.kind()))));
}

// A process has a single payload printer; if another library has set one, it is kept.
[[maybe_unused]] const bool printer_is_set = [] {
  if (absl::status_internal::GetStatusPayloadPrinter() != nullptr) return false;
  absl::status_internal::SetStatusPayloadPrinter(&PrintPayload);
  return true;
}();

}  // namespace

std::string ToString(const Origin& origin) {
  if (origin.file.empty()) return "an unknown line";
  const std::string file = origin.file.substr(origin.file.rfind('/') + 1);
  return origin.line == 0 ? file : absl::StrCat(file, ":", origin.line);
}

absl::Status ToStatus(ErrorDetails error) {
  if (error.code == absl::StatusCode::kUnknown || error.code == absl::StatusCode::kOk)
    error.code = CodeOf(error.kind);
  absl::Status status(error.code, error.text);
  // The conversion is needed: clang 19 does not find the constructor from strings in a library that GCC 12
  // compiled.
  status.SetPayload(kPayloadUrl, absl::Cord(ToAbsl(ToProto(error).SerializeAsString())));
  return status;
}

absl::Status MakeError(ErrorKind kind, std::string text) {
  ErrorDetails error;
  error.kind = kind;
  error.text = std::move(text);
  return ToStatus(std::move(error));
}

absl::Status WithKind(const absl::Status& status, ErrorKind kind) {
  if (status.ok()) return status;
  ErrorDetails error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  error.kind = kind;
  return ToStatus(std::move(error));
}

absl::Status AsProgramError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument: return WithKind(status, ErrorKind::kInvalidProgram);
    case absl::StatusCode::kUnimplemented: return WithKind(status, ErrorKind::kUnimplemented);
    default: return status;
  }
}

ErrorDetails ErrorOf(const absl::Status& status) {
  ErrorDetails error;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  v1::Error proto;
  if (payload.has_value() && proto.ParseFromString(std::string(*payload))) error = FromProto(proto);
  error.code = status.code();
  error.text = std::string(status.message());
  return error;
}

ErrorKind KindOf(const absl::Status& status) { return status.ok() ? ErrorKind::kNone : ErrorOf(status).kind; }

}  // namespace hlod
