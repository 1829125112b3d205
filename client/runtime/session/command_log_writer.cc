// Writes command logs, without the contents of tensors.
#include "client/runtime/session/command_log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

std::string NextPath(const std::string& path) {
  static absl::Mutex mu(absl::kConstInit);
  static auto* const opened = new std::map<std::string, int>;  // The number of sessions per path.
  const absl::MutexLock lock(&mu);
  const int number = ++(*opened)[path];
  return number == 1 ? path : absl::StrCat(path, ".", number);
}

// Returns the command without the contents of tensors.
v1::Command WithoutContents(const v1::Command& command) {
  v1::Command stripped = command;
  if (stripped.has_upload()) stripped.mutable_upload()->clear_payload();
  if (stripped.has_execute()) {
    for (v1::InlineLiteral& literal : *stripped.mutable_execute()->mutable_literals()) literal.clear_data();
  }
  return stripped;
}

absl::Status CannotBeWritten(const std::string& path) {
  return FailedPrecondition("The command log %s cannot be written: %s.", path, std::strerror(errno));
}

}  // namespace

// The command logs of open sessions, because a program need not end its sessions before it exits.
class OpenCommandLogs {
 public:
  static OpenCommandLogs& Get() {
    static auto* const all = new OpenCommandLogs;
    struct EndAtExit {
      ~EndAtExit() { all->EndAll(); }
    };
    static const EndAtExit end;
    return *all;
  }
  void Add(const void* session, std::shared_ptr<CommandLogWriter> recorder) {
    const absl::MutexLock lock(&mu_);
    recorders_[session] = std::move(recorder);
    CommandLogWriter::any_ = true;
  }
  void Remove(const void* session) {
    const absl::MutexLock lock(&mu_);
    recorders_.erase(session);
  }
  std::shared_ptr<CommandLogWriter> Find(const void* session) {
    const absl::MutexLock lock(&mu_);
    const auto found = recorders_.find(session);
    return found == recorders_.end() ? nullptr : found->second;
  }

  bool InItsProcess() const { return getpid() == process_; }

 private:
  void EndAll() {
    if (!InItsProcess()) return;
    const absl::MutexLock lock(&mu_);
    for (const auto& [session, recorder] : recorders_) recorder->End();
  }
  const pid_t process_ = getpid();
  absl::Mutex mu_;
  std::map<const void*, std::shared_ptr<CommandLogWriter>> recorders_ ABSL_GUARDED_BY(mu_);
};

std::atomic<bool> CommandLogWriter::any_{false};

absl::Status CommandLogWriter::Start(const void* session, const std::string& path,
                                     const v1::CommandLogHeader& header) {
  ASSIGN_OR_RETURN(std::shared_ptr<CommandLogWriter> recorder, Open(path, header));
  OpenCommandLogs::Get().Add(session, std::move(recorder));
  return absl::OkStatus();
}

void CommandLogWriter::Record(const void* session, const v1::Command& command) {
  if (const auto recorder = OpenCommandLogs::Get().Find(session)) recorder->Add(command);
}

EndOfCommandLog::~EndOfCommandLog() {
  // In a forked child, the copy of the lock may be held for ever.
  if (CommandLogWriter::any() && OpenCommandLogs::Get().InItsProcess()) OpenCommandLogs::Get().Remove(session_);
}

CommandLogWriter::CommandLogWriter(std::string path, rpc::Descriptor file)
    : path_(std::move(path)), process_(getpid()), start_(absl::Now()), file_(std::move(file)) {}

absl::StatusOr<std::shared_ptr<CommandLogWriter>> CommandLogWriter::Open(const std::string& path,
                                                                         const v1::CommandLogHeader& header) {
  const std::string next = NextPath(path);
  rpc::Descriptor file(open(next.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return CannotBeWritten(next);
  // The file is truncated only if no other process is writing it.
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return FailedPrecondition("Another process records into %s.", next);
  if (ftruncate(file.get(), 0) != 0) return CannotBeWritten(next);
  std::shared_ptr<CommandLogWriter> recorder(new CommandLogWriter(next, std::move(file)));
  {
    const absl::MutexLock lock(&recorder->mu_);
    RETURN_IF_ERROR(recorder->Write(kCommandLogMagic));
    v1::CommandLogEntry entry;
    *entry.mutable_header() = header;
    entry.mutable_header()->set_started_us(absl::ToUnixMicros(recorder->start_));
    RETURN_IF_ERROR(recorder->WriteEntry(entry));
  }
  return recorder;
}

void CommandLogWriter::Add(const v1::Command& command) {
  if (command.has_upload_piece() || getpid() != process_) return;
  v1::CommandLogEntry entry;
  entry.set_at_us(absl::ToInt64Microseconds(absl::Now() - start_));
  *entry.mutable_command() = WithoutContents(command);
  const absl::MutexLock lock(&mu_);
  if (ended_) return;
  ++commands_;
  if (const absl::Status written = WriteEntry(entry); !written.ok()) {
    ended_ = true;
    std::fprintf(stderr, "hlod: %s\n", std::string(written.message()).c_str());
  } else if (command.has_goodbye()) {
    EndLocked();
  }
}

void CommandLogWriter::End() {
  if (getpid() != process_) return;
  const absl::MutexLock lock(&mu_);
  EndLocked();
}

void CommandLogWriter::EndLocked() {
  if (ended_) return;
  ended_ = true;
  v1::CommandLogEntry entry;
  entry.set_at_us(absl::ToInt64Microseconds(absl::Now() - start_));
  entry.mutable_end()->set_commands(commands_);
  if (const absl::Status written = WriteEntry(entry); !written.ok())
    std::fprintf(stderr, "hlod: %s\n", std::string(written.message()).c_str());
}

absl::Status CommandLogWriter::Write(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file_.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotBeWritten(path_);
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status CommandLogWriter::WriteEntry(const v1::CommandLogEntry& entry) {
  std::string text;
  {
    google::protobuf::io::StringOutputStream out(&text);
    google::protobuf::io::CodedOutputStream coded(&out);
    coded.WriteVarint64(entry.ByteSizeLong());
    entry.SerializeToCodedStream(&coded);
  }
  return Write(text);
}

}  // namespace hlod::runtime
