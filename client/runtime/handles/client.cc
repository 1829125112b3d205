// Connects, and asks the daemon about the session.
#include "hlod/runtime/client.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/cluster/group_part.h"
#include "client/runtime/connection/background_closer.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/handles/hidden_client.h"
#include "client/runtime/mesh/divided_program.h"
#include "client/runtime/observe/debug_analysis.h"
#include "client/runtime/observe/metrics.h"
#include "client/runtime/observe/profile_writer.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/shardy.h"
#include "common/hlo/text/text.h"

namespace hlod {
using runtime::Command;
using runtime::Session;

namespace {

// Returns `status` as a program error or, if `program` is StableHLO or HLO text, an error that names the
// function for that form.
absl::Status AsProgramError(const absl::Status& status, std::string_view program) {
  const std::string_view text =
      program.substr(std::min(program.find_first_not_of(" \t\r\n"), program.size()));
  const auto starts = [&](std::string_view word) { return text.starts_with(word); };
  std::string_view form, reader;
  if (starts("ML\xefR") || starts("module ") || starts("#loc") || starts("func.func")) {
    form = "StableHLO";
    reader = "LoadFunction (hlod/transform/foreign.h) reads it, and `hloctl convert` makes HLO of it";
  } else if (starts("HloModule")) {
    form = "HLO text";
    reader = "CompileText reads it";
  }
  if (form.empty()) return hlod::AsProgramError(status);
  return hlod::AsProgramError(InvalidArgument("The program is %s: %s.", form, reader));
}

// Returns a copy of the module whose partition count is the size of its mesh. Null when the module states a
// partition count, or has no mesh.
std::unique_ptr<Module> WithPartitions(const Module& module) {
  if (module.config.partition_count > 1) return nullptr;
  const int64_t partitions = hlo::PartitionsToRun(module);
  if (partitions <= 1) return nullptr;
  std::unique_ptr<Module> stated = hlo::Clone(module);
  stated->config.partition_count = partitions;
  return stated;
}

// Returns the closer of all sessions of this process. A program that ends right after its last session waits
// briefly for it: over TCP a daemon that never received the goodbye would keep the session for its grace
// period.
const std::shared_ptr<runtime::BackgroundCloser>& Closer() {
  // The time limit for all streams together.
  constexpr absl::Duration kExitTimeout = absl::Milliseconds(500);
  static const auto* const closer =
      new std::shared_ptr<runtime::BackgroundCloser>(std::make_shared<runtime::BackgroundCloser>());
  struct FlushAtExit {
    ~FlushAtExit() { (*closer)->Flush(kExitTimeout); }
  };
  static const FlushAtExit flush;
  return *closer;
}

absl::StatusOr<Client> Open(const ConnectOptions& options, const std::optional<AbstractOptions>& abstract,
                            bool hidden = false, const runtime::GroupPart* part = nullptr,
                            std::shared_ptr<runtime::GroupDaemon> own = nullptr) {
  std::unique_ptr<runtime::Connector> connector;
  if (own != nullptr) {
    connector = runtime::GroupDaemon::ConnectorTo(std::move(own));
  } else {
    ASSIGN_OR_RETURN(connector, runtime::FindDaemon(options));
  }
  runtime::SessionOptions session_options;
  session_options.closer = Closer();
  session_options.name = options.name.empty()
                             ? absl::StrFormat("%s pid %d", program_invocation_short_name, getpid())
                             : options.name;
  session_options.timeout = options.timeout;
  session_options.shared_memory = options.shared_memory;
  ASSIGN_OR_RETURN(session_options.ring, runtime::RingUseOfEnvironment());
  session_options.skip_local_checks = options.skip_local_checks;
  session_options.hidden = hidden;
  if (part != nullptr) {
    session_options.daemons = part->daemons;
    session_options.first_device = part->first_device;
    session_options.pass = part->pass;
  } else if (abstract.has_value()) {
    ASSIGN_OR_RETURN(session_options.abstract,
                     runtime::AbstractSession::Open(*abstract, session_options.name));
  } else if (!hidden) {
    session_options.reach =
        [options](const std::string& address) -> absl::StatusOr<std::unique_ptr<runtime::Connector>> {
      ASSIGN_OR_RETURN(ConnectOptions there,
                       runtime::WithCredentialsOfEnvironment(options, rpc::Endpoint::Kind::kTcp));
      there.address = address;
      return runtime::FindDaemon(there);
    };
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Session> session, Session::Open(std::move(connector), session_options));
  if (part != nullptr) part->daemons->SetHome(session);
  if (hidden) return Client(std::move(session));
  if (abstract.has_value() && !abstract->log.empty()) runtime::EndAtExit(session);
  runtime::ReportSession(session);
  RETURN_IF_ERROR(runtime::BeginDebugAnalysis());
  RETURN_IF_ERROR(runtime::RecordSession(session));
  return Client(std::move(session));
}

// Returns the sessions of the same client with other daemons of the cluster.
std::vector<std::shared_ptr<Session>> Others(const Session& session) {
  const std::shared_ptr<runtime::Daemons>& daemons = session.place().daemons;
  if (daemons == nullptr || session.options().daemons != nullptr) return {};
  return daemons->Opened();
}

// Waits until all commands that were sent to one daemon are settled.
absl::Status SyncOne(Session& session, const Caller& caller) {
  v1::Command command;
  command.mutable_ping();
  ASSIGN_OR_RETURN(const Command sent, session.Send(caller, std::move(command)));
  return session.Wait(*sent);
}

// Returns the account of one daemon, with the devices' numbers of the client.
absl::StatusOr<SessionStats> StatsOfOne(Session& session, const Caller& caller) {
  v1::Command command;
  command.mutable_stats();
  ASSIGN_OR_RETURN(const Command sent, session.Send(caller, std::move(command)));
  RETURN_IF_ERROR(session.Wait(*sent));
  SessionStats stats = runtime::StatsFromProto(sent->reply.stats());
  stats.refused_before_sending = session.refused_before_sending;
  for (LedgerRow& row : stats.rows) row.device += session.options().first_device;
  return stats;
}

}  // namespace

absl::StatusOr<Client> Client::Connect(const ConnectOptions& options) {
  RETURN_IF_ERROR(runtime::CheckGrpc());
  ASSIGN_OR_RETURN(const std::optional<runtime::AbstractRun> run, runtime::AbstractRunOfEnvironment());
  if (!run.has_value()) return Open(options, std::nullopt);
  // The program's own choice of a daemon is ignored.
  ConnectOptions here;
  here.address = run->address;
  here.name = options.name;
  return Open(here, run->options);
}

absl::StatusOr<Client> runtime::ConnectHidden(const ConnectOptions& options) {
  RETURN_IF_ERROR(runtime::CheckGrpc());
  if (!MayStartHiddenDaemon()) return MakeError(ErrorKind::kArgument, "HLOD_HOST_DAEMON is 0.");
  ConnectOptions own = options;
  own.address = "private";
  return Open(own, std::nullopt, /*hidden=*/true);
}

absl::StatusOr<Client> runtime::ConnectToAsk(const ConnectOptions& options,
                                             const std::shared_ptr<GroupDaemon>& own) {
  RETURN_IF_ERROR(runtime::CheckGrpc());
  return Open(options, std::nullopt, /*hidden=*/true, nullptr, own);
}

absl::StatusOr<Client> runtime::ConnectAs(const GroupPart& part, const ConnectOptions& options,
                                          const std::shared_ptr<GroupDaemon>& own) {
  return Open(options, std::nullopt, /*hidden=*/false, &part, own);
}

absl::StatusOr<Client> ConnectAbstract(const AbstractOptions& abstract, const ConnectOptions& options) {
  RETURN_IF_ERROR(runtime::CheckGrpc());
  return Open(options, abstract);
}

absl::StatusOr<Client> Client::Connect(std::string_view address) {
  ConnectOptions options;
  options.address = std::string(address);
  return Connect(options);
}

int Client::device_count() const { return static_cast<int>(session_->daemon().devices.size()); }
const std::vector<DeviceInfo>& Client::devices() const { return session_->daemon().devices; }

absl::StatusOr<Executable> Client::Compile(const Module& module, const CompileOptions& options,
                                           Caller caller) const {
  RETURN_IF_ERROR(hlo::CheckBuilt(module));
  if (options.mesh.has_value())
    return runtime::CompileDivided(session_, &module, /*program=*/"", options, caller);
  const std::unique_ptr<Module> stated = WithPartitions(module);
  const Module& run = stated != nullptr ? *stated : module;
  return runtime::CompileBytes(session_, &run, hlo::Serialize(run), options.describe, caller);
}

absl::StatusOr<Executable> Client::CompileSerialized(std::string_view bytes, const CompileOptions& options,
                                                     Caller caller) const {
  const absl::StatusOr<std::unique_ptr<Module>> module = hlo::FromSerialized(bytes);
  if (options.mesh.has_value()) {
    return runtime::CompileDivided(session_, module.ok() ? module->get() : nullptr, std::string(bytes),
                                   options, caller);
  }
  if (!module.ok() && !session_->options().skip_local_checks) return AsProgramError(module.status(), bytes);
  if (module.ok()) {
    if (const std::unique_ptr<Module> stated = WithPartitions(**module); stated != nullptr)
      return runtime::CompileBytes(session_, stated.get(), hlo::Serialize(*stated), options.describe, caller);
  }
  return runtime::CompileBytes(session_, module.ok() ? module->get() : nullptr, std::string(bytes),
                               options.describe, caller);
}

absl::StatusOr<Executable> Client::CompileText(std::string_view text, const CompileOptions& options,
                                               Caller caller) const {
  const absl::StatusOr<std::unique_ptr<Module>> module = hlo::ParseModule(text);
  if (!module.ok())
    return text.starts_with("HloModule") ? hlod::AsProgramError(module.status())
                                         : AsProgramError(module.status(), text);
  return Compile(**module, options, caller);
}

absl::Status Client::StepMark(uint64_t step, Caller caller) const {
  session_->program_counts_steps = true;
  RETURN_IF_ERROR(runtime::MarkStep(*session_, step, caller));
  if (runtime::AbstractSession* const abstract = session_->options().abstract.get(); abstract != nullptr)
    abstract->EndStep(*session_, /*marked=*/true, caller);
  return absl::OkStatus();
}

absl::Status runtime::MarkStep(Session& session, uint64_t step, const Caller& caller) {
  session.step = step;
  for (const std::shared_ptr<Session>& other : Others(session)) {
    // A daemon that is gone counts no steps.
    if (other->status().ok()) MarkStep(*other, step, caller).IgnoreError();
  }
  v1::Command command;
  command.mutable_step_mark()->set_step(step);
  return session.TransactLazily(caller, [&](Session::Sender& sender) { sender.Add(std::move(command)); });
}

absl::Status Client::Sync(Caller caller) const {
  const runtime::DeliverEventsAtExit events;
  const runtime::Stopwatch watch;
  absl::Status status = SyncOne(*session_, caller);
  // A daemon that is gone has settled all.
  for (const std::shared_ptr<Session>& other : Others(*session_)) {
    const absl::Status there = SyncOne(*other, caller);
    if (KindOf(there) != ErrorKind::kLostDaemon) status.Update(there);
  }
  runtime::EmitWait(*session_, WaitCause::kSettle, caller, watch.us());
  return status;
}

absl::StatusOr<absl::Duration> Client::Ping(Caller caller) const {
  v1::Command command;
  command.mutable_ping()->set_at_once(true);
  const absl::Time start = absl::Now();
  ASSIGN_OR_RETURN(const Command sent, session_->Send(caller, std::move(command)));
  RETURN_IF_ERROR(session_->Wait(*sent));
  return absl::Now() - start;
}

absl::StatusOr<SessionStats> Client::Stats(Caller caller) const {
  ASSIGN_OR_RETURN(SessionStats stats, StatsOfOne(*session_, caller));
  for (const std::shared_ptr<Session>& other : Others(*session_)) {
    const absl::StatusOr<SessionStats> there = StatsOfOne(*other, caller);
    // A daemon's account ends with it.
    if (!there.ok() && KindOf(there.status()) == ErrorKind::kLostDaemon) continue;
    RETURN_IF_ERROR(there.status());
    runtime::Add(*there, stats);
  }
  return stats;
}

absl::Status Client::Close(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  runtime::RecordSessionEnd(session_);
  if (runtime::AbstractSession* const abstract = session_->options().abstract.get(); abstract != nullptr)
    abstract->End(*session_, "closed", {}, "");
  absl::Status status;
  for (const std::shared_ptr<Session>& other : Others(*session_)) {
    const absl::Status there = other->Close(deadline);
    if (KindOf(there) != ErrorKind::kLostDaemon) status.Update(there);
  }
  const absl::Status own = session_->Close(deadline);
  return own.ok() ? status : own;
}
absl::Status Client::status() const { return session_->status(); }
const Limits& Client::limits() const { return session_->daemon().limits; }
const std::string& Client::address() const { return session_->connector().address(); }
const std::string& Client::daemon() const { return session_->daemon().name; }
uint64_t Client::epoch() const { return session_->daemon().epoch; }
uint64_t Client::session_id() const { return session_->id(); }
bool Client::has_shared_memory() const { return session_->arena() != nullptr; }

}  // namespace hlod
