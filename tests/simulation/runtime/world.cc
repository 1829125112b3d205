// Steps, calls of the library, and checks.
#include "tests/simulation/runtime/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/runtime/session/session.h"

namespace hlod::simulation {
namespace {

constexpr size_t kValuesMax = 12;
constexpr int64_t kStepsMax = 2'000'000;  // More than any program takes: then something waits for ever.

}  // namespace

RuntimeWorld::RuntimeWorld(uint64_t seed) : seed_(seed), elements_(seed_.OneIn(2) ? 4 : 1024) {
  if (seed_.OneIn(2)) limits_.inline_bytes_max = 1024;  // Then 1024 elements go on bulk streams.
  if (seed_.OneIn(3)) limits_.commands_in_flight_max = 8;
  StartDaemon();
}

RuntimeWorld::~RuntimeWorld() {
  Forget();
  client_.reset();
  wires_.clear();
}

void RuntimeWorld::Log(const std::string& what) {
  for (const char c : what) trace_hash_ = (trace_hash_ ^ static_cast<uint8_t>(c)) * 1099511628211u;
}

void RuntimeWorld::StartDaemon() {
  device::Devices::Options options;
  options.device_bytes = 8 << 20;
  options.host_bytes = 16 << 20;
  options.threads = 1;
  options.manual = true;
  options.limits = limits_;
  devices_ = device::Devices::Create(options, clock_).value();
  registry_ = std::make_unique<session::Registry>(
      *devices_, processes_, session::Registry::Options{.epoch = ++epoch_, .daemon = "simulated"});
}

// -----------------------------------------------------------------------------------------------------------
// steps

std::shared_ptr<Wire> RuntimeWorld::Connect() {
  auto wire = std::make_shared<Wire>();
  wire->connection = std::make_unique<session::Connection>(
      *registry_, session::Peer{.local = true, .description = "simulated", .owner = "user"});
  wires_.push_back(wire);
  ++resumed_;
  Log("connects");
  return wire;
}

void RuntimeWorld::Fault() {
  switch (seed_.Below(16)) {
    case 0:
      Log("the daemon is killed, and started again");
      for (const std::shared_ptr<Wire>& wire : wires_) {
        wire->Cut();
        wire->connection.reset();
      }
      bulk_.left.clear();
      registry_.reset();
      devices_.reset();
      may_be_lost_ = true;
      return StartDaemon();
    case 1:
      Log("the clock advances by half of the grace period");
      // Two of them while the client is away end its session.
      may_be_lost_ = true;
      ++leaps_;
      return clock_.Advance(absl::Microseconds(limits_.grace_us / 2 + 1));
    case 2:
    case 3:
    case 4:
    case 5:
      for (const std::shared_ptr<Wire>& wire : wires_) {
        if (!wire->stream->cut && !wire->client_knows) continue;
        Log("the daemon notices an end");
        return wire->TellDaemonOfEnd();
      }
      return;
    default:
      if (wires_.empty()) return;
      Log("a connection is cut");
      wires_.back()->Cut();
  }
}

void RuntimeWorld::Step() {
  if (++steps_ > kStepsMax) {
    std::printf("a call never ends\n");
    std::abort();  // The library waits in this call, and nothing but its end would return from it.
  }
  if (seed_.OneIn(8)) bulk_.MoveLeft();
  switch (seed_.Below(10)) {
    case 0:
    case 1: devices_->RunNext(seed_.Below(4)); break;
    case 2:
      clock_.Advance(absl::Milliseconds(10));
      registry_->Tick();
      break;
    case 3:
      if (faults_ && seed_.OneIn(4)) Fault();
      break;
    default:
      if (wires_.empty()) break;
      const std::shared_ptr<Wire> wire = wires_[seed_.Below(wires_.size())];
      if (!wire->Deliver(1 + seed_.Below(seed_.OneIn(3) ? 64 : 1 << 16), seed_))
        Wrong("a message is no ClientMessage");
      if (!faults_ && (wire->stream->cut || wire->client_knows)) wire->TellDaemonOfEnd();
      std::erase_if(
          wires_, [](const std::shared_ptr<Wire>& w) { return w->connection == nullptr && w->client_knows; });
  }
}

// -----------------------------------------------------------------------------------------------------------
// calls

void RuntimeWorld::OpenSession() {
  while (!client_.has_value() && wrong_.empty()) {
    auto connector = std::make_unique<SimulatedConnector>([this] { return Connect(); }, bulk_);
    may_be_lost_ = false;
    absl::StatusOr<std::shared_ptr<runtime::Session>> session =
        runtime::Session::Open(std::move(connector), {.name = "program"});
    --resumed_;
    if (session.ok()) {
      client_.emplace(*std::move(session));
    } else if (!faults_) {
      Wrong(absl::StrCat("no session can be opened: ", std::string(session.status().message())));
    }
  }
}

void RuntimeWorld::Forget() {
  values_.clear();
  readings_.clear();
  programs_.clear();
  uploaded_ = executes_ = 0;
}

bool RuntimeWorld::Check(const absl::Status& status, const char* call) {
  if (status.ok()) return true;
  if (KindOf(status) != ErrorKind::kLostSession || !may_be_lost_) {
    Wrong(absl::StrFormat("%s failed: %s", call, std::string(status.message())));
    return false;
  }
  Log("the session is lost");
  ++lost_;
  Forget();
  client_.reset();
  return false;
}

void RuntimeWorld::Upload() {
  if (values_.size() >= kValuesMax) return;
  std::vector<float> numbers(elements_);
  for (float& number : numbers) number = static_cast<float>(seed_.Below(16));
  hlo::Literal literal(hlo::Shape::Array(hlo::kF32, {static_cast<int64_t>(elements_)}));
  std::memcpy(literal.bytes().data(), numbers.data(), numbers.size() * sizeof(float));
  const int64_t leaps = leaps_;
  const absl::StatusOr<Buffer> buffer = client_->device(0).Upload(literal);
  if (!Check(buffer.status(), "an upload")) return;
  // A clock that leaps twice makes the bytes late.
  if (leaps_ >= leaps + 2) {
    const absl::Status status = buffer->ready().Await();
    if (KindOf(status) == ErrorKind::kPending || !Check(status, "a late upload")) return;
  }
  uploaded_ += static_cast<int64_t>(elements_ * sizeof(float));
  values_.push_back({*buffer, std::move(numbers)});
}

void RuntimeWorld::Compile() {
  if (programs_.size() >= 3) programs_.erase(programs_.begin());
  const std::shared_ptr<Program> program = MakeProgram(seed_, elements_, seed_.OneIn(2));
  const absl::StatusOr<Executable> executable = client_->CompileSerialized(program->bytes);
  if (Check(executable.status(), "a compile")) programs_.push_back({*executable, program});
}

void RuntimeWorld::Execute() {
  if (values_.empty() || programs_.empty() || values_.size() + 2 > kValuesMax) return;
  const size_t a = seed_.Below(values_.size()), b = seed_.Below(values_.size());
  const Compiled& compiled = programs_[seed_.Below(programs_.size())];
  std::vector<std::vector<float>> expected =
      compiled.program->Evaluate(values_[a].expected, values_[b].expected);
  ExecuteOptions options;
  const bool donate = a != b && seed_.OneIn(3);
  if (donate) options.donate = {0};
  const absl::StatusOr<std::vector<Buffer>> results =
      compiled.executable.Execute({values_[a].buffer, values_[b].buffer}, options);
  if (!Check(results.status(), "an execute")) return;
  ++executes_;
  if (donate) values_.erase(values_.begin() + static_cast<ptrdiff_t>(a));
  for (size_t i = 0; i < 2; ++i) {
    if (!seed_.OneIn(4)) values_.push_back({(*results)[i], std::move(expected[i])});
  }
}

void RuntimeWorld::Read(bool wait) {
  if (values_.empty()) return;
  const Value& value = values_[seed_.Below(values_.size())];
  readings_.push_back({value.buffer.ToLiteralAsync(), value.expected});
  if (wait) AwaitReading();
}

void RuntimeWorld::AwaitReading() {
  if (readings_.empty()) return;
  const size_t any = seed_.Below(readings_.size());
  const Reading reading = std::move(readings_[any]);
  readings_.erase(readings_.begin() + static_cast<ptrdiff_t>(any));
  const absl::StatusOr<Literal> literal = reading.future.Await();
  if (!Check(literal.status(), "a read")) return;
  if (std::memcmp(literal->bytes().data(), reading.expected.data(), literal->bytes().size()) != 0)
    Wrong("a read brought other values");
}

void RuntimeWorld::Call() {
  OpenSession();
  if (!client_.has_value()) return;
  const size_t call = seed_.Below(12);
  Log(absl::StrCat("call ", call));
  switch (call) {
    case 0:
    case 1:
    case 2: return Upload();
    case 3: return Compile();
    case 4:
    case 5:
    case 6: return Execute();
    case 7: return Read(/*wait=*/true);
    case 8: return Read(/*wait=*/false);
    case 9: return AwaitReading();
    case 10:
      if (!values_.empty())
        values_.erase(values_.begin() + static_cast<ptrdiff_t>(seed_.Below(values_.size())));
      return;
    case 11:
      if (seed_.OneIn(2)) return client_->internal_session()->Drain();
      for (size_t i = seed_.Below(40); i > 0; --i) Step();  // The program computes meanwhile.
  }
}

// -----------------------------------------------------------------------------------------------------------
// the end

std::string RuntimeWorld::Play(int calls) {
  for (int i = 0; i < calls && wrong_.empty(); ++i) Call();
  faults_ = false;
  Log("faults end");
  while (!readings_.empty() && wrong_.empty()) AwaitReading();
  if (client_.has_value() && wrong_.empty()) {
    for (const Value& value : values_) {
      const absl::StatusOr<Literal> literal = value.buffer.ToLiteral();
      if (!literal.ok()) {
        Check(literal.status(), "a read at the end");
        break;
      }
      if (std::memcmp(literal->bytes().data(), value.expected.data(), literal->bytes().size()) != 0)
        Wrong("a read at the end brought other values");
    }
  }
  if (client_.has_value() && wrong_.empty()) CheckAccount();
  if (wrong_.empty()) End();
  return wrong_;
}

// Each upload and execute of this session was done once, however often it was sent.
void RuntimeWorld::CheckAccount() {
  const absl::StatusOr<SessionStats> stats = client_->Stats();
  if (!Check(stats.status(), "the statistics")) return;
  for (const std::shared_ptr<session::Session>& session : registry_->List()) {
    if (session->identity().id != client_->session_id()) continue;
    const device::Account account = session->session_device().ledger().account();
    const int64_t uploaded = account.directions[static_cast<int>(Direction::kHostToDevice)].bytes;
    if (uploaded != uploaded_ || account.counters.executes != executes_) {
      Wrong(absl::StrFormat("the account has %d bytes of uploads and %d executes, instead of %d and %d",
                            uploaded, account.counters.executes, uploaded_, executes_));
    }
  }
}

// The session says goodbye; sessions before it, which were lost, end with their leases.
void RuntimeWorld::End() {
  bulk_.left.clear();
  Forget();
  if (client_.has_value() && !client_->Close(absl::Hours(1)).ok() && !may_be_lost_)
    Wrong("the end of the session failed");
  client_.reset();
  for (const std::shared_ptr<Wire>& wire : wires_) wire->TellDaemonOfEnd();
  wires_.clear();
  clock_.Advance(absl::Microseconds(limits_.grace_us + 1));
  for (int i = 0; i < 3; ++i) {
    registry_->Tick();
    while (devices_->RunNext(0)) {
    }
  }
  const int64_t used = devices_->device(0).memory.figures().used_bytes;
  if (registry_->size() != 0 || used != 0 || devices_->side_memory().used_bytes() != 0) {
    Wrong(absl::StrFormat("at the end there are %d sessions, %d bytes of the device, %d of side memory",
                          registry_->size(), used, devices_->side_memory().used_bytes()));
  }
}

}  // namespace hlod::simulation
