// Errors, limits and origins to and from their messages; protocol versions.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod::rpc {

// Protocol versions this build speaks; the largest common one is used.
inline constexpr uint32_t kVersionMin = 1, kVersionMax = 1;

v1::Error ToProto(const Error& error);
Error FromProto(const v1::Error& proto);
v1::Origin ToProto(const Origin& origin);
Origin FromProto(const v1::Origin& proto);

// A gRPC status with the error in its details, and back. A status without details (the library's own) keeps
// code and message; UNAVAILABLE from the transport becomes an error of kind lost_session only where the
// caller says so.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace hlod::rpc
