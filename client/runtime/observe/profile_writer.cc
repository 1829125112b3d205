// Profiles of runs, and the sessions that they include.
#include "client/runtime/observe/profile_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/runtime/observe/profile_json.h"
#include "client/runtime/session/session.h"
#include "common/base/errors/status.h"

namespace hlod {
namespace runtime {
namespace {

// The open sessions of the process, and the recordings in progress. Never destroyed.
class OpenProfiles {
 public:
  static OpenProfiles& Get() {
    static auto* const recordings = new OpenProfiles;
    return *recordings;
  }

  void Add(ProfileWriter* recorder) {
    for (const std::shared_ptr<Session>& session : OpenSessions()) {
      const absl::StatusOr<SessionAccount> account = GetAccount(Client(session));
      if (account.ok()) recorder->Open(session, &*account);
    }
    absl::MutexLock lock(&mu_);
    recorders_.push_back(recorder);
  }
  void Remove(ProfileWriter* recorder) {
    absl::MutexLock lock(&mu_);
    std::erase(recorders_, recorder);
  }

  void AddSession(const std::shared_ptr<Session>& session) {
    absl::MutexLock lock(&mu_);
    std::erase_if(sessions_, [](const std::weak_ptr<Session>& each) { return each.expired(); });
    sessions_.push_back(session);
    for (ProfileWriter* const recorder : recorders_) recorder->Open(session, nullptr);
  }
  void EndSession(const std::shared_ptr<Session>& session) {
    {
      absl::MutexLock lock(&mu_);
      if (recorders_.empty()) return;
    }
    const absl::StatusOr<SessionAccount> account = GetAccount(Client(session));
    if (!account.ok()) return;
    absl::MutexLock lock(&mu_);
    for (ProfileWriter* const recorder : recorders_) recorder->End(session, *account);
  }

 private:
  std::vector<std::shared_ptr<Session>> OpenSessions() {
    std::vector<std::shared_ptr<Session>> open;
    absl::MutexLock lock(&mu_);
    for (const std::weak_ptr<Session>& each : sessions_) {
      if (auto session = each.lock()) open.push_back(std::move(session));
    }
    return open;
  }

  absl::Mutex mu_;
  std::vector<std::weak_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  std::vector<ProfileWriter*> recorders_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<int> OpenFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd >= 0) return fd;
  return InvalidArgument("The profile %s cannot be written: %s.", path, std::strerror(errno));
}

// The recording of the whole program. It is destroyed before the objects that the connection needs.
struct RecordingOfProgram {
  RecordingOfProgram() {
    const char* const path = std::getenv("HLOD_PROFILE");
    if (path == nullptr || *path == '\0') return;
    const absl::StatusOr<int> fd = OpenFile(absl::StrReplaceAll(path, {{"%p", absl::StrCat(getpid())}}));
    status = fd.ok() ? absl::OkStatus() : InvalidArgument("$HLOD_PROFILE: %s", fd.status().message());
    if (fd.ok()) recorder = std::make_unique<ProfileWriter>(*fd);
  }
  ~RecordingOfProgram() {
    if (!recorder) return;
    const absl::Status finished = recorder->Finish();
    if (finished.ok()) return;
    std::fprintf(stderr, "hlod: $HLOD_PROFILE: %s\n", std::string(finished.message()).c_str());
  }
  std::unique_ptr<ProfileWriter> recorder;
  absl::Status status;
};

Amount Minus(const Amount& a, const Amount& b) { return {a.bytes - b.bytes, a.calls - b.calls}; }
auto Key(const TransferRow& row) {
  return std::tie(row.cause, row.origin.file, row.origin.line, row.origin.function, row.step, row.device,
                  row.name, row.other_steps, row.other_lines);
}
auto Key(const RunRow& row) {
  return std::tie(row.digest, row.program, row.origin.file, row.origin.line, row.origin.function, row.step,
                  row.device, row.other_steps, row.other_programs);
}
template <typename Row>
auto ByKey(const std::vector<Row>& rows) {
  std::map<decltype(Key(rows.front())), const Row*> by_key;
  for (const Row& row : rows) by_key.emplace(Key(row), &row);
  return by_key;
}

}  // namespace

SessionAccount AccountSince(const SessionAccount& earlier, SessionAccount later) {
  SessionStats& now = later.stats;
#define HLOD_SESSION_AMOUNT(name, direction, meaning) now.name = Minus(now.name, earlier.stats.name);
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) now.name -= earlier.stats.name;
#define HLOD_SESSION_CLIENT_COUNTER(name, unit, meaning) now.name -= earlier.stats.name;
#include "common/base/stats.inc"

  const auto transfers = ByKey(earlier.transfers);
  for (TransferRow& row : later.transfers) {
    if (const auto found = transfers.find(Key(row)); found != transfers.end())
      row.amount = Minus(row.amount, found->second->amount);
  }
  std::erase_if(later.transfers, [](const TransferRow& row) { return row.amount == Amount{}; });
  later.stats.rows.assign(later.transfers.begin(), later.transfers.end());

  const auto runs = ByKey(earlier.runs);
  for (RunRow& row : later.runs) {
    const auto found = runs.find(Key(row));
    if (found == runs.end()) continue;
    row.count -= found->second->count;
    row.queue.sum_us -= found->second->queue.sum_us;
    row.run.sum_us -= found->second->run.sum_us;
  }
  std::erase_if(later.runs, [](const RunRow& row) { return row.count == 0; });

  // Rows of compiles and runs never change once they are there. Only the row that sums up the oldest ones
  // does, and it is older than this recording, so it is dropped.
  int64_t compiled = -1, ran = -1;
  for (const CompileRow& row : earlier.compiles) compiled = std::max(compiled, row.at_us);
  for (const RunSample& sample : earlier.samples) ran = std::max(ran, sample.at_us);
  std::erase_if(later.compiles, [&](const CompileRow& row) { return row.at_us <= compiled; });
  std::erase_if(later.samples, [&](const RunSample& sample) { return sample.at_us <= ran; });
  return later;
}

absl::Status RecordSession(const std::shared_ptr<Session>& session) {
  static RecordingOfProgram recording;
  RETURN_IF_ERROR(recording.status);
  OpenProfiles::Get().AddSession(session);
  return absl::OkStatus();
}

void RecordSessionEnd(const std::shared_ptr<Session>& session) { OpenProfiles::Get().EndSession(session); }

ProfileWriter::ProfileWriter(int fd) : fd_(fd) {
  run_.program = program_invocation_short_name;
  run_.pid = getpid();
  run_.started = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  run_.complete = false;
  {
    absl::MutexLock lock(&mu_);
    if (fd_ >= 0) Write(RunHeaderLine(run_));
  }
  OpenProfiles::Get().Add(this);
  observation_.emplace(*this);
}

ProfileWriter::~ProfileWriter() {
  Finish().IgnoreError();
  if (fd_ >= 0) close(fd_);
}

void ProfileWriter::Write(const std::string& line) {
  for (size_t written = 0; written < line.size() && status_.ok();) {
    const ssize_t n = write(fd_, line.data() + written, line.size() - written);
    if (n >= 0) written += static_cast<size_t>(n);
    else if (errno != EINTR)
      status_ = ResourceExhausted("The profile could not be written: %s.", std::strerror(errno));
  }
}

void ProfileWriter::OnEvent(const Event& event) {
  absl::MutexLock lock(&mu_);
  ++events_;
  if (fd_ >= 0) Write(RunEventLine(event));
  else run_.events.push_back(event);
}

void ProfileWriter::Open(const std::shared_ptr<Session>& session, const SessionAccount* account) {
  absl::MutexLock lock(&mu_);
  sessions_[session] = account == nullptr ? std::nullopt : std::optional<SessionAccount>(*account);
}

void ProfileWriter::End(const std::shared_ptr<Session>& session, const SessionAccount& account) {
  absl::MutexLock lock(&mu_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || finished_) return;
  ProfileAccount entry{session->id(), session->daemon().name, account};
  if (found->second.has_value()) entry.account = AccountSince(*found->second, account);
  sessions_.erase(found);
  ++accounts_;
  if (fd_ >= 0) Write(RunAccountLine(entry));
  else run_.accounts.push_back(std::move(entry));
}

absl::Status ProfileWriter::Finish() {
  if (!owner_.IsThisOne()) return absl::OkStatus();  // In a forked child: the recording is the parent's.
  std::vector<std::shared_ptr<Session>> open;
  {
    absl::MutexLock lock(&mu_);
    if (finished_) return status_;
    for (const auto& [session, account] : sessions_) open.push_back(session);
  }
  for (const std::shared_ptr<Session>& session : open) {
    // The account is answered when all earlier commands are settled, so that their outcomes are among the
    // events.
    if (const absl::StatusOr<SessionAccount> account = GetAccount(Client(session)); account.ok())
      End(session, *account);
  }
  observation_.reset();
  OpenProfiles::Get().Remove(this);
  absl::MutexLock lock(&mu_);
  finished_ = true;
  sessions_.clear();
  run_.complete = true;
  if (fd_ >= 0) Write(RunEndLine(events_, accounts_));
  return status_;
}

}  // namespace runtime

ProfileRecorder::ProfileRecorder() : recorder_(std::make_unique<runtime::ProfileWriter>(-1)) {}
ProfileRecorder::~ProfileRecorder() = default;
Profile ProfileRecorder::Finish() {
  recorder_->Finish().IgnoreError();
  return recorder_->Take();
}

absl::StatusOr<std::unique_ptr<ProfileFile>> ProfileFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const int fd, runtime::OpenFile(path));
  return std::unique_ptr<ProfileFile>(new ProfileFile(std::make_unique<runtime::ProfileWriter>(fd)));
}
ProfileFile::ProfileFile(std::unique_ptr<runtime::ProfileWriter> recorder) : recorder_(std::move(recorder)) {}
ProfileFile::~ProfileFile() = default;
absl::Status ProfileFile::Finish() { return recorder_->Finish(); }

}  // namespace hlod
