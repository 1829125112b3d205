// Converts statuses between Abseil and gRPC, with hlod's error in the details.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace hlod::rpc {

// Convert to a gRPC status with the error in its details, and back. A status without details (the library's
// own) keeps code and message. UNAVAILABLE from the transport becomes an error of kind lost_session only
// where the caller converts it.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace hlod::rpc
