// A connection to a daemon's administration: the stub and the data that each call needs.
#pragma once

#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/rpc/grpc/status.h"
#include "hlod/runtime/client.h"
#include "proto/hlod/v1/admin.grpc.pb.h"

namespace hlod::runtime {

struct AdminConnection {
  ~AdminConnection() {
    if (!owner.IsThisOne()) stub.release();  // gRPC's threads belong to the parent.
  }

  // Uses address, tls, token and timeout of the options.
  absl::Status Open(const ConnectOptions& options);

  // Calls one method of the stub.
  template <typename Response>
  absl::StatusOr<Response> Call(grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*,
                                                                        const v1::ListRequest&, Response*),
                                uint64_t session, int limit, bool fold = false) const {
    v1::ListRequest request;
    request.set_session(session);
    request.set_limit(limit);
    request.set_fold(fold);
    return Call(method, request, timeout);
  }
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                        Response*),
                                const Request& request, absl::Duration at_most) const {
    RETURN_IF_ERROR(owner.Check());
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + at_most));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    Response response;
    const absl::Status status = rpc::FromGrpc((stub.get()->*method)(&context, request, &response));
    if (!status.ok()) return ExplainDropped(status, endpoint, tls);
    return response;
  }

  const OwnerProcess owner;
  std::unique_ptr<v1::Admin::Stub> stub;
  std::string token;
  rpc::Endpoint endpoint;
  TlsOptions tls;
  absl::Duration timeout;
};

}  // namespace hlod::runtime
