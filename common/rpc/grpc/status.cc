// Stores errors in the details of a gRPC status.
#include "common/rpc/grpc/status.h"

#include <string>

#include "common/rpc/wire.h"

namespace hlod::rpc {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      ToProto(ErrorOf(status)).SerializeAsString());
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  v1::Error proto;
  if (!status.error_details().empty() && proto.ParseFromString(status.error_details())) {
    return ToStatus(FromProto(proto));
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace hlod::rpc
