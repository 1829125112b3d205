// Custom-calls that a native kernel of the daemon runs (tests/support/native/kernels.c). Expected values are
// computed by hand.
#include <unistd.h>

#include <filesystem>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

std::string Library() { return NativeLibrary("kernels"); }

class NativeKernels : public TensorTest {
 protected:
  static void SetUpTestSuite() {
    daemon_ = new testing::Daemon(testing::Daemon::Start({.flags = {"--kernel-library", Library()}}).value());
  }
  static Tensor Scale(const Tensor& x, const std::string& factor) {
    return CustomCall("tests.scale", {x}, Shape::Array(kF32, x.dims()), {.payload = factor});
  }
  static std::string WhyNot(const Tensor& x) {
    Throws([&] { x.ToHost(); });
    return last_what_;
  }
};

TEST_F(NativeKernels, ACustomCallRunsItWithItsPayload) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT((Scale(x + 1, "2.5") - 1).ToVector<float>(), ElementsAre(4, 6.5, 9, 11.5, 14, 16.5));
  EXPECT_THAT(Scale(x, "-1").ToVector<float>(), ElementsAre(-1, -2, -3, -4, -5, -6));
  const Tensor none = Zeros({0, 3}, {.type = kF32, .device = device()});
  EXPECT_EQ(Scale(none, "2").ToVector<float>().size(), 0u);
}

TEST_F(NativeKernels, ItMayTakeAndGiveSeveralArrays) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3}), y = OnDevice({10}, {});
  const std::vector<Shape> shapes = {Shape::Array(kF32, {}), Shape::Array(kS32, {2})};
  const std::vector<Tensor> results = CustomCall("tests.survey", {x, y}, shapes);
  EXPECT_EQ(results[0].Item<float>(), 31);
  EXPECT_THAT(results[1].ToVector<int32_t>(), ElementsAre(3, 1));
}

TEST_F(NativeKernels, ItSeesRowMajorArraysWhateverTheProgramsLayouts) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(Scale(x.T(), "10").ToVector<float>(), ElementsAre(10, 40, 20, 50, 30, 60));
  const Executable program = client_
                                 ->CompileText(R"(HloModule columns

ENTRY main {
  x = f32[2,3]{0,1} parameter(0)
  ROOT y = f32[2,3]{0,1} custom-call(x), custom_call_target="tests.scale", backend_config="3"
}
)")
                                 .value();
  const Buffer given = device().Upload<float>({{1, 2, 3, 4, 5, 6}}, {2, 3}).value();
  const Literal result = program.Execute({given}).value()[0].ToLiteral().value();
  EXPECT_THAT(result.data<float>(), ElementsAre(3, 6, 9, 12, 15, 18));
}

TEST_F(NativeKernels, InLoopsAndUnderJit) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto f = [](const Tensor& x) {
    return ForiLoop(0, 3, [](const Tensor&, const Tensor& y) { return Scale(y, "2"); }, x);
  };
  EXPECT_THAT(Jit(f)(x).ToVector<float>(), ElementsAre(8, 16));
  // The kernel is one step of the program and is counted as a library's.
  const auto rows = daemon_->Administration().value().Executables().value();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].library_steps, 1);
  EXPECT_EQ(rows[0].reference_steps, 0);
}

TEST_F(NativeKernels, WhatItRefusesIsTheErrorOfTheExecute) {
  const Tensor x = OnDevice({1, 2}, {2});
  const Tensor longer = CustomCall("tests.scale", {x}, Shape::Array(kF32, {3}), {.payload = "2"});
  EXPECT_THAT(WhyNot(longer), HasSubstr("native kernel \"tests.scale\" failed with 1: scale gives as many "
                                        "elements as it takes"));
  EXPECT_THAT(WhyNot(Scale(x.To(kS32), "2")), HasSubstr("scale is for f32"));
  EXPECT_THAT(WhyNot(CustomCall("tests.silent", {x}, Shape::Array(kF32, {2}))),
              HasSubstr("native kernel \"tests.silent\" failed with 7: it does not say why"));
  // The session continues after the error.
  EXPECT_THAT(Scale(x, "2").ToVector<float>(), ElementsAre(2, 4));
}

TEST_F(NativeKernels, AnUnknownTargetIsNamedWithTheNearestOnes) {
  const Tensor x = OnDevice({1, 2}, {2});
  EXPECT_THAT(WhyNot(CustomCall("tests.scales", {x}, Shape::Array(kF32, {2}))),
              HasSubstr("\"tests.scales\" is not known to this daemon"));
  EXPECT_THAT(last_what_, HasSubstr("all of the 3 registered native kernels: tests.scale, "));
  EXPECT_THAT((x + 1).ToVector<float>(), ElementsAre(2, 3));
}

// A client cannot name a library: a target is only looked up in the daemon's registry.
TEST_F(NativeKernels, AClientCannotNameALibrary) {
  const testing::Daemon bare = testing::Daemon::Start().value();
  Client client = bare.Connect().value();
  for (const std::string& target : {Library(), std::string("tests.scale")}) {
    const absl::StatusOr<Executable> program = client.CompileText(
        "HloModule m\n\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] custom-call(x), "
        "custom_call_target=\"" +
        target + "\", backend_config=\"" + Library() + "\"\n}\n");
    absl::Status status = program.status();
    if (program.ok()) {
      const Buffer x = client.device(0).Upload<float>({{1, 2}}, {2}).value();
      status = program->Execute({x}).value()[0].ToLiteral().status();
    }
    EXPECT_EQ(KindOf(status), ErrorKind::kUnimplemented) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("no native kernel is registered"));
  }
}

// A daemon without the library does not run a program that another daemon cached.
TEST_F(NativeKernels, TheCompileCacheKnowsWhoHasTheKernel) {
  const std::string folder = ::testing::TempDir() + "native-kernel-cache-" + std::to_string(getpid());
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--compile-cache", folder});
    const testing::Daemon daemon = testing::Daemon::Start({.flags = flags}).value();
    Client client = daemon.Connect().value();
    const Tensor x = FromValues<float>({1, 2}, Dims{2}, client.device(0));
    const Tensor y = Scale(x, "2");
    std::string text;
    try {
      text = y.ToString();
    } catch (const Error& error) {
      text = error.what();
    }
    Environment(client).End();
    return text;
  };
  const std::vector<std::string> with = {"--kernel-library", Library()};
  const std::string scaled = run(with);
  EXPECT_THAT(scaled, HasSubstr("[2, 4]"));
  EXPECT_THAT(run({}), HasSubstr("is not known to this daemon"));
  EXPECT_EQ(run(with), scaled);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hlod
