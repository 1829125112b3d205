// Compiles each program once, keeps the programs that are held, and evicts others.
#include "server/device/programs/executable_cache.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/error.h"
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/proto/wire_count.h"
#include "server/engine/plan/optimised.h"

namespace hlod::device {
namespace {

// Two compiles run at a time. A program that is expected to compile within a tenth of a second (about 250 kB)
// starts beside longer ones; larger ones do not, because of the memory that many compiles would take
// together. Compiles occupy whole cores for long, while executes and messages take a few microseconds each;
// beside these, compiles get a third of a core's time.
FairQueue::Options QueueOptions(const ExecutableCache::Options& options) {
  return {.name = "compile",
          .schedule = {.width = 2, .beside_us_max = FairSchedule::kBesideMaxUs},
          .nice = options.nice + 5,
          .manual = options.manual,
          .failed = options.failed};
}

// The name of what is charged, in errors.
constexpr std::string_view kTaker = "A program that is compiled";

double ExpectedUs(size_t program_bytes) { return 0.4 * static_cast<double>(program_bytes); }

// Returns a compiler's error with the kind that its code means.
absl::Status WithKind(const absl::Status& status) {
  ErrorDetails error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  switch (error.code) {
    case absl::StatusCode::kUnimplemented: error.kind = ErrorKind::kUnimplemented; break;
    case absl::StatusCode::kResourceExhausted: error.kind = ErrorKind::kNoMemory; break;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kCancelled: break;
    default: error.kind = ErrorKind::kInvalidProgram; error.code = absl::StatusCode::kInvalidArgument;
  }
  return ToStatus(std::move(error));
}

}  // namespace

size_t ExecutableCache::DigestHash::operator()(const Digest& digest) const {
  size_t hash;  // Any eight bytes of a SHA-256 are a good hash.
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

// Everything except `done` is guarded by the cache's lock.
struct ExecutableCache::Request {
  Request(Done d, std::shared_ptr<MemoryShare> s, std::shared_ptr<engine::AssemblyUser> a)
      : done(std::move(d)), share(std::move(s)), assembly(std::move(a)) {}
  const Done done;
  const std::shared_ptr<MemoryShare> share;
  const std::shared_ptr<engine::AssemblyUser> assembly;
  bool cancelled = false;
  std::optional<Digest> digest;  // Set once the request waits in a slot.
};

ExecutableCache::ExecutableCache(Options options)
    : options_(std::move(options)), queue_(QueueOptions(options_)) {}

class ExecutableCache::QueuedProgram {
 public:
  // REQUIRES: the bytes are reserved.
  QueuedProgram(ExecutableCache& cache, uint64_t session, std::string program)
      : cache_(cache), session_(session), program_(std::move(program)) {}
  ~QueuedProgram() { cache_.Release(session_, static_cast<int64_t>(program_.size())); }
  QueuedProgram(const QueuedProgram&) = delete;
  QueuedProgram& operator=(const QueuedProgram&) = delete;
  const std::string& program() const { return program_; }

 private:
  ExecutableCache& cache_;
  const uint64_t session_;
  const std::string program_;
};

absl::Status ExecutableCache::Reserve(uint64_t session, int64_t bytes) {
  MutexLock lock(&mu_);
  const auto own = queued_of_.find(session);
  if (own != queued_of_.end() && bytes > options_.queued_bytes_max - queued_bytes_) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("A program of %d bytes beside %d of all sessions that wait to be compiled: the limit "
                        "staging_bytes_max is %d.",
                        bytes, queued_bytes_, options_.queued_bytes_max));
  }
  ++queued_of_[session];
  queued_bytes_ += bytes;
  return absl::OkStatus();
}

void ExecutableCache::Release(uint64_t session, int64_t bytes) {
  MutexLock lock(&mu_);
  queued_bytes_ -= bytes;
  const auto own = queued_of_.find(session);
  if (--own->second == 0) queued_of_.erase(own);
}

std::shared_ptr<ExecutableCache::Request> ExecutableCache::Compile(
    uint64_t session, std::string program, Done done, std::shared_ptr<MemoryShare> share,
    std::shared_ptr<engine::AssemblyUser> assembly) {
  std::optional<Digest> digest;
  if (program.size() <= kHashInlineBytes) {
    digest = Sha256(program);
    if (std::shared_ptr<Executable> known = Find(*digest)) {
      done(Compiled{std::move(known), true});
      return nullptr;
    }
  }
  if (const absl::Status reserved = Reserve(session, static_cast<int64_t>(program.size())); !reserved.ok()) {
    done(reserved);
    return nullptr;
  }
  const double expected_us = ExpectedUs(program.size());
  absl::Cleanup release = [&, bytes = static_cast<int64_t>(program.size())] { Release(session, bytes); };
  const auto queued = std::make_shared<const QueuedProgram>(*this, session, std::move(program));
  std::move(release).Cancel();
  const auto request = std::make_shared<Request>(std::move(done), std::move(share), std::move(assembly));
  queue_.Submit(session, expected_us, [this, digest, queued, request] {
    CompileHashed(digest.has_value() ? *digest : Sha256(queued->program()), queued->program(), request);
  });
  return request;
}

void ExecutableCache::Cancel(const std::shared_ptr<Request>& request) {
  MutexLock lock(&mu_);
  request->cancelled = true;
  if (!request->digest.has_value()) return;
  const auto found = slots_.find(*request->digest);
  if (found == slots_.end() || found->second.executable != nullptr) return;
  // The caller still refers to the request, so its callback is not destroyed under the lock.
  std::erase(found->second.waiting, request);
  if (found->second.waiting.empty() && found->second.stop != nullptr) *found->second.stop = true;
}

void ExecutableCache::Run(uint64_t session, std::function<void()> job) {
  queue_.Submit(session, FairSchedule::kBesideMaxUs, std::move(job));
}

std::shared_ptr<Executable> ExecutableCache::Find(const Digest& digest) {
  MutexLock lock(&mu_);
  const auto found = slots_.find(digest);
  if (found == slots_.end() || found->second.executable == nullptr) return nullptr;
  recent_.splice(recent_.end(), recent_, found->second.recent);
  return found->second.executable;
}

void ExecutableCache::CompileHashed(const Digest& digest, const std::string& program,
                                    const std::shared_ptr<Request>& request) {
  std::shared_ptr<Executable> known;
  {
    MutexLock lock(&mu_);
    if (request->cancelled) return;
    auto [slot, is_new] = slots_.try_emplace(digest);
    known = slot->second.executable;
    if (known == nullptr) {
      // Without memory for the request, a new slot must not stay: nobody would compile its program.
      absl::Cleanup take_back = [&] {
        mu_.AssertHeld();
        if (is_new) slots_.erase(digest);
      };
      slot->second.waiting.push_back(request);
      std::move(take_back).Cancel();
      request->digest = digest;
      // Another thread is compiling the same bytes and will answer this request, too.
      if (!is_new) return;
    }
  }
  if (known != nullptr) return request->done(Compiled{std::move(known), true});
  try {
    Build(digest, program, request);
  } catch (const std::exception& e) {
    Refuse(digest, ExceptionError("The program could not be compiled", e));
  }
}

void ExecutableCache::Refuse(const Digest& digest, const absl::Status& status) {
  std::vector<std::shared_ptr<Request>> waiting;
  {
    MutexLock lock(&mu_);
    const auto slot = slots_.find(digest);
    if (slot == slots_.end() || slot->second.executable != nullptr) return;
    waiting.swap(slot->second.waiting);
    slots_.erase(slot);
  }
  Answer(waiting, status);
}

void ExecutableCache::Answer(const std::vector<std::shared_ptr<Request>>& requests,
                             const absl::StatusOr<Compiled>& compiled) {
  bool cached = compiled.ok() && compiled->cached;
  for (const std::shared_ptr<Request>& request : requests) {
    try {
      if (compiled.ok()) {
        request->done(Compiled{compiled->executable, cached, !cached && compiled->persistent});
      } else {
        request->done(compiled.status());
      }
    } catch (const std::exception& e) {  // That session fails (FailureMark); the others get their answer.
      spdlog::error("A compile could not be answered: {}", e.what());
    }
    cached = true;
  }
}

std::vector<std::shared_ptr<ExecutableCache::Request>> ExecutableCache::TakeRequestsOf(
    const std::shared_ptr<MemoryShare>& share, Slot& slot) {
  const auto others = std::ranges::stable_partition(
      slot.waiting, [&share](const std::shared_ptr<Request>& request) { return request->share == share; });
  std::vector<std::shared_ptr<Request>> taken(std::make_move_iterator(slot.waiting.begin()),
                                              std::make_move_iterator(others.begin()));
  slot.waiting.erase(slot.waiting.begin(), others.begin());
  return taken;
}

void ExecutableCache::Build(const Digest& digest, const std::string& program,
                            std::shared_ptr<Request> payer) {
  absl::StatusOr<Built> built = absl::InternalError("not compiled");
  std::vector<std::shared_ptr<Request>> waiting;
  bool is_due = false;
  for (bool again = true; again;) {
    const auto stop = std::make_shared<std::atomic<bool>>(false);
    {
      MutexLock lock(&mu_);
      Slot& slot = slots_[digest];
      slot.stop = stop;
      *stop = slot.waiting.empty();
      if (!slot.waiting.empty()) payer = slot.waiting.front();
    }
    try {
      built = BuildExecutable(digest, program, *stop, *payer);
    } catch (const std::exception& e) {  // For example bad_alloc, or an exception of a library.
      built = ExceptionError("Compilation failed", e);
    }
    std::vector<std::shared_ptr<Request>> refused;
    {
      MutexLock lock(&mu_);
      Slot& slot = slots_[digest];
      // A share that is used up refuses only those who have it.
      if (payer->share != nullptr && KindOf(built.status()) == ErrorKind::kLimit)
        refused = TakeRequestsOf(payer->share, slot);
      // Compiles again if it was stopped and then requested once more.
      again = !built.ok() && (*stop || !refused.empty()) && !slot.waiting.empty();
      if (!again) {
        if (built.ok()) {
          slot.recent = recent_.insert(recent_.end(), digest);
          slot.executable = built->executable;
          // The program is held by nobody when its session has ended meanwhile.
          is_due = IsEvictionDue(1, built->executable->held_bytes());
        }
        waiting.swap(slot.waiting);
        if (!built.ok()) slots_.erase(digest);
      }
    }
    if (!refused.empty()) Answer(refused, built.status());
  }
  if (built.ok()) {
    Answer(waiting, Compiled{built->executable, false, built->persistent});
  } else {
    Answer(waiting, WithKind(built.status()));
  }
  waiting.clear();
  if (is_due) Trim();
  // Stored after the answers, so that no request waits for a file.
  if (!built.ok() || built->optimised == nullptr) return;
  const std::optional<hlo::codec::WithoutMetadata> kept =
      hlo::codec::StripMetadata(hlo::Serialize(*built->optimised));
  if (kept.has_value()) options_.persistent->Store(built->key, kept->module);
}

std::shared_ptr<Executable> ExecutableCache::Load(const Digest& digest,
                                                  const hlo::codec::WithoutMetadata& program,
                                                  int64_t program_bytes, const CompileCache::Key& key,
                                                  const engine::CompileOptions& compile,
                                                  CompileCharge& charge) const {
  // A module beyond the limits is parsed in the ordinary way, which returns the error.
  const std::optional<hlo::codec::WireCount> count = hlo::codec::CountWire(program.module);
  if (!count.has_value() || count->instructions > options_.instructions_max ||
      count->memory_bytes > options_.parse_bytes_max) {
    return nullptr;
  }
  const std::optional<std::string> optimised = options_.persistent->Find(key);
  if (!optimised.has_value()) return nullptr;
  const auto load = [&]() -> absl::StatusOr<std::shared_ptr<Executable>> {
    if (const auto counted = hlo::codec::CountWire(*optimised); counted.has_value())
      RETURN_IF_ERROR(charge.Take(counted->memory_bytes, kTaker));
    ASSIGN_OR_RETURN(std::shared_ptr<const hlo::Module> module,
                     hlo::FromSerialized(*optimised, {.for_execution = true}));
    engine::CompileOptions plan_options = compile;
    plan_options.verify = true;
    ASSIGN_OR_RETURN(std::unique_ptr<engine::Plan> plan, engine::PlanOptimised(module, plan_options));
    return std::make_shared<Executable>(digest, program.name, program.module, std::move(module),
                                        std::move(plan), program_bytes);
  };
  absl::StatusOr<std::shared_ptr<Executable>> loaded = load();
  if (loaded.ok()) return *std::move(loaded);
  // The file is not at fault when it needs a native kernel that only another daemon has, or when the
  // session's share is used up.
  if (!*compile.cancel && !absl::IsUnimplemented(loaded.status()) &&
      KindOf(loaded.status()) != ErrorKind::kLimit) {
    options_.persistent->Reject(key, loaded.status());
  }
  return nullptr;
}

absl::StatusOr<ExecutableCache::Built> ExecutableCache::BuildExecutable(const Digest& digest,
                                                                        const std::string& program,
                                                                        const std::atomic<bool>& stop,
                                                                        const Request& payer) const {
  Built built;
  const auto program_bytes = static_cast<int64_t>(program.size());
  // The memory of the module is known before it is parsed. A module beyond the cache's limits is refused by
  // the parser.
  CompileCharge charge(payer.share);
  const std::optional<hlo::codec::WireCount> count = hlo::codec::CountWire(program);
  if (count.has_value() && count->memory_bytes <= options_.parse_bytes_max)
    RETURN_IF_ERROR(charge.Take(count->memory_bytes, kTaker));
  engine::CompileOptions compile = options_.compile;
  compile.verify = false;
  compile.cancel = &stop;
  compile.reserve = charge.reserve();
  compile.assembly = payer.assembly;
  std::optional<hlo::codec::WithoutMetadata> stripped;
  if (options_.persistent != nullptr) {
    RETURN_IF_ERROR(charge.Take(program_bytes, kTaker));
    stripped = hlo::codec::StripMetadata(program);
  }
  const int64_t unloaded_bytes = charge.bytes();
  if (stripped.has_value()) {
    built.key = options_.persistent->KeyOf(stripped->module);
    built.executable = Load(digest, *stripped, program_bytes, built.key, compile, charge);
    built.persistent = built.executable != nullptr;
    if (built.persistent) return built;
    charge.CorrectTo(unloaded_bytes);  // Gives back what the load took.
  }
  const auto interrupted = [&stop] {
    return stop ? absl::CancelledError("The program was cancelled while it was read.") : absl::OkStatus();
  };
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module,
                   hlo::FromSerialized(program, {.for_execution = true,
                                                 .instructions_max = options_.instructions_max,
                                                 .parse_bytes_max = options_.parse_bytes_max,
                                                 .interrupted = interrupted}));
  RETURN_IF_ERROR(hlo::Verify(*module, {.instructions_max = options_.instructions_max}));
  ASSIGN_OR_RETURN(std::unique_ptr<engine::Plan> plan,
                   engine::Compile(*module, compile, stripped.has_value() ? &built.optimised : nullptr));
  built.executable = std::make_shared<Executable>(digest, std::move(module), std::move(plan), program_bytes);
  if (built.optimised != nullptr) {
    // It is kept until it is stored, and serialized for that.
    charge.CorrectTo(built.executable->held_bytes());
    built.charge = std::move(charge);
  }
  return built;
}

void ExecutableCache::CountFreed(uint64_t session, int64_t programs, int64_t bytes) {
  {
    MutexLock lock(&mu_);
    if (!IsEvictionDue(programs, bytes)) return;
  }
  Run(session, [this] { Trim(); });
}

bool ExecutableCache::IsEvictionDue(int64_t programs, int64_t bytes) {
  freed_ += programs;
  freed_bytes_ += bytes;
  // Evicting looks at every program, of which sessions may hold a hundred thousand. It is done once per
  // eighth of them, so that a compile pays for a few of the others only.
  const int64_t few = std::max<int64_t>(options_.unheld_max / 4, static_cast<int64_t>(recent_.size()) / 8);
  if (freed_ < few && freed_bytes_ < options_.unheld_bytes_max / 4) return false;
  freed_ = freed_bytes_ = 0;
  return true;
}

void ExecutableCache::Trim() {
  std::vector<std::shared_ptr<Executable>> gone;  // Destroyed after the lock is released.
  MutexLock lock(&mu_);
  Evict(gone);
}

void ExecutableCache::Evict(std::vector<std::shared_ptr<Executable>>& gone) {
  int64_t unheld = 0, bytes = 0;
  // Iterates from the most to the least recent: the programs beyond the bounds are the least recently used.
  for (auto it = recent_.end(); it != recent_.begin();) {
    --it;
    const auto slot = slots_.find(*it);
    if (slot->second.executable.use_count() > 1) continue;
    unheld += 1;
    bytes += slot->second.executable->held_bytes();
    if (unheld <= options_.unheld_max && bytes <= options_.unheld_bytes_max) continue;
    gone.push_back(std::move(slot->second.executable));
    slots_.erase(slot);
    it = recent_.erase(it);
  }
}

std::vector<std::shared_ptr<Executable>> ExecutableCache::List() const {
  MutexLock lock(&mu_);
  std::vector<std::shared_ptr<Executable>> list;
  for (auto digest = recent_.rbegin(); digest != recent_.rend(); ++digest)
    list.push_back(slots_.at(*digest).executable);
  return list;
}

}  // namespace hlod::device
