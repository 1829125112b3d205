// Pipe and bulk streams over gRPC: completion queues that the waiting thread polls.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/runtime/connection/pipe.h"

namespace hlod::runtime {

// Opens Session.Connect on the channel. `token` may be empty.
absl::StatusOr<std::shared_ptr<Pipe>> OpenGrpcPipe(std::shared_ptr<grpc::Channel> channel,
                                                   const std::string& token, absl::Time deadline);
// Makes bulk streams on the channel. A transfer that moves no chunk for `silence` ends with UNAVAILABLE.
std::shared_ptr<BulkChannel> MakeGrpcBulk(std::shared_ptr<grpc::Channel> channel, const std::string& token,
                                          absl::Duration silence);

}  // namespace hlod::runtime
