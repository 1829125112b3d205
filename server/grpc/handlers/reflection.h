// gRPC server reflection (v1alpha): lists the services and their descriptors, for grpcurl and similar tools.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlod::grpc_server {

// Returns the serialized ServerReflectionResponse to a serialized ServerReflectionRequest.
absl::StatusOr<std::string> AnswerReflection(const std::string& request);

}  // namespace hlod::grpc_server
