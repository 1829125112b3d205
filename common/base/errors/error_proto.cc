// The same message is the payload of a status and the error on the wire.
#include "common/base/errors/error_proto.h"

#include "common/base/text/utf8.h"

namespace hlod {

v1::Origin ToProto(const Origin& origin) {
  v1::Origin proto;
  proto.set_file(ValidUtf8(origin.file));
  proto.set_line(origin.line);
  proto.set_function(ValidUtf8(origin.function));
  return proto;
}

Origin FromProto(const v1::Origin& proto) { return {proto.file(), proto.line(), proto.function()}; }

v1::Error ToProto(const ErrorDetails& error) {
  v1::Error proto;
  proto.set_code(static_cast<int>(error.code));
  proto.set_kind(static_cast<int>(error.kind));
  proto.set_handle(error.handle);
  proto.set_shape(error.shape);
  if (error.origin != Origin{}) *proto.mutable_origin() = ToProto(error.origin);
  proto.set_root_command(error.root_command);
  if (error.root_origin != Origin{}) *proto.mutable_root_origin() = ToProto(error.root_origin);
  proto.set_text(ValidUtf8(error.text));
  return proto;
}

ErrorDetails FromProto(const v1::Error& proto) {
  ErrorDetails error;
  error.code = static_cast<absl::StatusCode>(proto.code());
  error.kind = static_cast<ErrorKind>(proto.kind());
  error.handle = proto.handle();
  error.shape = proto.shape();
  error.origin = FromProto(proto.origin());
  error.root_command = proto.root_command();
  error.root_origin = FromProto(proto.root_origin());
  error.text = proto.text();
  return error;
}

}  // namespace hlod
