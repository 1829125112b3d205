// Several streams, one after the other, on a connection that can be made only once.
#include "client/runtime/connection/group_daemon.h"

#include <fcntl.h>
#include <poll.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/connection/grpc_pipe.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

class GroupDaemonConnector : public Connector {
 public:
  explicit GroupDaemonConnector(std::shared_ptr<GroupDaemon> daemon) : daemon_(std::move(daemon)) {}
  absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline) override {
    return daemon_->Open(deadline);
  }
  absl::Status Explain(const absl::Status& status) override {
    return ExplainPrivateDaemon(status, daemon_->flags());
  }
  std::shared_ptr<BulkChannel> bulk() override { return daemon_->bulk(); }
  const std::string& address() const override { return daemon_->address(); }
  bool local() const override { return true; }

 private:
  const std::shared_ptr<GroupDaemon> daemon_;
};

}  // namespace

GroupDaemon::GroupDaemon(int socket, std::vector<std::string> flags)
    : flags_(std::move(flags)),
      address_(absl::StrCat("fd:", socket)),
      watched_(fcntl(socket, F_DUPFD_CLOEXEC, 0)),
      socket_(socket) {}

absl::StatusOr<std::shared_ptr<GroupDaemon>> GroupDaemon::Start(std::vector<std::string> flags) {
  ASSIGN_OR_RETURN(const int socket, StartPrivateDaemon(flags));
  return std::shared_ptr<GroupDaemon>(new GroupDaemon(socket, std::move(flags)));
}

std::unique_ptr<Connector> GroupDaemon::ConnectorTo(std::shared_ptr<GroupDaemon> daemon) {
  return std::make_unique<GroupDaemonConnector>(std::move(daemon));
}

absl::StatusOr<std::shared_ptr<Pipe>> GroupDaemon::Open(absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  if (channel_ == nullptr) {
    rpc::Endpoint inherited;
    inherited.kind = rpc::Endpoint::Kind::kDescriptor;
    inherited.descriptor = std::exchange(socket_, -1);
    ASSIGN_OR_RETURN(channel_, OpenChannel(inherited, {}, "", deadline));
    bulk_ = MakeGrpcBulk(channel_, "", absl::InfiniteDuration());
  } else if (pollfd polled{watched_.get(), POLLRDHUP, 0}; poll(&polled, 1, 0) > 0) {
    return MakeError(ErrorKind::kLostSession, "The private daemon ended.");
  }
  return OpenGrpcPipe(channel_, "", deadline);
}

std::shared_ptr<BulkChannel> GroupDaemon::bulk() {
  absl::MutexLock lock(&mu_);
  return bulk_;
}

}  // namespace hlod::runtime
