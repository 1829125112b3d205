// Lists of the daemon's sessions, devices, programs and accounts.
#include "server/session/admin.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"

#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/wire.h"
#include "server/session/stats.h"

namespace hlod::session {
namespace {

using Request = v1::ListRequest;

int64_t LimitOf(const Request& request) { return request.limit() > 0 ? request.limit() : 1000; }

std::vector<std::shared_ptr<Session>> Chosen(Registry& registry, const Request& request) {
  std::vector<std::shared_ptr<Session>> sessions = registry.List();
  if (request.session() != 0) {
    std::erase_if(sessions, [&](const std::shared_ptr<Session>& session) {
      return session->identity().id != request.session();
    });
  }
  return sessions;
}

std::string ListDevices(Registry& registry, const Request&) {
  v1::DeviceList list;
  device::Devices& devices = registry.devices();
  std::vector<device::SessionDevice::Counts> counts(devices.count());
  for (const std::shared_ptr<Session>& session : registry.List()) {
    const std::vector<device::SessionDevice::Counts> of_session = session->session_device().device_counts();
    for (uint32_t i = 0; i < devices.count(); ++i) counts[i] += of_session[i];
  }
  for (uint32_t i = 0; i < devices.count(); ++i) {
    device::Device& device = devices.device(i);
    const device::DeviceMemory::Figures figures = device.memory.figures();
    v1::Device& row = *list.add_devices();
    row.set_ordinal(i);
    row.set_kind(device.kind);
    row.set_capacity_bytes(device.memory.capacity_bytes());
    row.set_used_bytes(figures.used_bytes);
    row.set_peak_bytes(figures.peak_bytes);
    row.set_temporary_bytes(figures.temporary_bytes);
    row.set_buffers(counts[i].buffers);
    row.set_placeholders(counts[i].placeholders);
    row.set_queued_executes(device.queue.length() + counts[i].waiting_executes);
    for (const std::string& feature : device.cpu_features) row.add_cpu_features(feature);
  }
  return list.SerializeAsString();
}

std::string ListBuffers(Registry& registry, const Request& request) {
  std::vector<std::pair<uint64_t, device::BufferInfo>> all;
  for (const std::shared_ptr<Session>& session : Chosen(registry, request)) {
    for (device::BufferInfo& buffer : session->session_device().ListBuffers())
      all.emplace_back(session->identity().id, std::move(buffer));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (a.second.bytes != b.second.bytes) return a.second.bytes > b.second.bytes;
    return std::tie(a.first, a.second.handle) < std::tie(b.first, b.second.handle);
  });
  v1::BufferList list;
  list.set_total(static_cast<int64_t>(all.size()));
  for (size_t i = 0; i < all.size() && static_cast<int64_t>(i) < LimitOf(request); ++i) {
    const auto& [session, buffer] = all[i];
    v1::BufferRow& row = *list.add_buffers();
    row.set_session(session);
    row.set_handle(buffer.handle);
    row.set_device(buffer.device);
    if (buffer.shape.type != hlo::kInvalid) *row.mutable_shape() = hlo::ToProto(buffer.shape);
    row.set_bytes(buffer.bytes);
    row.set_state(std::string(device::Name(buffer.state)));
    *row.mutable_origin() = rpc::ToProto(buffer.origin);
  }
  return list.SerializeAsString();
}

std::string ListExecutables(Registry& registry, const Request& request) {
  v1::ExecutableList list;
  for (const std::shared_ptr<device::Executable>& executable : registry.devices().executables().List()) {
    if (list.executables_size() >= LimitOf(request)) break;
    const engine::PlanStats& stats = executable->plan().stats();
    v1::ExecutableRow& row = *list.add_executables();
    row.set_digest(std::string(executable->digest().begin(), executable->digest().end()));
    row.set_name(executable->name());
    row.set_instructions(stats.instructions);
    row.set_steps(stats.steps);
    row.set_fused_steps(stats.fused_steps);
    row.set_library_steps(stats.library_steps);
    row.set_movement_steps(stats.movement_steps);
    row.set_reference_steps(stats.reference_steps);
    for (const std::string& opcode : stats.reference_opcodes) row.add_reference_opcodes(opcode);
    for (const std::string& step : stats.slow_steps) row.add_slow_steps(step);
    row.set_temporary_bytes(executable->plan().memory().temporary_bytes);
    row.set_compile_us(stats.compile_us);
    row.set_executes(executable->executes);
    row.set_execute_us(executable->execute_us);
    row.set_network_us(executable->network_us);
    row.set_sessions(executable->holders);
  }
  return list.SerializeAsString();
}

std::string ListSessions(Registry& registry, const Request& request) {
  v1::SessionList list;
  const absl::Time now = registry.devices().clock().Now();
  for (const std::shared_ptr<Session>& session : Chosen(registry, request)) {
    if (list.sessions_size() >= LimitOf(request)) break;
    v1::SessionRow& row = *list.add_sessions();
    row.set_session(session->identity().id);
    row.set_client(session->identity().client);
    row.set_pid(session->identity().pid);
    row.set_state(session->answers().detached_since().has_value() ? "waiting" : "connected");
    if (session->answers().connected()) row.set_messages(session->answers().uses_ring() ? "ring" : "stream");
    row.set_age_us(absl::ToInt64Microseconds(now - session->created()));
    *row.mutable_stats() = session->Stats(/*with_rows=*/false);
  }
  return list.SerializeAsString();
}

// Calls `call` with each requested account, the lines of its program, and its session (0: several).
void ForEachAccount(
    Registry& registry, const Request& request, device::Detail detail,
    absl::FunctionRef<void(const device::Account& account, const Lines& lines, uint64_t session)> call) {
  const Registry::Accounts accounts = registry.AllAccounts();
  for (const std::shared_ptr<Session>& session : accounts.sessions) {
    if (request.session() != 0 && request.session() != session->identity().id) continue;
    const std::shared_ptr<device::SessionDevice>& session_device = session->shared_session_device();
    call(
        session_device->ledger().account(detail), [&](uint32_t id) { return LineOf(*session_device, id); },
        session->identity().id);
  }
  for (const auto& account : accounts.kept) {
    if (request.session() != 0 && request.session() != account->session) continue;
    const auto line = [&](uint32_t id) {
      const auto found = account->lines.find(id);
      return found == account->lines.end() ? v1::Origin() : found->second;
    };
    call(account->account, line, account->session);
  }
  if (request.session() == 0) call(accounts.others, [](uint32_t) { return v1::Origin(); }, 0);
}

// Appends rows up to the request's limit, and sums up the rest in few rows when the request asks for that.
template <typename Row, typename List>
class Rows {
 public:
  explicit Rows(const Request& request) : limit_(LimitOf(request)), fold_(request.fold()) {}

  void Add(const Row& row, uint32_t origin, const Lines& lines, uint64_t session) {
    if (++total_ <= limit_) FillRow(row, lines(origin), session, list_.add_rows());
    else if (fold_) rest_[session].push_back(row);
  }
  // `fold` returns few rows that have the sums of many.
  std::string Finish(absl::FunctionRef<std::vector<Row>(const std::vector<Row>&)> fold) {
    for (const auto& [session, rows] : rest_) {
      for (const Row& row : fold(rows)) FillRow(row, v1::Origin(), session, list_.add_rows());
    }
    list_.set_total(total_);
    return list_.SerializeAsString();
  }

 private:
  const int64_t limit_;
  const bool fold_;
  int64_t total_ = 0;
  List list_;
  std::map<uint64_t, std::vector<Row>> rest_;
};

// Returns the account of an ended session in the form in which the daemon's ledger keeps it.
device::Account Folded(device::Account account) {
  device::Ledger ledger;
  ledger.FoldRows(account);
  return ledger.ended();
}

std::string ListTransfers(Registry& registry, const Request& request) {
  Rows<device::Row, v1::TransferList> rows(request);
  ForEachAccount(registry, request, device::Detail::kTransfers,
                 [&](const device::Account& account, const Lines& lines, uint64_t session) {
                   for (const device::Row& row : account.rows) rows.Add(row, row.key.origin, lines, session);
                 });
  return rows.Finish([](const std::vector<device::Row>& rest) { return Folded({.rows = rest}).rows; });
}

std::string ListRuns(Registry& registry, const Request& request) {
  Rows<device::RunRow, v1::RunList> rows(request);
  ForEachAccount(registry, request, device::Detail::kAll,
                 [&](const device::Account& account, const Lines& lines, uint64_t session) {
                   for (const device::RunRow& row : account.runs)
                     rows.Add(row, row.key.origin, lines, session);
                 });
  return rows.Finish([](const std::vector<device::RunRow>& rest) { return Folded({.runs = rest}).runs; });
}

std::string ListCompiles(Registry& registry, const Request& request) {
  Rows<device::CompileRow, v1::CompileList> rows(request);
  ForEachAccount(registry, request, device::Detail::kAll,
                 [&](const device::Account& account, const Lines& lines, uint64_t session) {
                   for (const device::CompileRow& row : account.compiles)
                     rows.Add(row, row.origin, lines, session);
                 });
  return rows.Finish(
      [](const std::vector<device::CompileRow>& rest) { return Folded({.compiles = rest}).compiles; });
}

std::string GetStats(Registry& registry, const Request&) { return registry.Stats().SerializeAsString(); }

// Returns true when a session of this number is open, or ended recently enough for its own rows to be kept.
bool HasAccountOf(Registry& registry, uint64_t session) {
  const auto is = [session](const auto& account) { return account->session == session; };
  const Registry::Accounts accounts = registry.AllAccounts();
  return std::ranges::any_of(accounts.kept, is) ||
         std::ranges::any_of(accounts.sessions,
                             [session](const auto& open) { return open->identity().id == session; });
}

struct Method {
  const char* name;
  std::string (*answer)(Registry&, const Request&);
};
constexpr Method kMethods[] = {
    {"ListDevices", ListDevices},   {"ListBuffers", ListBuffers},     {"ListExecutables", ListExecutables},
    {"ListSessions", ListSessions}, {"ListTransfers", ListTransfers}, {"GetStats", GetStats},
    {"ListRuns", ListRuns},         {"ListCompiles", ListCompiles},
};

}  // namespace

absl::StatusOr<std::string> AnswerAdmin(Registry& registry, const std::string& method,
                                        const std::string& request) {
  v1::ListRequest parsed;
  if (!parsed.ParseFromString(request)) return InvalidArgument("The request is not an hlod.v1.ListRequest.");
  if (parsed.session() != 0 && !HasAccountOf(registry, parsed.session())) {
    return NotFound(
        "There is no session %d: none has had this number, or it ended so long ago that its rows are part of "
        "the sum of ended sessions.",
        parsed.session());
  }
  for (const Method& row : kMethods) {
    if (method == row.name) return row.answer(registry, parsed);
  }
  return Unimplemented("Administration has no method %s.", method);
}

}  // namespace hlod::session
