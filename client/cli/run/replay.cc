// hloctl replay: sends a session's commands once more, on placeholders, random values or zeros.
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "absl/time/clock.h"
#include "client/analysis/preflight/command_log.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "client/cli/reports.h"
#include "client/cli/run/random_literal.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/kinds.h"
#include "common/base/sha256.h"
#include "common/base/text/count.h"
#include "common/base/text/printable.h"
#include "common/hlo/proto/codec.h"

namespace hlod::cli {
namespace {

// Repeats the commands of a command log in a session of this process. Handles are those of this session;
// lines, steps and causes are the recorded ones, so that the account names the lines of the recorded program.
class Replayer {
 public:
  Replayer(const Client& client, ReplayData data) : client_(client), data_(data) {}

  // Runs a command and counts it if it fails. Commands that use its results fail, too.
  void Do(const v1::Command& command) {
    ++commands_;
    const absl::Status status = Dispatch(command);
    if (status.ok()) return;
    ++failed_;
    if (first_failure_.ok()) {
      first_failure_ = Annotate(
          status, absl::StrFormat("replaying command %d (%s)", command.id(), ToString(LineOf(command))));
    }
  }
  int64_t commands() const { return commands_; }
  int64_t failed() const { return failed_; }
  int64_t not_read() const { return not_read_; }
  const absl::Status& first_failure() const { return first_failure_; }

 private:
  static std::string ToString(const Caller& line) {
    return line.line == 0 ? "of an unknown line" : absl::StrFormat("%s:%d", line.file, line.line);
  }
  Caller LineOf(const v1::Command& command) { return Line(command.origin()); }
  Caller Line(uint32_t origin) {
    const auto found = lines_.find(origin);
    return found == lines_.end() ? Caller{} : found->second;
  }
  const char* Keep(const std::string& text) { return texts_.emplace_back(text).c_str(); }

  absl::Status Dispatch(const v1::Command& command) {
    const Caller line = LineOf(command);
    switch (command.body_case()) {
      case v1::Command::kUpload: return Upload(command.upload(), line);
      case v1::Command::kDownload: return Download(command.download(), command.id(), line);
      case v1::Command::kReadPrefetched: return ReadPrefetched(command.read_prefetched(), line);
      case v1::Command::kPlaceholder: {
        const v1::Placeholder& declared = command.placeholder();
        ASSIGN_OR_RETURN(const Shape shape, hlo::FromProto(declared.shape()));
        ASSIGN_OR_RETURN(buffers_[declared.handle()], DeviceOf(declared.device()).Placeholder(shape, line));
        return absl::OkStatus();
      }
      case v1::Command::kCopy: {
        ASSIGN_OR_RETURN(const Buffer source, Find(command.copy().source()));
        ASSIGN_OR_RETURN(buffers_[command.copy().handle()],
                         source.CopyTo(DeviceOf(command.copy().device()), line));
        return absl::OkStatus();
      }
      case v1::Command::kFree: {
        for (const uint64_t handle : command.free().handles()) {
          buffers_.erase(handle);
          executables_.erase(handle);
        }
        return absl::OkStatus();
      }
      case v1::Command::kCompile: return Compile(command.compile(), line);
      case v1::Command::kProgramChunk: return Continue(command.program_chunk().data());
      case v1::Command::kExecute: return Execute(command.execute(), command.id(), line);
      case v1::Command::kInfeed: return Infeed(command.infeed(), line);
      case v1::Command::kOutfeed: return Outfeed(command.outfeed(), line);
      case v1::Command::kStepMark: return client_.StepMark(command.step_mark().step(), line);
      case v1::Command::kDefineOrigin: {
        const v1::Origin& origin = command.define_origin().origin();
        lines_[command.define_origin().id()] = {.file = Keep(origin.file()),
                                                .line = static_cast<int>(origin.line()),
                                                .function = Keep(origin.function())};
        return absl::OkStatus();
      }
      case v1::Command::kPing: return command.ping().at_once() ? absl::OkStatus() : client_.Sync(line);
      // These have no effect on the device, or the command they belong to does their work.
      case v1::Command::kUploadPiece:
      case v1::Command::kStats:
      case v1::Command::kGoodbye: return absl::OkStatus();
      case v1::Command::BODY_NOT_SET: break;
    }
    return Unimplemented("The command is unknown to this version of hloctl.");
  }

  Device DeviceOf(uint32_t ordinal) const { return client_.device(static_cast<int>(ordinal)); }

  absl::StatusOr<Literal> Value(const Shape& shape, bool random) {
    if (random) return RandomLiteral(shape, random_);
    return Literal::Make(shape, int64_t{1} << 40);
  }

  absl::Status Upload(const v1::Upload& upload, const Caller& line) {
    ASSIGN_OR_RETURN(const Shape shape, hlo::FromProto(upload.shape()));
    const std::optional<Cause> cause = CauseFromNumber(upload.cause());
    if (!cause.has_value()) return InvalidArgument("Cause %d is unknown.", upload.cause());
    if (data_ == ReplayData::kPlaceholder) {
      if (upload.fill()) return absl::OkStatus();
      ASSIGN_OR_RETURN(buffers_[upload.handle()], DeviceOf(upload.device()).Placeholder(shape, line));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Literal value, Value(shape, data_ == ReplayData::kRandom));
    if (upload.fill()) {
      ASSIGN_OR_RETURN(const Buffer buffer, Find(upload.handle()));
      return buffer.Fill(value, line);
    }
    ASSIGN_OR_RETURN(buffers_[upload.handle()], DeviceOf(upload.device()).Upload(value, *cause, line));
    return absl::OkStatus();
  }

  absl::Status Download(const v1::Download& download, uint64_t command, const Caller& line) {
    if (download.continued()) return absl::OkStatus();  // The first piece has read the whole buffer.
    ASSIGN_OR_RETURN(const Buffer buffer, Find(download.handle()));
    const std::optional<Cause> cause = CauseFromNumber(download.cause());
    if (!cause.has_value()) return InvalidArgument("Cause %d is unknown.", download.cause());
    if (data_ == ReplayData::kPlaceholder && buffer.is_placeholder()) {
      ++not_read_;
      return absl::OkStatus();
    }
    if (*cause == Cause::kPrefetch) {  // Read when the program has read it.
      prefetched_[command] = buffer;
      return absl::OkStatus();
    }
    return buffer.ToLiteral(*cause, line).status();
  }

  absl::Status ReadPrefetched(const v1::ReadPrefetched& read, const Caller& line) {
    const auto found = prefetched_.extract(read.download());
    const std::optional<Cause> cause = CauseFromNumber(read.cause());
    if (!cause.has_value()) return InvalidArgument("Cause %d is unknown.", read.cause());
    return found.empty() ? absl::OkStatus() : found.mapped().ToLiteral(*cause, line).status();
  }

  absl::Status Infeed(const v1::Infeed& infeed, const Caller& line) {
    std::vector<Buffer> arrays;
    for (const uint64_t handle : infeed.arguments()) {
      ASSIGN_OR_RETURN(arrays.emplace_back(), Find(handle));
    }
    if (infeed.execute() != 0) {
      ASSIGN_OR_RETURN(const Execution execution, FindExecution(infeed.execute()));
      return execution.Send(DeviceOf(infeed.device()), arrays, infeed.channel(), line);
    }
    return DeviceOf(infeed.device())
        .TransferToInfeed(arrays, infeed.has_channel() ? std::optional(infeed.channel()) : std::nullopt,
                          line);
  }

  absl::Status Outfeed(const v1::Outfeed& outfeed, const Caller& line) {
    std::vector<Shape> shapes;
    for (const hlod::xla::ShapeProto& proto : outfeed.shapes()) {
      ASSIGN_OR_RETURN(shapes.emplace_back(), hlo::FromProto(proto));
    }
    ASSIGN_OR_RETURN(const std::vector<Buffer> buffers, Take(outfeed, shapes, line));
    for (int i = 0; i < outfeed.results_size() && i < static_cast<int>(buffers.size()); ++i)
      buffers_[outfeed.results(i)] = buffers[static_cast<size_t>(i)];
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Buffer>> Take(const v1::Outfeed& outfeed, const std::vector<Shape>& shapes,
                                           const Caller& line) {
    const Device device = DeviceOf(outfeed.device());
    if (outfeed.execute() == 0) {
      return device.TransferFromOutfeed(
          shapes, outfeed.has_channel() ? std::optional(outfeed.channel()) : std::nullopt, line);
    }
    ASSIGN_OR_RETURN(const Execution execution, FindExecution(outfeed.execute()));
    return execution.Receive(device, shapes, outfeed.channel(), line);
  }

  absl::Status Compile(const v1::Compile& compile, const Caller& line) {
    if (compile.module_bytes() > 0) {
      waiting_ = {compile.executable(), compile.module_bytes(), line, compile.describe(), ""};
      return absl::OkStatus();
    }
    if (!compile.digest().empty()) {
      const auto known = programs_.find(compile.digest());
      if (known == programs_.end()) return NotFound("The program was not recorded.");
      return CompileBytes(compile.executable(), known->second, compile.describe(), line);
    }
    return CompileBytes(compile.executable(), compile.module(), compile.describe(), line);
  }
  absl::Status Continue(const std::string& data) {
    waiting_.text += data;
    if (waiting_.text.size() < waiting_.bytes) return absl::OkStatus();
    const Waiting done = std::exchange(waiting_, {});
    return CompileBytes(done.executable, done.text, done.describe, done.line);
  }
  absl::Status CompileBytes(uint64_t handle, const std::string& bytes, bool describe, const Caller& line) {
    const Digest digest = Sha256(bytes);
    programs_.try_emplace(std::string(digest.begin(), digest.end()), bytes);
    ASSIGN_OR_RETURN(executables_[handle], client_.CompileSerialized(bytes, {.describe = describe}, line));
    return absl::OkStatus();
  }

  absl::Status Execute(const v1::Execute& execute, uint64_t command, const Caller& line) {
    const auto executable = executables_.find(execute.executable());
    if (executable == executables_.end() || !executable->second.valid())
      return NotFound("Executable %d does not exist.", execute.executable());
    std::vector<Argument> arguments;
    int literal = 0;
    for (const uint64_t handle : execute.arguments()) {
      if (handle != 0) {
        ASSIGN_OR_RETURN(Buffer buffer, Find(handle));
        arguments.push_back(std::move(buffer));
        continue;
      }
      if (literal >= execute.literals_size()) return InvalidArgument("An execute has too few literals.");
      ASSIGN_OR_RETURN(const Shape shape, hlo::FromProto(execute.literals(literal++).shape()));
      ASSIGN_OR_RETURN(Literal value, Value(shape, data_ == ReplayData::kRandom));
      arguments.push_back(std::move(value));
    }
    ExecuteOptions options;
    options.abstract = execute.abstract() || data_ == ReplayData::kPlaceholder;
    options.deadline = absl::Microseconds(execute.deadline_us());
    options.device = static_cast<int>(execute.device());
    options.devices.assign(execute.devices().begin(), execute.devices().end());
    options.line = execute.line();
    options.donate.assign(execute.donated().begin(), execute.donated().end());
    for (const uint32_t result : execute.fills()) {
      if (result >= static_cast<uint32_t>(execute.results_size()))
        return InvalidArgument("An execute fills result %d of %d.", result, execute.results_size());
      ASSIGN_OR_RETURN(Buffer filled, Find(execute.results(static_cast<int>(result))));
      options.fill.emplace_back(static_cast<int>(result), std::move(filled));
    }
    for (const uint32_t origin : execute.result_origins())
      options.result_callers.push_back(origin == 0 ? line : Line(origin));
    ASSIGN_OR_RETURN(Execution execution, executable->second.Start(arguments, options, line));
    const std::vector<Buffer> results = std::exchange(execution.results, {});
    if (execute.line() != 0) executions_[command] = std::move(execution);
    for (size_t i = 0; i < results.size() && i < static_cast<size_t>(execute.results_size()); ++i) {
      if (const uint64_t handle = execute.results(static_cast<int>(i)); handle != 0)
        buffers_[handle] = results[i];
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Execution> FindExecution(uint64_t command) const {
    const auto found = executions_.find(command);
    if (found == executions_.end()) return NotFound("Command %d is not an execute with channels.", command);
    return found->second;
  }

  absl::StatusOr<Buffer> Find(uint64_t handle) const {
    const auto found = buffers_.find(handle);
    if (found == buffers_.end() || !found->second.valid())
      return NotFound("Buffer %d does not exist.", handle);
    return found->second;
  }

  // A program that arrives in chunks.
  struct Waiting {
    uint64_t executable = 0, bytes = 0;
    Caller line;
    bool describe = false;
    std::string text;
  };

  const Client& client_;
  const ReplayData data_;
  std::mt19937_64 random_{0};
  std::deque<std::string> texts_;  // Owns the strings that `lines_` points to.
  std::map<uint32_t, Caller> lines_;
  std::map<uint64_t, Buffer> buffers_;
  std::map<uint64_t, Buffer> prefetched_;  // Buffers that were read ahead, by the id of the Download.
  std::map<uint64_t, hlod::Execution> executions_;  // The executes with channels of their own.
  std::map<uint64_t, Executable> executables_;
  std::map<std::string, std::string> programs_;  // Serialized modules by digest.
  Waiting waiting_;
  int64_t commands_ = 0, failed_ = 0, not_read_ = 0;
  absl::Status first_failure_;
};

}  // namespace

absl::Status Replay(const CommonOptions& common, const ReplayOptions& options) {
  ASSIGN_OR_RETURN(const analysis::CommandLog log,
                   analysis::ReadCommandLog(options.log, options.allow_incomplete));
  ASSIGN_OR_RETURN(const Client client, Client::Connect(common.connect));
  const ClosedAtEnd closed(client);
  if (client.device_count() < log.header.devices_size()) {
    return FailedPrecondition("%s was recorded on %d devices; the daemon at %s has %d.", options.log,
                              log.header.devices_size(), client.address(), client.device_count());
  }
  const absl::Time start = absl::Now();
  Replayer replayer(client, options.data);
  for (const v1::CommandLogEntry& entry : log.entries) replayer.Do(entry.command());
  RETURN_IF_ERROR(client.Sync());
  const double took_us = absl::ToDoubleMicroseconds(absl::Now() - start);
  const int64_t recorded_us = log.entries.empty() ? 0 : log.entries.back().at_us();
  ASSIGN_OR_RETURN(const SessionStats stats, client.Stats());
  // The numbers of compiles and cache hits depend on what the daemon has kept, and the peak on when the
  // device executes each program: they differ from the recorded session's.
  const int64_t kept = stats.compile_cache_hits + stats.persistent_cache_hits;
  const int64_t programs = stats.compiles + kept;
  if (common.json) {
    const Json json = {{"command_log", options.log},  {"client", log.header.client()},
                       {"complete", log.complete},    {"commands", replayer.commands()},
                       {"failed", replayer.failed()}, {"not_read", replayer.not_read()},
                       {"recorded_us", recorded_us},  {"replayed_us", took_us},
                       {"programs", programs},        {"stats", ToJson(stats)}};
    Show(Dump(json) + "\n");
  } else {
    std::printf("%s: %s of %s, %d commands in %.3f s; replayed in %.3f s\n", options.log.c_str(),
                log.complete ? "the session" : "the beginning of the session",
                Printable(log.header.client()).c_str(), static_cast<int>(replayer.commands()),
                static_cast<double>(recorded_us) / 1e6, took_us / 1e6);
    std::printf(
        "programs %lld (%lld compiled, %lld from the daemon's caches), executes %lld, host to device %lld "
        "bytes in %lld calls, device to host %lld bytes in %lld calls\n"
        "peak %lld bytes; it differs from run to run, by how far the device is behind the commands\n",
        static_cast<long long>(programs), static_cast<long long>(stats.compiles),
        static_cast<long long>(kept), static_cast<long long>(stats.executes),
        static_cast<long long>(stats.host_to_device.bytes),
        static_cast<long long>(stats.host_to_device.calls),
        static_cast<long long>(stats.device_to_host.bytes),
        static_cast<long long>(stats.device_to_host.calls), static_cast<long long>(stats.peak_bytes));
    if (replayer.not_read() > 0)
      std::printf("%s of placeholders %s skipped\n", CountText(replayer.not_read(), "read").c_str(),
                  replayer.not_read() == 1 ? "was" : "were");
  }
  if (replayer.failed() == 0) return absl::OkStatus();
  return Annotate(replayer.first_failure(), absl::StrFormat("%d of %d commands failed, the first",
                                                            replayer.failed(), replayer.commands()));
}

}  // namespace hlod::cli
