// Calls the Admin service and converts its answers to the public structures.
#include "hlod/runtime/admin.h"

#include <algorithm>
#include <utility>

#include "client/runtime/handles/admin_connection.h"
#include "common/base/fields.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/wire.h"

namespace hlod {

struct Admin::Connection : runtime::AdminConnection {};

runtime::AdminConnection::~AdminConnection() {
  // A forked child does not destroy it, since gRPC's threads are the parent's.
  if (!owner_.IsThisOne()) static_cast<void>(new std::shared_ptr<v1::Admin::Stub>(std::move(stub_)));
}

absl::Status runtime::AdminConnection::Open(const ConnectOptions& options) {
  RETURN_IF_ERROR(CheckGrpc());
  RETURN_IF_ERROR(CheckSwitches());
  RETURN_IF_ERROR(CheckCredentials(options));
  ASSIGN_OR_RETURN(endpoint_, FindAddress(options.address));
  ASSIGN_OR_RETURN(options_, WithCredentialsOfEnvironment(options, endpoint_.kind));
  return Replace(nullptr, absl::Now() + options.timeout);
}

std::shared_ptr<v1::Admin::Stub> runtime::AdminConnection::CurrentStub() const {
  absl::MutexLock lock(&mu_);
  return stub_;
}

absl::Status runtime::AdminConnection::Replace(const std::shared_ptr<v1::Admin::Stub>& broken,
                                               absl::Time deadline) const {
  absl::MutexLock lock(&mu_);
  if (stub_ != broken) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel,
                   OpenChannel(endpoint_, options_.tls, options_.token, deadline));
  stub_ = v1::Admin::NewStub(channel);
  return absl::OkStatus();
}

namespace {

// ordinal, kind and cpu_features are not figures; nor are version, epoch, pid and totals.
static_assert(CountFields<DeviceRow>() == 3
#define HLOD_DEVICE_FIGURE(name, unit, type, metric, meaning) +1
#include "common/base/stats.inc"
              , "A figure of DeviceRow is not in common/base/stats.inc.");
static_assert(CountFields<DaemonStats>() == 4
#define HLOD_DAEMON_FIGURE(name, unit, type, metric, meaning) +1
#include "common/base/stats.inc"
              , "A figure of DaemonStats is not in common/base/stats.inc.");

std::string ShapeText(const xla::ShapeProto& proto) {
  const absl::StatusOr<Shape> shape = hlo::FromProto(proto);
  return shape.ok() ? hlo::ToStringNoLayout(*shape) : "?";
}

}  // namespace

absl::StatusOr<Admin> Admin::Connect(const ConnectOptions& options) {
  auto connection = std::make_shared<Connection>();
  RETURN_IF_ERROR(connection->Open(options));
  return Admin(std::move(connection));
}

absl::StatusOr<std::vector<DeviceRow>> Admin::Devices() const {
  ASSIGN_OR_RETURN(const v1::DeviceList list, connection_->Call(&v1::Admin::Stub::ListDevices, 0, 0));
  std::vector<DeviceRow> rows;
  for (const v1::Device& device : list.devices()) {
    DeviceRow& row = rows.emplace_back();
    row.ordinal = static_cast<int>(device.ordinal());
    row.kind = device.kind();
#define HLOD_DEVICE_FIGURE(name, unit, type, metric, meaning) row.name = device.name();
#include "common/base/stats.inc"
    row.cpu_features.assign(device.cpu_features().begin(), device.cpu_features().end());
  }
  return rows;
}

absl::StatusOr<BufferList> Admin::Buffers(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::BufferList list,
                   connection_->Call(&v1::Admin::Stub::ListBuffers, session, limit));
  BufferList rows;
  rows.total = list.total();
  for (const v1::BufferRow& buffer : list.buffers()) {
    rows.buffers.push_back({buffer.session(), buffer.handle(), static_cast<int>(buffer.device()),
                            ShapeText(buffer.shape()), buffer.bytes(), buffer.state(),
                            rpc::FromProto(buffer.origin())});
  }
  return rows;
}

absl::StatusOr<std::vector<ExecutableRow>> Admin::Executables(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::ExecutableList list,
                   connection_->Call(&v1::Admin::Stub::ListExecutables, session, limit));
  std::vector<ExecutableRow> rows;
  for (const v1::ExecutableRow& proto : list.executables()) {
    ExecutableRow& row = rows.emplace_back();
    row.digest = runtime::HexDigest(proto.digest());
    row.name = proto.name();
    row.instructions = proto.instructions();
    row.steps = proto.steps();
    row.fused_steps = proto.fused_steps();
    row.library_steps = proto.library_steps();
    row.movement_steps = proto.movement_steps();
    row.reference_steps = proto.reference_steps();
    row.slow_steps.assign(proto.slow_steps().begin(), proto.slow_steps().end());
    row.reference_opcodes.assign(proto.reference_opcodes().begin(), proto.reference_opcodes().end());
    row.temporary_bytes = proto.temporary_bytes();
    row.compile_us = proto.compile_us();
    row.executes = proto.executes();
    row.execute_us = proto.execute_us();
    row.network_us = proto.network_us();
    row.sessions = proto.sessions();
  }
  return rows;
}

absl::StatusOr<std::vector<SessionRow>> Admin::Sessions(int limit) const {
  ASSIGN_OR_RETURN(const v1::SessionList list, connection_->Call(&v1::Admin::Stub::ListSessions, 0, limit));
  std::vector<SessionRow> rows;
  for (const v1::SessionRow& session : list.sessions()) {
    rows.push_back({session.session(), session.client(), session.pid(), session.state(), session.age_us(),
                    runtime::StatsFromProto(session.stats()), session.messages()});
  }
  return rows;
}

absl::StatusOr<TransferList> Admin::Transfers(uint64_t session, int limit) const {
  ASSIGN_OR_RETURN(const v1::TransferList list,
                   connection_->Call(&v1::Admin::Stub::ListTransfers, session, limit));
  v1::SessionStats as_stats;
  *as_stats.mutable_rows() = list.rows();
  return TransferList{runtime::StatsFromProto(as_stats).rows, list.total()};
}

absl::StatusOr<DaemonStats> Admin::Stats() const {
  ASSIGN_OR_RETURN(const v1::DaemonStats proto, connection_->Call(&v1::Admin::Stub::GetStats, 0, 0));
  DaemonStats stats;
  stats.version = proto.version();
  stats.epoch = proto.epoch();
  stats.pid = proto.pid();
#define HLOD_DAEMON_FIGURE(name, unit, type, metric, meaning) stats.name = proto.name();
#include "common/base/stats.inc"
  stats.totals = runtime::StatsFromProto(proto.totals());
  return stats;
}

absl::StatusOr<Cluster> Admin::Cluster() const {
  ASSIGN_OR_RETURN(const v1::Cluster proto, connection_->Call(&v1::Admin::Stub::GetCluster, 0, 0));
  hlod::Cluster cluster;
  cluster.name = proto.name();
  cluster.join = proto.join();
  cluster.member = proto.self().joined() != 0;
  cluster.epoch = static_cast<int64_t>(proto.epoch());
  cluster.size = proto.size();
  cluster.peer_silence_us = static_cast<int64_t>(proto.peer_silence_us());
  for (const v1::ClusterMember& row : proto.members()) {
    cluster.members.push_back({.rank = row.member().rank(),
                               .name = row.member().name(),
                               .address = row.member().address(),
                               .incarnation = absl::StrFormat("%016x", row.member().incarnation()),
                               .devices = row.member().devices(),
                               .joined = static_cast<int64_t>(row.member().joined()),
                               .state = row.state(),
                               .round_trip_us = row.round_trip_us(),
                               .silent_us = row.silent_us()});
  }
  for (const v1::DepartedMember& row : proto.departed())
    cluster.departed.push_back({row.member().rank(), row.member().name(), row.why(), row.us_ago()});
  cluster.missing = proto.missing();
  cluster.problem = proto.problem();
  return cluster;
}

absl::StatusOr<TriedLaunches> Admin::TryLaunches(int count) const {
  // The daemon gives up by itself before.
  constexpr absl::Duration kAtMost = absl::Minutes(2);
  v1::TryLaunchesRequest request;
  request.set_count(static_cast<uint32_t>(std::max(count, 0)));
  ASSIGN_OR_RETURN(const v1::TriedLaunches proto,
                   connection_->Call(&v1::Admin::Stub::TryLaunches, request, kAtMost));
  return hlod::TriedLaunches{{proto.launch_us().begin(), proto.launch_us().end()}, proto.daemons()};
}

}  // namespace hlod
