// Finds and connects a daemon: by an address, or by the list of default places, which ends with a private
// daemon started as a child.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/runtime/connection/pipe.h"
#include "client/runtime/preflight/abstract_session.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/ring_use.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {

// Connects now, and returns a gRPC channel over which `token` may be sent. Fails with INVALID_ARGUMENT,
// before connecting, when the token would be sent unencrypted to another host; with kind lost_session when no
// program listens there; with kind auth when the listener is not trusted (Endpoint::found); with UNAVAILABLE
// naming the address when it cannot be reached. An insecure channel is one socket: when that breaks, the
// channel is dead.
absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const rpc::Endpoint& endpoint,
                                                           const TlsOptions& tls, const std::string& token,
                                                           absl::Time deadline);

// Returns a connector for an address. The descriptor of "fd:N" serves the first connection only.
std::unique_ptr<Connector> MakeConnector(const rpc::Endpoint& endpoint, const TlsOptions& tls,
                                         const std::string& token);

// Returns INVALID_ARGUMENT, naming the field of ConnectOptions, when gRPC would refuse the token or a TLS
// text.
absl::Status CheckCredentials(const ConnectOptions& options);
// Returns the options and, for a TCP address that they leave to the environment, the credentials that they
// lack: $HLOD_TOKEN_FILE or $HLOD_TOKEN, $HLOD_TLS_CA, $HLOD_TLS_CERT and $HLOD_TLS_KEY (files).
absl::StatusOr<ConnectOptions> WithCredentialsOfEnvironment(const ConnectOptions& options,
                                                            rpc::Endpoint::Kind kind);
// Returns DEADLINE_EXCEEDED for a daemon that took a connection and then was silent for the time `limit`.
absl::Status NoAnswerWithin(absl::Duration limit);
// Returns `status`, the error of the first call on a connection to `endpoint`, with an explanation if TLS may
// be the reason: a daemon that requires TLS just drops a plain connection.
absl::Status ExplainDropped(const absl::Status& status, const rpc::Endpoint& endpoint, const TlsOptions& tls);
// Returns the address of the running daemon that the options ask for; nullopt when they ask for a private
// one.
absl::StatusOr<std::optional<rpc::Endpoint>> FindRunning(const ConnectOptions& options);
// Returns the connector that the options ask for.
absl::StatusOr<std::unique_ptr<Connector>> FindDaemon(const ConnectOptions& options);
// Returns the address for clients that do not start a daemon: `address`, otherwise $HLOD_ADDRESS, otherwise
// the user's running daemon.
absl::StatusOr<rpc::Endpoint> FindAddress(const std::string& address);

// Parses $HLOD_ABSTRACT; nullopt when it is not set.
absl::StatusOr<std::optional<AbstractRun>> AbstractRunOfEnvironment();

// Parses $HLOD_RING.
absl::StatusOr<rpc::RingUse> RingUseOfEnvironment();

// Starts `hlod --inherit-fd N` and returns the client's end of the socket pair. The daemon ends when that is
// closed.
absl::StatusOr<int> StartPrivateDaemon(const std::vector<std::string>& flags);
// Returns `status`, the error of a private daemon that ended before it answered, with its exit code and the
// end of its stderr. To get these it starts the daemon once more, without a client, and waits at most a few
// seconds for its end.
absl::Status ExplainPrivateDaemon(const absl::Status& status, const std::vector<std::string>& flags);
// Returns false when the library should not start daemons of its own (hidden_client.h): $HLOD_HOST_DAEMON is
// 0.
bool MayStartHiddenDaemon();
// Returns an error for a variable that turns a part of the client on or off and is neither 0 nor 1.
absl::Status CheckSwitches();
// Returns $HLOD_DAEMON, else `hlod` beside this program or this library (or in ../bin of either), else on
// $PATH. NOT_FOUND naming the places.
absl::StatusOr<std::string> FindDaemonBinary();

}  // namespace hlod::runtime
