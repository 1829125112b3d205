// Compiling once, keeping what is held, forgetting what is not.
#include "server/device/executable_cache.h"

#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/base/status.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"

namespace hlod::device {
namespace {

constexpr int kCompileThreads = 2;

// Gives a compiler's error the kind that its code means.
absl::Status WithKind(const absl::Status& status) {
  Error error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  switch (error.code) {
    case absl::StatusCode::kUnimplemented: error.kind = ErrorKind::kUnimplemented; break;
    case absl::StatusCode::kResourceExhausted: error.kind = ErrorKind::kNoMemory; break;
    case absl::StatusCode::kInternal: break;
    default: error.kind = ErrorKind::kInvalidProgram; error.code = absl::StatusCode::kInvalidArgument;
  }
  return ToStatus(std::move(error));
}

}  // namespace

size_t ExecutableCache::DigestHash::operator()(const Digest& digest) const {
  size_t hash;  // Any eight bytes of a SHA-256 are as good as a hash gets.
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

ExecutableCache::ExecutableCache(Options options)
    : options_(std::move(options)), worker_("compile", kCompileThreads) {}

void ExecutableCache::Compile(std::string program, Done done) {
  if (program.size() <= kHashInlineBytes) {
    const Digest digest = Sha256(program);
    if (std::shared_ptr<Executable> known = Find(digest)) return done(Compiled{std::move(known), true});
    worker_.Post([this, digest, program = std::move(program), done = std::move(done)]() mutable {
      CompileHashed(digest, std::move(program), std::move(done));
    });
    return;
  }
  worker_.Post([this, program = std::move(program), done = std::move(done)]() mutable {
    const Digest digest = Sha256(program);
    CompileHashed(digest, std::move(program), std::move(done));
  });
}

void ExecutableCache::Run(uint64_t, std::function<void()> job) { worker_.Post(std::move(job)); }

std::shared_ptr<Executable> ExecutableCache::Find(const Digest& digest) {
  MutexLock lock(&mu_);
  const auto found = slots_.find(digest);
  if (found == slots_.end() || found->second.executable == nullptr) return nullptr;
  recent_.splice(recent_.end(), recent_, found->second.recent);
  return found->second.executable;
}

void ExecutableCache::CompileHashed(const Digest& digest, std::string program, Done done) {
  std::shared_ptr<Executable> known;
  {
    MutexLock lock(&mu_);
    auto [slot, is_new] = slots_.try_emplace(digest);
    known = slot->second.executable;
    if (known == nullptr) slot->second.waiting.push_back(std::move(done));
    // Another thread is compiling these very bytes: it will answer this request too.
    if (known == nullptr && !is_new) return;
  }
  if (known != nullptr) return done(Compiled{std::move(known), true});
  Build(digest, program);
}

void ExecutableCache::Build(const Digest& digest, const std::string& program) {
  absl::StatusOr<std::shared_ptr<Executable>> built = absl::InternalError("not compiled");
  try {
    built = BuildExecutable(digest, program);
  } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
    built = Internal("Compilation failed: %s.", e.what());
  }
  std::vector<Done> waiting;
  std::vector<std::shared_ptr<Executable>> gone;
  {
    MutexLock lock(&mu_);
    Slot& slot = slots_[digest];
    waiting = std::exchange(slot.waiting, {});
    if (built.ok()) {
      slot.executable = *built;
      slot.recent = recent_.insert(recent_.end(), digest);
      Evict(gone);
    } else {
      slots_.erase(digest);
    }
  }
  bool cached = false;
  for (Done& done : waiting) {
    if (built.ok()) {
      done(Compiled{*built, cached});
    } else {
      done(WithKind(built.status()));
    }
    cached = true;
  }
}

absl::StatusOr<std::shared_ptr<Executable>> ExecutableCache::BuildExecutable(
    const Digest& digest, const std::string& program) const {
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module,
                   hlo::FromSerialized(program, {.for_execution = true}));
  if (module->instruction_count() > options_.instructions_max) {
    return MakeError(ErrorKind::kLimit,
                     absl::StrFormat("Module \"%s\" has %d instructions; the limit instructions_max is %d.",
                                     module->name(), module->instruction_count(), options_.instructions_max));
  }
  RETURN_IF_ERROR(hlo::Verify(*module, {.instructions_max = options_.instructions_max}));
  engine::CompileOptions compile = options_.compile;
  compile.verify = false;
  ASSIGN_OR_RETURN(std::unique_ptr<engine::Plan> plan, engine::Compile(*module, compile));
  return std::make_shared<Executable>(digest, std::move(module), std::move(plan),
                                      static_cast<int64_t>(program.size()));
}

void ExecutableCache::Evict(std::vector<std::shared_ptr<Executable>>& gone) {
  int64_t unheld = 0, bytes = 0;
  // From the most recent backwards: what is beyond the bounds was used longest ago.
  for (auto it = recent_.end(); it != recent_.begin();) {
    --it;
    const auto slot = slots_.find(*it);
    if (slot->second.executable.use_count() > 1) continue;
    unheld += 1;
    bytes += slot->second.executable->program_bytes();
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
