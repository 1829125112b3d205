// Random programs of views, in-place updates, moves between devices, detached tensors, NoGrad scopes and
// gradients, compared with what PyTorch recorded (program/generate.py). A program names two places: once they
// are the host and a device, once a device and the host.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/recorded_views.h"

namespace hlod {
namespace {

using nlohmann::json;

Dims DimsOf(const json& numbers) {
  const std::vector<int64_t> list = List(numbers);
  return Dims(list.begin(), list.end());
}

class Player {
 public:
  Player(std::vector<Device> places, bool reads_late) : places_(std::move(places)), reads_late_(reads_late) {}

  // Runs one program and returns its first difference from PyTorch, or "".
  std::string Play(const json& program) {
    for (size_t i = 0; i < program.size() && difference_.empty(); ++i) {
      where_ = absl::StrCat("step ", i, " ", program[i].dump());
      try {
        Step(program[i]);
      } catch (const Error& error) {
        Differ(error.what());
      }
    }
    for (const auto& [where, tensor, wanted] : late_) {
      where_ = where;
      Compare(tensor, wanted);
    }
    return difference_;
  }

 private:
  Tensor& At(const json& name) { return tensors_[name.get<int>()]; }

  void Differ(const std::string& what) {
    if (difference_.empty()) difference_ = absl::StrCat(where_, ": ", what);
  }

  // Returns consecutive numbers from `first` on in a tensor of these dims.
  static Tensor Numbers(int64_t first, const Dims& dims, const Device& device) {
    int64_t count = 1;
    for (const int64_t size : dims) count *= size;
    return Arange(first, first + count, 1, {.type = kF64, .device = device}).Reshape(dims).Clone();
  }

  void Compare(const Tensor& x, const json& wanted) {
    const std::vector<double> found = x.ToVector<double>();
    if (found != wanted.get<std::vector<double>>()) Differ(x.ToString());
  }
  // Compares x with `wanted`, now or, when reads_late_, at the end with a clone made now.
  void Read(const Tensor& x, const json& wanted) {
    if (!reads_late_) return Compare(x, wanted);
    const NoGrad scope;
    late_.emplace_back(where_, x.Clone(), wanted);
  }

  void Step(const json& step) {
    const std::string kind = step[0];
    if (kind == "refused") {
      json refused = step;
      refused.erase(0);
      try {
        InPlace(refused);
      } catch (const Error&) {
        return;
      }
      return Differ("PyTorch refuses it");
    }
    if (Makes(step) || InPlace(step) || Checks(step)) return;
    if (kind == "require") {
      At(step[1]).RequiresGrad_(step[2].get<int>() != 0);
    } else if (kind == "nograd") {
      if (step[1].get<int>() != 0) no_grad_.emplace();
      else no_grad_.reset();
    } else if (kind == "retain") {
      At(step[1]).RetainGrad();
    } else if (kind == "backward") {
      const Tensor& x = At(step[1]);
      const Tensor weights = Numbers(step[2], x.dims(), x.device());
      x.Backward({.gradient = weights, .retain_graph = step[3].get<int>() != 0});
    } else if (kind == "zero_grad") {
      At(step[1]).ZeroGrad();
    } else if (kind == "free") {
      tensors_.erase(step[1].get<int>());
    } else if (kind == "sync") {
      Sync();
    } else {
      Differ("an unknown step");
    }
  }

  // Handles steps [kind, target, ...] that make a tensor. Returns false for other steps.
  bool Makes(const json& step) {
    const std::string kind = step[0];
    Tensor made;
    if (kind == "leaf") {
      made = Numbers(step[4], DimsOf(step[3]), places_[step[2].get<size_t>()]);
      if (step[5].get<int>() != 0) made.RequiresGrad_();
    } else if (kind == "view") {
      made = ViewOf(At(step[2]), step);
    } else if (kind == "move") {
      const Tensor& x = At(step[2]);
      made = x.To(places_[x.device() == places_[0] ? 1 : 0]);
    } else if (kind == "detach") {
      made = At(step[2]).Detach();
    } else if (kind == "clone") {
      made = At(step[2]).Clone();
    } else if (kind == "add") {
      made = At(step[2]) + At(step[3]);
    } else if (kind == "sub") {
      made = At(step[2]) - At(step[3]);
    } else if (kind == "mul") {
      made = At(step[2]) * At(step[3]);
    } else if (kind == "neg") {
      made = -At(step[2]);
    } else if (kind == "sum") {
      made = Sum(At(step[2]));
    } else if (kind == "cat") {
      made = Cat({At(step[2]), At(step[3])}, 0);
    } else if (kind == "gradient_of") {
      const Tensor& x = At(step[2]);
      const Tensor weights = Numbers(step[4], x.dims(), x.device());
      made = Gradients({x}, {At(step[3])}, {.gradient = weights, .create_graph = true})[0];
    } else {
      return false;
    }
    At(step[1]) = std::move(made);
    return true;
  }

  // Handles steps [kind, x, number or tensor]. Returns false for other steps.
  bool InPlace(const json& step) {
    const std::string kind = step[0];
    const auto number = [&] { return step[2].get<int64_t>(); };
    if (kind == "add_") At(step[1]).Add_(number());
    else if (kind == "sub_") At(step[1]).Sub_(number());
    else if (kind == "mul_") At(step[1]).Mul_(number());
    else if (kind == "fill_") At(step[1]).Fill_(number());
    else if (kind == "zero_") At(step[1]).Zero_();
    else if (kind == "add_t") At(step[1]).Add_(At(step[2]));
    else if (kind == "sub_t") At(step[1]).Sub_(At(step[2]));
    else if (kind == "mul_t") At(step[1]).Mul_(At(step[2]));
    else if (kind == "copy_t") At(step[1]).Copy_(At(step[2]));
    else return false;
    return true;
  }

  bool Checks(const json& step) {
    const std::string kind = step[0];
    if (kind == "read") {
      const Tensor& x = At(step[1]);
      if (x.dims() == DimsOf(step[2])) Read(x, step[3]);
      else Differ("another shape");
    } else if (kind == "state") {
      const Tensor& x = At(step[1]);
      if (x.requires_grad() != (step[2].get<int>() != 0)) Differ("another requires_grad()");
      if (x.is_leaf() != (step[3].get<int>() != 0)) Differ("another is_leaf()");
    } else if (kind == "grad") {
      const Tensor& x = At(step[1]);
      const Tensor gradient = x.Grad();
      if (gradient.defined() == step[2].is_null()) Differ(gradient.ToString());
      else if (!gradient.defined()) return true;
      else if (gradient.dims() != x.dims() || !(gradient.device() == x.device())) Differ("of another shape");
      else Read(gradient, step[2]);
    } else {
      return false;
    }
    return true;
  }

  const std::vector<Device> places_;
  const bool reads_late_;  // Reads all values at the end, so that a program is compiled once.
  std::map<int, Tensor> tensors_;
  std::optional<NoGrad> no_grad_;
  std::vector<std::tuple<std::string, Tensor, json>> late_;
  std::string where_, difference_;
};

class AutogradProgram : public TensorTest {
 protected:
  static const json& Programs() {
    static const json programs =
        json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/program/programs.json"));
    return programs;
  }
  static void PlayAll(const std::vector<Device>& places) {
    for (size_t i = 0; i < Programs().size(); ++i) {
      EXPECT_EQ(Player(places, /*reads_late=*/i % 8 != 0).Play(Programs()[i]), "") << "program " << i;
    }
  }
};

TEST_F(AutogradProgram, AgreesWithPyTorchFromTheHost) { PlayAll({Device(), device()}); }

TEST_F(AutogradProgram, AgreesWithPyTorchFromADeviceAndLeavesNothing) {
  PlayAll({device(), Device()});
  Sync();
  ASSERT_TRUE(client_->Sync().ok());
  EXPECT_EQ(Account().live_bytes, 0);
  EXPECT_EQ(Account().live_buffers, 0);
}

}  // namespace
}  // namespace hlod
