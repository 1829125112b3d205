// Ways to a daemon: an address, or the chain of places where one is looked for, down to a private daemon
// started as a child.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/runtime/abstract_session.h"
#include "client/runtime/pipe.h"
#include "common/rpc/endpoint.h"
#include "hlod/client.h"

namespace hlod::internal {

// A gRPC channel on a connection made now, over which `token` may be sent. INVALID_ARGUMENT, before anything
// is connected, when it would travel in clear to another host; kind lost_session when nothing listens there;
// kind auth when somebody listens there who is not trusted (Endpoint::found);
// UNAVAILABLE naming the address when it cannot be reached. An insecure channel is one socket: when that
// breaks, the channel is dead.
absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const rpc::Endpoint& endpoint,
                                                           const TlsOptions& tls, const std::string& token,
                                                           absl::Time deadline);

// A connector for an address. The descriptor of "fd:N" is used up by the first connection.
std::unique_ptr<Connector> MakeConnector(const rpc::Endpoint& endpoint, const TlsOptions& tls,
                                         const std::string& token);

// INVALID_ARGUMENT when gRPC would not take the token or the TLS texts; their names are ConnectOptions'.
absl::Status CheckCredentials(const ConnectOptions& options);
// `status` of the first call on a connection to `endpoint`. A daemon behind TLS just drops a plain
// connection: the error then says that this may be why.
absl::Status ExplainDropped(const absl::Status& status, const rpc::Endpoint& endpoint, const TlsOptions& tls);
// The connector that ConnectOptions asks for.
absl::StatusOr<std::unique_ptr<Connector>> FindDaemon(const ConnectOptions& options);
// The address alone, for clients that do not start a daemon: the given one, $HLOD_ADDRESS, or the user's
// running daemon.
absl::StatusOr<rpc::Endpoint> FindAddress(const std::string& address);

// What $HLOD_ABSTRACT asks for; nothing when it is not set.
absl::StatusOr<std::optional<AbstractRun>> AbstractRunOfEnvironment();

// Starts `hlod --inherit-fd N` and gives our end of the socket pair. The daemon ends when it closes.
absl::StatusOr<int> StartPrivateDaemon(const std::vector<std::string>& flags);
// `status` of a private daemon that ended before it answered: with its exit code and the end of what it wrote
// to stderr when it is started so once more, without a client. Waits for that at most a few seconds.
absl::Status ExplainPrivateDaemon(const absl::Status& status, const std::vector<std::string>& flags);
// $HLOD_DAEMON, else `hlod` beside this program or this library (or in ../bin of either), else on $PATH.
// NOT_FOUND naming the places.
absl::StatusOr<std::string> FindDaemonBinary();

}  // namespace hlod::internal
