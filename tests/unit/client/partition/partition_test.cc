// Partitions by jaxlib, where $HLOD_TEST_PYTHON has it, and workers that fail.
#include "client/partition/partition.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "client/partition/worker.h"
#include "common/base/system/file.h"
#include "common/base/system/temporary_folder.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::partition {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Rows over data, columns over model, which are contracted: each device adds up a [128,256] part with one
// other.
constexpr char kDot[] = R"(
module @dot {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(
      %arg0: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
      %arg1: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<512x256xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32> loc("dot"("model.py":17:3))
    return %0 : tensor<512x256xf32>
  }
}
)";

class Partitioning : public testing::Test {
 protected:
  Partitioning() {
    const char* const python = std::getenv("HLOD_TEST_PYTHON");
    Set("HLOD_PYTHON", python == nullptr ? "python3" : python);
    Set("XDG_CACHE_HOME", Folder() + "/cache");
  }
  // The worker outlives a test, and so must its cache.
  static std::string Folder() {
    static const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("hlod-partition");
    return folder.ok() ? folder->path() : std::string();
  }
  static void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  // A program that stands in for Python.
  void Interpret(const std::string& script) {
    const std::string path = Folder() + "/python";
    ASSERT_TRUE(WriteFile(path, "#!/bin/sh\n" + script + "\n").ok());
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
    Set("HLOD_PYTHON", path);
  }
  static std::string Message(const absl::StatusOr<Partitioned>& parts) {
    return std::string(parts.status().message());
  }
};

#define SKIP_WITHOUT_JAXLIB()                                                                      \
  if (std::system((std::string(std::getenv("HLOD_PYTHON")) + " -c 'import jaxlib'").c_str()) != 0) \
  GTEST_SKIP() << "no jaxlib"

TEST_F(Partitioning, GivesEachDevicesModule) {
  SKIP_WITHOUT_JAXLIB();
  const absl::StatusOr<Partitioned> parts = Partition({.program = kDot, .annotated = true});
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->devices, 8);
  EXPECT_EQ(MeshText(parts->mesh), "data=4,model=2");
  EXPECT_EQ(parts->partitioner, "shardy");
  EXPECT_TRUE(parts->has_shardings);
  EXPECT_THAT(parts->parameter_shardings,
              ElementsAre("{devices=[4,2]<=[8]}", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"));
  EXPECT_THAT(parts->result_shardings, ElementsAre("{devices=[4,1,2]<=[8] last_tile_dim_replicate}"));
  ASSERT_TRUE(hlo::Verify(*parts->module).ok());
  EXPECT_EQ(parts->module->config.partition_count, 8);
  const hlo::ProgramShape shape = parts->module->entry().program_shape();
  EXPECT_EQ(hlo::ToStringNoLayout(shape.parameters[0]), "f32[128,128]");
  EXPECT_EQ(hlo::ToStringNoLayout(shape.parameters[1]), "f32[128,256]");
  EXPECT_EQ(hlo::ToStringNoLayout(shape.result), "f32[128,256]");
  ASSERT_NE(parts->annotated, nullptr);
  EXPECT_EQ(hlo::ToStringNoLayout(parts->annotated->entry().program_shape().result), "f32[512,256]");
  const absl::StatusOr<Partitioned> again = Partition({.program = kDot, .annotated = true});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->cached);
  EXPECT_EQ(again->serialized, parts->serialized);
}

TEST_F(Partitioning, ScalesTheMesh) {
  SKIP_WITHOUT_JAXLIB();
  const absl::StatusOr<Partitioned> parts =
      Partition({.program = kDot, .mesh = *ParseMesh("data=512,model=8")});
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(hlo::ToStringNoLayout(parts->module->entry().program_shape().parameters[0]), "f32[1,32]");
}

TEST_F(Partitioning, RefusesInSentencesAndGoesOn) {
  SKIP_WITHOUT_JAXLIB();
  absl::StatusOr<Partitioned> parts = Partition({.program = kDot, .mesh = *ParseMesh("batch=4,model=2")});
  EXPECT_TRUE(absl::IsInvalidArgument(parts.status()));
  EXPECT_EQ(Message(parts),
            "The mesh batch=4,model=2 is not the program's: data=4,model=2 has no axis 'batch'.");
  parts = Partition({.program = "module { oops }"});
  EXPECT_TRUE(absl::IsInvalidArgument(parts.status()));
  EXPECT_THAT(Message(parts), HasSubstr("jaxlib cannot read the program"));
  EXPECT_TRUE(Partition({.program = kDot}).ok());
}

// Asks a worker that this test starts, because another test may have started the process's own.
absl::Status Ask() {
  Worker worker;
  return worker.Ask({.header = {{"partitioner", "auto"}}, .body = kDot}, absl::Seconds(60)).status();
}

TEST_F(Partitioning, WithoutPythonSaysWhatToInstall) {
  Set("HLOD_PYTHON", "/nowhere/python3");
  const absl::Status status = Ask();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/python3 cannot be started"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("pip install 'jaxlib>=0.6'"));
}

TEST_F(Partitioning, OfAPythonThatFailsSaysItsLastLine) {
  Interpret("echo 'No module named hlod' >&2; exit 1");
  const absl::Status status = Ask();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("did not start: No module named hlod"));
}

TEST_F(Partitioning, OfAWorkerThatEndsOrTalksNonsenseIsAnError) {
  // It says that it is ready (a header of 11 bytes), and ends at the request.
  Interpret(
      "printf '\\013\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000{\"ready\":1}'; "
      "head -c 20 > /dev/null");
  EXPECT_TRUE(absl::IsAborted(Ask())) << Ask();
  Interpret("echo this is not a frame at all");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask())) << Ask();
  // A frame whose header has other types than are expected.
  Interpret(
      "printf '\\017\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000{\"ready\":\"yes\"}'; sleep 100");
  EXPECT_THAT(std::string(Ask().message()), HasSubstr("gave no reason"));
}

TEST_F(Partitioning, AsksAnInterpreterThatRefusesOnce) {
  const std::string starts = Folder() + "/starts";
  const std::string refuses =
      "echo started >> " + starts +
      "; printf '\\037\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000{\"ready\":0,\"error\":\"no jaxlib\"}'";
  Interpret(refuses);
  Worker worker;
  const Frame request = {.header = {{"partitioner", "auto"}}, .body = kDot};
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = worker.Ask(request, absl::Seconds(60)).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_EQ(std::string(status.message()), "no jaxlib");
  }
  EXPECT_EQ(*ReadFile(starts), "started\n");
  Set("HLOD_PYTHON", "/nowhere/python3");
  EXPECT_THAT(std::string(worker.Ask(request, absl::Seconds(60)).status().message()),
              HasSubstr("/nowhere/python3 cannot be started"));
}

TEST_F(Partitioning, EndsTheProcessesOfAWorkerToo) {
  const std::string path = Folder() + "/alive";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int pipe = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  // The process that it leaves behind holds the other end of the pipe.
  Interpret("exec 3> " + path + "; sleep 1000 2>/dev/null & echo this is not a frame at all");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask()));
  pollfd ended = {.fd = pipe, .events = 0, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 60'000), 1);
  EXPECT_NE(ended.revents & POLLHUP, 0);
  close(pipe);
}

}  // namespace
}  // namespace hlod::partition
