// gRPC server reflection (v1alpha): which services there are and their descriptors, for grpcurl and the like.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlod::grpc_server {

// The serialized ServerReflectionResponse to a serialized ServerReflectionRequest.
absl::StatusOr<std::string> AnswerReflection(const std::string& request);

}  // namespace hlod::grpc_server
