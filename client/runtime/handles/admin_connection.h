// A connection to a daemon's administration. The daemon closes one that was idle for some seconds
// (--greeting-us), so that a program that asks now and then needs another connection for its next call.
#pragma once

#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/rpc/grpc/status.h"
#include "hlod/runtime/client.h"
#include "proto/hlod/v1/admin.grpc.pb.h"

namespace hlod::runtime {

class AdminConnection {
 public:
  ~AdminConnection() ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Uses address, tls, token and timeout of the options.
  absl::Status Open(const ConnectOptions& options);

  // Calls one method of the stub. All attempts together take at most `at_most` or the options' timeout.
  template <typename Response>
  absl::StatusOr<Response> Call(grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*,
                                                                        const v1::ListRequest&, Response*),
                                uint64_t session, int limit, bool fold = false) const {
    v1::ListRequest request;
    request.set_session(session);
    request.set_limit(limit);
    request.set_fold(fold);
    return Call(method, request, options_.timeout);
  }
  template <typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                        Response*),
                                const Request& request, absl::Duration at_most) const {
    RETURN_IF_ERROR(owner_.Check());
    const absl::Time deadline = absl::Now() + at_most;
    Response response;
    const std::shared_ptr<v1::Admin::Stub> stub = CurrentStub();
    absl::Status status = CallOnce(*stub, method, request, deadline, &response);
    // Calls change nothing in the daemon, so one may be repeated whose connection broke.
    const bool broke = status.code() == absl::StatusCode::kUnavailable && KindOf(status) == ErrorKind::kNone;
    const bool once = endpoint_.kind == rpc::Endpoint::Kind::kDescriptor;
    if (broke && !once && Replace(stub, deadline).ok())
      status = CallOnce(*CurrentStub(), method, request, deadline, &response);
    if (status.code() == absl::StatusCode::kDeadlineExceeded && KindOf(status) == ErrorKind::kNone)
      return Annotate(NoAnswerWithin(at_most), "asking " + rpc::ToString(endpoint_));
    if (!status.ok()) return ExplainDropped(status, endpoint_, options_.tls);
    return response;
  }

 private:
  template <typename Request, typename Response>
  absl::Status CallOnce(v1::Admin::Stub& stub,
                        grpc::Status (v1::Admin::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                Response*),
                        const Request& request, absl::Time deadline, Response* response) const {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
    return rpc::FromGrpc((stub.*method)(&context, request, response));
  }
  std::shared_ptr<v1::Admin::Stub> CurrentStub() const;
  // Connects again, unless another thread has replaced `broken` already.
  absl::Status Replace(const std::shared_ptr<v1::Admin::Stub>& broken, absl::Time deadline) const;

  const OwnerProcess owner_;
  ConnectOptions options_;
  rpc::Endpoint endpoint_;
  mutable absl::Mutex mu_;
  mutable std::shared_ptr<v1::Admin::Stub> stub_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime
