// A SessionDevice in a test: sends commands with the next id, and keeps their answers.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "common/base/errors/error.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::device {

inline hlo::Shape F32x4() { return hlo::Shape::Array(hlo::kF32, {4}); }

struct TestSession {
  explicit TestSession(Devices& d, uint64_t session = 1)
      : devices(d),
        session_device(std::make_shared<SessionDevice>(session, d, nullptr, d.AssemblyOf(session, ""))) {}
  // A thread that has an answer may call for it after Close, so the callbacks own the answers. What the reads
  // hold of the devices' memory is given back here.
  ~TestSession() {
    session_device->Close();
    std::lock_guard<std::mutex> lock(kept->mu);
    kept->reads.clear();
  }

  CommandRef Next() { return {++last_command, 0, 0}; }
  // Returns the callback that keeps a command's answer.
  Done Keep(uint64_t command) {
    return [kept = kept, command](const absl::Status& status) {
      std::lock_guard<std::mutex> lock(kept->mu);
      kept->answers[command] = status;
    };
  }
  std::optional<absl::Status> AnswerTo(uint64_t command) {
    std::lock_guard<std::mutex> lock(kept->mu);
    const auto found = kept->answers.find(command);
    return found == kept->answers.end() ? std::nullopt : std::optional<absl::Status>(found->second);
  }
  // Returns the answer; an error unless it came within 20 seconds.
  absl::Status Await(uint64_t command) {
    if (!Eventually([&] { return AnswerTo(command).has_value(); }))
      return absl::DeadlineExceededError("no answer");
    return *AnswerTo(command);
  }

  uint64_t Upload(Handle handle, const std::vector<float>& values) {
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    UploadRequest request;
    request.command = Next();
    request.handle = handle;
    request.shape = hlo::Shape::Array(hlo::kF32, {static_cast<int64_t>(values.size())});
    request.bytes = bytes.size();
    request.data = bytes;
    EXPECT_TRUE(session_device->Upload(request, Keep(request.command.id)).ok());
    return request.command.id;
  }
  // Starts an upload whose bytes come later. Returns its command's id.
  uint64_t Announce(Handle handle, const hlo::Shape& shape = F32x4()) {
    UploadRequest request;
    request.command = Next();
    request.handle = handle;
    request.shape = shape;
    request.bytes = static_cast<uint64_t>(ByteSize(shape).value());
    EXPECT_TRUE(session_device->Upload(request, Keep(request.command.id)).ok());
    return request.command.id;
  }
  // Delivers the bytes of an announced upload, all zero.
  void Deliver(uint64_t command) {
    const UploadPart part = session_device->uploads().Claim(command).value();
    session_device->uploads().AddReceived(command, part.generation, static_cast<int64_t>(part.target.size()));
  }
  uint64_t Compile(Handle handle, const std::string& program) {
    const CommandRef command = Next();
    CompileRequest request;
    request.command = command;
    request.handle = handle;
    request.program = program;
    EXPECT_TRUE(session_device
                    ->Compile(std::move(request),
                              [keep = Keep(command.id)](const absl::StatusOr<ExecutableCache::Compiled>& c) {
                                keep(c.status());
                              })
                    .ok());
    return command.id;
  }
  ExecuteRequest ExecuteOf(Handle executable, const std::vector<Handle>& arguments,
                           const std::vector<Handle>& results, const std::vector<uint32_t>& donated = {}) {
    ExecuteRequest request;
    request.command = Next();
    request.executable = executable;
    for (const Handle handle : arguments) request.arguments.emplace_back().handle = handle;
    request.results = results;
    request.donated = donated;
    return request;
  }
  uint64_t Execute(ExecuteRequest request) {
    const uint64_t id = request.command.id;
    EXPECT_TRUE(session_device->Execute(std::move(request), Keep(id)).ok());
    return id;
  }
  uint64_t Free(const std::vector<Handle>& handles) {
    const CommandRef command = Next();
    EXPECT_TRUE(session_device->Free(command, handles, Keep(command.id)).ok());
    return command.id;
  }
  uint64_t Placeholder(Handle handle, const hlo::Shape& shape = F32x4(), uint32_t device = 0) {
    PlaceholderRequest request;
    request.command = Next();
    request.handle = handle;
    request.device = device;
    request.shape = shape;
    EXPECT_TRUE(session_device->DefinePlaceholder(request, Keep(request.command.id)).ok());
    return request.command.id;
  }
  // Starts a read. Its result is in `reads`.
  uint64_t Download(Handle handle, bool pin = false) {
    DownloadRequest request;
    request.command = Next();
    request.handle = handle;
    request.pin = pin;
    const uint64_t id = request.command.id;
    const DownloadDone done = [kept = kept, id](absl::StatusOr<ReadyBytes> bytes) {
      std::lock_guard<std::mutex> lock(kept->mu);
      kept->answers[id] = bytes.status();
      if (bytes.ok()) kept->reads[id] = *std::move(bytes);
    };
    EXPECT_TRUE(session_device->Download(request, done).ok());
    return id;
  }
  std::vector<float> Values(const ReadyBytes& bytes) {
    std::vector<float> values(static_cast<size_t>(bytes.bytes) / sizeof(float));
    std::memcpy(values.data(), bytes.data, values.size() * sizeof(float));
    return values;
  }
  // Reads the whole buffer.
  absl::StatusOr<std::vector<float>> Read(Handle handle) {
    const uint64_t command = Download(handle);
    const absl::Status status = Await(command);
    if (!status.ok()) return status;
    std::vector<float> values = Values(reads.at(command));
    EndRead(command);
    return values;
  }
  void EndRead(uint64_t command) {
    session_device->Release(reads.at(command));
    reads.erase(command);
  }

  Devices& devices;
  uint64_t last_command = 0;
  struct Kept {
    std::mutex mu;
    std::map<uint64_t, absl::Status> answers;
    std::map<uint64_t, ReadyBytes> reads;
  };
  const std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  std::map<uint64_t, ReadyBytes>& reads = kept->reads;
  std::shared_ptr<SessionDevice> session_device;
};

}  // namespace hlod::device
