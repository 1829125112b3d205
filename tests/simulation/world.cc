// Steps, faults and checks.
#include "tests/simulation/world.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hlod::simulation {

World::World(const WorldOptions& options) : options_(options), seed_(options.seed) {
  traits_.elements = seed_.OneIn(2) ? 4 : 1024;
  traits_.cancels = seed_.OneIn(2);
  traits_.placeholders = !seed_.OneIn(3);
  traits_.streams = !seed_.OneIn(3);
  // Room for about 8 or for all buffers of all clients.
  device_bytes_ = seed_.OneIn(2) ? static_cast<int64_t>(8 * traits_.elements * sizeof(float)) : 8 << 20;
  if (seed_.OneIn(3)) limits_.commands_in_flight_max = 8;
  traits_.in_flight_max = limits_.commands_in_flight_max > 64 ? 48 : limits_.commands_in_flight_max + 2;
  if (seed_.OneIn(4)) limits_.handles_per_session_max = 10;
  if (seed_.OneIn(4)) limits_.reasons_kept = 4;
  // Room for four uploads; programs and executes that wait have as much.
  if (traits_.elements > 4 && seed_.OneIn(3))
    limits_.staging_bytes_max = static_cast<int64_t>(4 * traits_.elements * sizeof(float));
  traits_.staging_bytes_max = limits_.staging_bytes_max;
  StartDaemon();
  const size_t clients = 1 + seed_.Below(4);
  for (size_t i = 0; i < clients; ++i)
    clients_.push_back(std::make_unique<Client>(absl::StrFormat("client %d", i), traits_, seed_.Next()));
}

World::~World() {
  wires_.clear();
  registry_.reset();
}

void World::Log(const std::string& what) {
  if (options_.show) std::printf("%6lld  %s\n", static_cast<long long>(steps_), what.c_str());
  for (const char c : what) trace_hash_ = (trace_hash_ ^ static_cast<uint8_t>(c)) * 1099511628211u;
  trace_.push_back(what);
}

void World::StartDaemon() {
  device::Devices::Options options;
  options.device_bytes = device_bytes_;
  options.host_bytes = 16 << 20;
  options.threads = 1;
  options.manual = true;
  options.limits = limits_;
  devices_ = device::Devices::Create(options, clock_).value();
  registry_ = std::make_unique<session::Registry>(
      *devices_, processes_, session::Registry::Options{.epoch = ++epoch_, .daemon = "simulated"});
  detached_since_.clear();
}

// -----------------------------------------------------------------------------------------------------------
// steps

void World::Connect(Client& client) {
  wires_.push_back(client.Connect(*registry_));
  Log(absl::StrCat(client.name(), " connects"));
}

void World::StepNetwork() {
  if (wires_.empty()) return;
  const std::shared_ptr<Wire> wire = wires_[seed_.Below(wires_.size())];
  if (!wire->Deliver(1 + seed_.Below(seed_.OneIn(3) ? 64 : 1 << 16), seed_))
    Wrong("a message is no ClientMessage");
  std::erase_if(wires_,
                [](const std::shared_ptr<Wire>& w) { return w->connection == nullptr && w->client_knows; });
}

void World::StepClient(bool faults) {
  Client& client = *clients_[seed_.Below(clients_.size())];
  client.Receive();
  if (client.wire() == nullptr) {
    if (!faults || seed_.OneIn(3)) Connect(client);
    return;
  }
  // It finds out that its connection is cut.
  if (client.wire()->stream->cut && (!faults || seed_.OneIn(3))) {
    Log(absl::StrCat(client.name(), " notices the cut"));
    return client.Leave();
  }
  if (client.welcomed()) client.Act(/*may_make=*/faults);
  if (!faults) client.SendOutbox();
  client.MoveBulk(*registry_);
}

void World::StepFault() {
  Client& client = *clients_[seed_.Below(clients_.size())];
  switch (seed_.Below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      if (client.wire() == nullptr) return;
      Log(absl::StrCat("the connection of ", client.name(), " is cut"));
      return client.wire()->Cut();
    case 4:
    case 5:
    case 6:  // It connects anew, while the daemon still believes in the old connection.
      if (client.wire() == nullptr) return;
      Log(absl::StrCat(client.name(), " leaves its connection half open"));
      return client.Leave();
    case 7:
    case 8: {  // The daemon finds out about a cut, or that a client has left.
      for (const std::shared_ptr<Wire>& wire : wires_) {
        if (!wire->stream->cut && !wire->client_knows) continue;
        Log("the daemon notices an end");
        return wire->TellDaemonOfEnd();
      }
      return;
    }
    case 9:
      Log(absl::StrCat(client.name(), " is killed, and begins anew"));
      if (client.wire() != nullptr) client.wire()->Cut();
      return client.Forget();
    case 10:
      if (!seed_.OneIn(3)) return;
      Log("the daemon is killed, and started again");
      for (const std::shared_ptr<Wire>& wire : wires_) {
        wire->Cut();
        wire->connection.reset();
      }
      for (const std::unique_ptr<Client>& other : clients_) other->DropTransfers();
      registry_.reset();
      devices_.reset();
      return StartDaemon();
    case 11:
      Log("the clock advances by half of the grace period");
      return clock_.Advance(absl::Microseconds(limits_.grace_us / 2 + 1));
  }
}

void World::StepTime(bool faults) {
  clock_.Advance(absl::Milliseconds(faults ? seed_.Below(50) : 10));
  registry_->Tick();
}

void World::Step(bool faults) {
  ++steps_;
  switch (seed_.Below(faults ? 33 : 30)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: StepClient(faults); break;
    case 9: StepTime(faults); break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
    case 16:
    case 17: devices_->RunNext(seed_.Below(4)); break;
    case 30:
    case 31:
    case 32:
      if (seed_.OneIn(4)) StepFault();
      break;
    default: StepNetwork();
  }
  Check();
}

std::string World::Play() {
  for (int step = 0; step < options_.steps && wrong_.empty(); ++step) Step(/*faults=*/true);
  if (wrong_.empty()) Heal();
  if (wrong_.empty()) CheckQuiet();
  if (wrong_.empty()) End();
  return wrong_;
}

bool World::quiet() {
  const bool idle = std::all_of(clients_.begin(), clients_.end(), [&](const std::unique_ptr<Client>& client) {
    if (!client->welcomed() || !client->idle()) return false;
    // Replies whose acknowledgement was lost may still come again, to be acknowledged once more.
    const WireStream& stream = *client->wire()->stream;
    if (stream.unconfirmed > 0 || stream.down.unread() > 0) return false;
    const auto session = registry_->Authenticate(client->session(), client->secret());
    return !session.ok() || !(*session)->answers().HasNews();
  });
  return idle && devices_->queued() == 0;
}

// Faults have ended: all clients get through, and every command is answered.
void World::Heal() {
  Log("faults end");
  for (const std::shared_ptr<Wire>& wire : wires_) {
    if (wire->stream->cut || wire->client_knows) wire->TellDaemonOfEnd();
  }
  constexpr int kMost = 200000;
  for (int step = 0; step < kMost && wrong_.empty(); ++step) {
    if (quiet()) return;
    Step(/*faults=*/false);
  }
  for (const std::unique_ptr<Client>& client : clients_) {
    if (!client->idle() || !client->welcomed()) Wrong(absl::StrCat(client->name(), " waits for ever"));
  }
  Wrong("work never ends");
}

// Half of the clients free all they have and say goodbye; the others are gone.
void World::End() {
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client->wire() == nullptr) continue;
    client->wire()->Cut();
    client->Leave();
  }
  for (const std::shared_ptr<Wire>& wire : wires_) wire->TellDaemonOfEnd();
  wires_.clear();
  clock_.Advance(absl::Microseconds(limits_.grace_us + 1));
  for (int i = 0; i < 3; ++i) {
    registry_->Tick();
    while (devices_->RunNext(0)) {
    }
  }
  const int64_t used = devices_->device(0).memory.figures().used_bytes;
  if (registry_->size() != 0 || used != 0 || devices_->side_memory().used_bytes() != 0 ||
      devices_->queued() != 0 || devices_->pool().used_bytes() != 0) {
    Wrong(absl::StrFormat(
        "after the last session there are %d sessions, %d bytes of the device, %d of the pool, %d "
        "of side memory, %d jobs",
        registry_->size(), used, devices_->pool().used_bytes(), devices_->side_memory().used_bytes(),
        devices_->queued()));
  }
}

// -----------------------------------------------------------------------------------------------------------
// checks

void World::Check() {
  int64_t live = 0;
  for (const std::shared_ptr<session::Session>& session : registry_->List()) {
    device::SessionDevice& device = session->session_device();
    live += device.account()->figures().live_bytes;
    const device::Account account = device.ledger().account();
    device::Amount rows[device::kDirections];
    for (const device::Row& row : account.rows)
      rows[static_cast<int>(DirectionOf(row.key.cause))] += row.amount;
    for (int i = 0; i < device::kDirections; ++i) {
      if (!(rows[i] == account.directions[i])) Wrong("the rows of an account do not add up to its totals");
    }
  }
  // Sessions that have ended may hold memory until their last job is dropped.
  const int64_t used = devices_->device(0).memory.figures().used_bytes;
  if (live > used) Wrong(absl::StrFormat("sessions hold %d bytes, the device only %d", live, used));
  if (used > device_bytes_) Wrong("the device holds more than it has");
  if (devices_->side_memory().used_bytes() < 0) Wrong("side memory is negative");
  for (const std::unique_ptr<Client>& client : clients_) {
    if (!client->wrong().empty()) Wrong(client->wrong());
  }
  CheckEnds();
}

// No client says goodbye: a session ends only when its client did not come back for the grace period.
void World::CheckEnds() {
  std::map<uint64_t, std::optional<absl::Time>> before;
  before.swap(detached_since_);
  for (const std::shared_ptr<session::Session>& session : registry_->List()) {
    const session::Answers& answers = session->answers();
    detached_since_[session->identity().id] = answers.connected() ? std::nullopt : answers.detached_since();
    before.erase(session->identity().id);
  }
  for (const auto& [id, since] : before) {
    if (!since.has_value()) {
      Wrong(absl::StrFormat("session %d ended although it had a connection", id));
    } else if (*since + absl::Microseconds(limits_.grace_us) > clock_.Now()) {
      Wrong(absl::StrFormat("session %d ended before the grace period was over", id));
    }
  }
}

void World::CheckQuiet() {
  // Everything was answered. Answers may be unacknowledged, and bytes be kept for them.
  int64_t live = 0;
  for (const std::unique_ptr<Client>& client : clients_) {
    client->JudgeAll();
    if (!client->wrong().empty()) return Wrong(client->wrong());
    const absl::StatusOr<std::shared_ptr<session::Session>> session =
        registry_->Authenticate(client->session(), client->secret());
    if (!session.ok()) return Wrong(absl::StrCat(client->name(), " has no session"));
    CheckAccount(**session, *client);
  }
  for (const std::shared_ptr<session::Session>& session : registry_->List())
    live += session->session_device().account()->figures().live_bytes;
  const int64_t used = devices_->device(0).memory.figures().used_bytes;
  if (live != used) Wrong(absl::StrFormat("sessions hold %d bytes, the device %d", live, used));
}

void World::CheckAccount(session::Session& session, const Client& client) {
  const device::Account account = session.session_device().ledger().account();
  const Client::Counts counts = client.counts();
  const int64_t uploaded = account.directions[static_cast<int>(Direction::kHostToDevice)].bytes;
  const int64_t read = account.directions[static_cast<int>(Direction::kDeviceToHost)].bytes;
  if (uploaded != counts.uploaded || read != counts.read || account.counters.executes != counts.executes) {
    Wrong(absl::StrFormat(
        "%s: the account has %d bytes of uploads, %d of reads and %d executes, instead of %d, %d "
        "and %d",
        client.name(), uploaded, read, account.counters.executes, counts.uploaded, counts.read,
        counts.executes));
  }
  int64_t buffers = 0;
  for (const device::BufferInfo& buffer : session.session_device().ListBuffers()) buffers += buffer.bytes;
  const int64_t live = session.session_device().account()->figures().live_bytes;
  if (buffers != live || buffers != counts.buffer_bytes) {
    Wrong(absl::StrFormat("%s has buffers of %d bytes, the account says %d, and the commands made %d",
                          client.name(), buffers, live, counts.buffer_bytes));
  }
  session::SessionBudgets& budgets = session.budgets();
  for (const auto& [name, held] :
       {std::pair("commands", budgets.commands.used()), std::pair("replies", budgets.replies.used()),
        std::pair("downloads", budgets.downloads.used()), std::pair("programs", budgets.staging.used())}) {
    if (held != 0)
      Wrong(absl::StrFormat("%s: %d bytes of %s are held for nothing", client.name(), held, name));
  }
}

}  // namespace hlod::simulation
