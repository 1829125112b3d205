// Error <-> absl::Status: the payload is a serialized hlod.v1.Error.
#include "common/base/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/base/strings.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod {
namespace {

constexpr absl::string_view kPayloadUrl = "type.hlod/hlod.v1.Error";

void ToProto(const Origin& origin, v1::Origin* proto) {
  proto->set_file(origin.file);
  proto->set_line(origin.line);
  proto->set_function(origin.function);
}
Origin FromProto(const v1::Origin& proto) { return {proto.file(), proto.line(), proto.function()}; }

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
  v1::Error proto;
  proto.set_code(static_cast<int>(error.code));
  proto.set_kind(static_cast<int>(error.kind));
  proto.set_handle(error.handle);
  proto.set_shape(error.shape);
  if (error.origin != Origin{}) ToProto(error.origin, proto.mutable_origin());
  proto.set_root_command(error.root_command);
  if (error.root_origin != Origin{}) ToProto(error.root_origin, proto.mutable_root_origin());
  proto.set_text(error.text);
  status.SetPayload(kPayloadUrl, absl::Cord(proto.SerializeAsString()));
  return status;
}

absl::Status MakeError(ErrorKind kind, std::string text) {
  ErrorDetails error;
  error.kind = kind;
  error.text = std::move(text);
  return ToStatus(std::move(error));
}

ErrorDetails ErrorOf(const absl::Status& status) {
  ErrorDetails error;
  error.code = status.code();
  error.text = std::string(status.message());
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  v1::Error proto;
  if (!payload.has_value() || !proto.ParseFromString(std::string(*payload))) return error;
  error.kind = static_cast<ErrorKind>(proto.kind());
  error.handle = proto.handle();
  error.shape = proto.shape();
  if (proto.has_origin()) error.origin = FromProto(proto.origin());
  error.root_command = proto.root_command();
  if (proto.has_root_origin()) error.root_origin = FromProto(proto.root_origin());
  return error;
}

ErrorKind KindOf(const absl::Status& status) { return status.ok() ? ErrorKind::kNone : ErrorOf(status).kind; }

}  // namespace hlod
