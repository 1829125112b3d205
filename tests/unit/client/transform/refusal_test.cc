// Errors of transforms: each names the object, its value, the expected value, and the user's line.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Refusal : public TensorTest {
 protected:
  static void Expect(ErrorKind kind, const std::function<void()>& body, const std::string& operation,
                     const std::string& text) {
    EXPECT_EQ(KindOf(Thrown(body)), kind);
    EXPECT_THAT(last_what_, HasSubstr(operation + " (refusal_test.cc:"));
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
};

TEST_F(Refusal, TheConditionOfALoopIsOnePred) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto body = [](const Tensor& x) { return x + 1; };
  Expect(
      ErrorKind::kArgument, [&] { While([](const Tensor& x) { return x < 5; }, body, x); }, "while_loop",
      "the condition of the loop gives pred[2]; it must give pred[]");
  Expect(
      ErrorKind::kArgument, [&] { While([](const Tensor& x) { return Sum(x); }, body, x); }, "while_loop",
      "the condition of the loop gives f32[]");
  Expect(
      ErrorKind::kArgument, [&] { While([](const Tensor&) { return Tensor(); }, body, x); }, "while_loop",
      "the condition of the loop gives an undefined tensor");
  EXPECT_THAT(While([](const Tensor& x) { return All(x < 5); }, body, x).ToVector<float>(),
              ElementsAre(4, 5));
}

TEST_F(Refusal, DonatedArgumentsExist) {
  const Tensor x = OnDevice({1}, {1});
  for (const int index : {-1, 1, 7}) {
    const auto step = Jit([](const Tensor& x) { return x + 1; }, {.donate = {0, index}});
    Expect(
        ErrorKind::kArgument, [&] { step(x); }, "jit",
        "donate names argument " + std::to_string(index) + ", and the function is called with 1 argument");
  }
  EXPECT_EQ(x.Item<float>(), 1) << "nothing was given up";
}

TEST_F(Refusal, BatchedArgumentsExist) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto batched = Vmap([](const Tensor& x) { return x * 2; }, {.in = {0, 0}});
  Expect(
      ErrorKind::kArgument, [&] { batched(x); }, "vmap",
      "in names a dimension of argument 1, and the function is called with 1 argument");
}

TEST_F(Refusal, ArgumentsOfTwoConnectionsAreNamedWithTheirs) {
  const Client other = daemon_->Connect().value();
  const Tensor x = OnDevice({1}, {1}), y = FromValues<float>({1}, Dims{1}, other.device(0));
  const auto sum = Jit([](const Tensor& x, const Tensor& y) { return x + y; });
  Throws([&] { sum(x, y); });
  EXPECT_THAT(last_what_, HasSubstr("(session " + std::to_string(client_->session_id()) + ")"));
  EXPECT_THAT(last_what_, HasSubstr("(session " + std::to_string(other.session_id()) + ")"));
  Environment(other).End();
}

TEST_F(Refusal, WhatIsNotAnHloModuleIsNamed) {
  const auto expect = [&](const std::string& bytes, const std::string& text) {
    Expect(ErrorKind::kInvalidProgram, [&] { LoadFunctionFromBytes(bytes); }, "load_function", text);
  };
  expect("", "what is given: It is empty; an HLO module");
  expect(" \n", "It is empty");
  expect("module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n}\n", "no function @main");
  const std::string open =
      "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n";
  Expect(
      ErrorKind::kUnimplemented, [&] { LoadFunctionFromBytes(open); }, "load_function",
      "Argument 0 is f32[?]: its size is not known");
  expect("HloModule broken\nENTRY main { ROOT x = f32[] add(y) }", "y");
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("hlod-refusal-" + std::to_string(getpid()) + ".pb");
  std::ofstream(path).close();
  Expect(
      ErrorKind::kInvalidProgram, [&] { LoadFunction(path.string()); }, "load_function",
      path.string() + ": It is empty");
  std::filesystem::remove(path);
  Expect(ErrorKind::kArgument, [&] { LoadFunction(path.string()); }, "load_function", "No such file");
}

}  // namespace
}  // namespace hlod
