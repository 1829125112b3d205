// Random programs of views, in-place updates, syncs, reads and frees, compared with what PyTorch recorded
// (program/generate.py): on the host, on a device, and with several threads at once.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/recorded_views.h"

namespace hlod {
namespace {

using nlohmann::json;

// Runs one program and returns its first difference from PyTorch, or "".
std::string Play(const json& program, const Device& device) {
  std::map<int, Tensor> tensors;
  for (size_t i = 0; i < program.size(); ++i) {
    const json& step = program[i];
    const std::string kind = step[0];
    const auto at = [&](size_t k) -> Tensor& { return tensors[step[k].get<int>()]; };
    if (kind == "make") {
      const std::vector<int64_t> dims = List(step[2]);
      int64_t count = 1;
      for (const int64_t size : dims) count *= size;
      at(1) = Arange(1, 1 + count, 1, {.type = kS64, .device = device}).Reshape(dims);
    } else if (kind == "view") {
      at(1) = ViewOf(at(2), step);
    } else if (kind == "add_") {
      at(1).Add_(step[2].get<int64_t>());
    } else if (kind == "mul_") {
      at(1).Mul_(step[2].get<int64_t>());
    } else if (kind == "fill_") {
      at(1).Fill_(step[2].get<int64_t>());
    } else if (kind == "copy_") {
      at(1).Copy_(at(2).Clone());  // PyTorch refuses operands that partly overlap.
    } else if (kind == "add") {
      at(1) = at(2) + at(3);
    } else if (kind == "clone") {
      at(1) = at(2).Clone();
    } else if (kind == "sync") {
      Sync();
    } else if (kind == "free") {
      tensors.erase(step[1].get<int>());
    } else {
      const Tensor& x = at(1);
      const std::vector<int64_t> dims(x.dims().begin(), x.dims().end());
      if (dims != List(step[2])) return "step " + std::to_string(i) + ": another shape";
      if (x.ToVector<int64_t>() != List(step[3])) {
        return "step " + std::to_string(i) + ": " + x.ToString() + ", PyTorch has " + step[3].dump();
      }
    }
  }
  return "";
}

class Program : public TensorTest {
 protected:
  static const json& Programs() {
    static const json programs =
        json::parse(std::ifstream(SourceDir() / "tests/unit/client/tensor/program/programs.json"));
    return programs;
  }
};

TEST_F(Program, AgreesWithPyTorchOnTheHost) {
  for (size_t i = 0; i < Programs().size(); ++i)
    EXPECT_EQ(Play(Programs()[i], Device()), "") << "program " << i;
}

TEST_F(Program, AgreesWithPyTorchOnADeviceAndLeavesNothing) {
  for (size_t i = 0; i < Programs().size(); ++i)
    EXPECT_EQ(Play(Programs()[i], device()), "") << "program " << i;
  Sync();
  ASSERT_TRUE(client_->Sync().ok());
  EXPECT_EQ(Account().live_bytes, 0);
  EXPECT_EQ(Account().live_buffers, 0);
}

TEST_F(Program, AgreesWithPyTorchOnManyThreads) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < Programs().size(); i += 4)
        EXPECT_EQ(Play(Programs()[i], device()), "") << "program " << i;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hlod
