// The acceptance rows of gradients through scans, of checkpoints and autocast in their bodies, and of models
// of many layers. The references are loops without a scan.
#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/transform/llama.h"

namespace hlod {
namespace {

using Ts = std::vector<Tensor>;
using Pair = std::pair<Tensor, Tensor>;

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

struct Layer {
  Tensor w, b;
};

class ScanRows : public TensorTest {
 protected:
  Tensor Ramp(const Dims& dims, double start) {
    int64_t count = 1;
    for (const int64_t size : dims) count *= size;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(0.7 * std::sin(start + 1.3 * i)));
    return OnDevice(values, dims);
  }
  Layer Stacked(int64_t count, int64_t size) {
    return {Ramp({count, size, size}, 1) * (1 / std::sqrt(static_cast<double>(size))),
            Ramp({count, size}, 2)};
  }
  static Tensor Block(const Layer& layer, const Tensor& x) { return Tanh(MatMul(x, layer.w) + layer.b); }
  static void ExpectNear(const Tensor& got, const Tensor& wanted, double tolerance, const std::string& what) {
    ASSERT_TRUE(got.defined() && wanted.defined()) << what;
    const std::vector<float> a = got.ToVector<float>(), b = wanted.ToVector<float>();
    ASSERT_EQ(a.size(), b.size()) << what;
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << what << ", element " << i;
    }
  }
};

// Applies the stacked layers by a scan, each checkpointed with `policy`.
Tensor Looped(const Layer& stacked, const Tensor& x, const CheckpointPolicy& policy) {
  const auto block = Checkpoint(
      [](const Layer& layer, const Tensor& x) {
        return Tanh(CheckpointName(MatMul(Sin(x), layer.w), "product") + layer.b);
      },
      policy);
  return Scan([&](const Tensor& h,
                  const Layer& layer) { return std::pair<Tensor, std::tuple<>>(block(layer, h), {}); },
              x, stacked)
      .first;
}

// Acceptance row SC3.
TEST_F(ScanRows, AScanMovesNoMoreThanALoop) {
  constexpr int kLayers = 6;
  constexpr int64_t kSize = 32;
  const auto uploads = [&](const std::function<void()>& body) {
    const SessionStats before = Account();
    body();
    return Account().host_to_device.bytes - before.host_to_device.bytes;
  };
  std::vector<Layer> layers;
  for (int i = 0; i < kLayers; ++i) layers.push_back({Ramp({kSize, kSize}, i) * 0.2, Ramp({kSize}, i)});
  const Tensor x = Ramp({1, kSize}, 3);
  Sync();
  std::vector<float> expected, got;
  const int64_t by_loop = uploads([&] {
    Tensor h = x;
    for (const Layer& layer : layers) h = Block(layer, h);
    expected = h.ToVector<float>();
  });
  const int64_t by_scan = uploads([&] { got = ScanLayers(Block, layers, x).ToVector<float>(); });
  // The expensive way: traces a layer with stand-ins that have values, which are uploaded.
  const int64_t by_fakes = uploads([&] {
    for (int i = 0; i < kLayers; ++i) {
      const auto fake = [&](const Dims& dims, int64_t count) {
        return FromValues<float>(std::vector<float>(static_cast<size_t>(count)), dims).To(device());
      };
      Block({fake({kSize, kSize}, kSize * kSize), fake({kSize}, kSize)}, x).ToHost();
    }
    ScanLayers(Block, layers, x).ToHost();
  });
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5);
  RecordProperty("loop_bytes", static_cast<int>(by_loop));
  RecordProperty("scan_bytes", static_cast<int>(by_scan));
  RecordProperty("materialised_bytes", static_cast<int>(by_fakes));
  EXPECT_LE(by_scan, by_loop + 64);
  EXPECT_GE(by_fakes, by_scan + kLayers * kSize * kSize * 4);
}

// Acceptance row SC5.
TEST_F(ScanRows, EveryCombinationOfGradients) {
  const Tensor h0 = Ramp({3}, 1), xs = Ramp({4, 3}, 2), w = Ramp({3, 3}, 3);
  const auto step = [](const Tensor& h, const Tensor& x, const Tensor& w) { return Tanh(MatMul(h, w) + x); };
  const auto by_loop = [&](const Ts& v) {
    Tensor h = v[0], sum = Sum(v[0]) * 0;
    for (int64_t i = 0; i < 4; ++i) {
      h = step(h, v[1].Select(0, i), v[2]);
      sum = sum + Sum(h * v[1].Select(0, i));
    }
    return sum + Sum(h);
  };
  const auto by_scan = [&](const Ts& v) {
    const auto [h, ys] = Scan(
        [&](const Tensor& h, const Tensor& x) {
          const Tensor next = step(h, x, v[2]);
          return Pair(next, next * x);
        },
        v[0], v[1]);
    return Sum(ys) + Sum(h);
  };
  for (int mask = 1; mask < 8; ++mask) {
    const auto gradients = [&](const auto& f) {
      Ts leaves = {h0.Clone(), xs.Clone(), w.Clone()};
      for (int i = 0; i < 3; ++i) {
        if (mask >> i & 1) leaves[i].RequiresGrad_();
      }
      f(leaves).Backward();
      Ts result;
      for (const Tensor& leaf : leaves) result.push_back(leaf.Grad());
      return result;
    };
    const Ts got = gradients(by_scan), wanted = gradients(by_loop);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(got[i].defined(), (mask >> i & 1) != 0) << mask;
      if (got[i].defined()) ExpectNear(got[i], wanted[i], 1e-5, "mask " + std::to_string(mask));
    }
  }
}

// Acceptance row SC6.
TEST_F(ScanRows, ThePolicyDecidesWhatIsKept) {
  constexpr int64_t kLayers = 16, kSize = 16, kRows = 512;
  const Layer stacked = Stacked(kLayers, kSize);
  const Tensor x = Ramp({kRows, kSize}, 5);
  Sync();
  struct Result {
    int64_t peak;
    int sines;
    std::vector<float> gradient;
  };
  const auto run = [&](const CheckpointPolicy& policy) {
    Result result;
    const Layer gradient =
        Grad([&](const Layer& l, const Tensor& x) { return Sum(Looped(l, x, policy)); })(stacked, x);
    const std::vector<Tensor> outputs = {gradient.w, gradient.b};
    result.sines = Count(Dump(outputs, DumpFormat::kHlo), " sine(");
    // Measures the bytes of the results of all scans, which are the stacks kept for the gradient. The
    // session's peak could not be compared per policy, because it never falls.
    const std::unique_ptr<Module> module = Lower(outputs);
    std::vector<std::pair<Dims, int64_t>> stacks;
    int64_t bytes = 0;
    for (hlo::ComputationId c = 0; c < module->computation_count(); ++c) {
      const hlo::Computation& computation = module->computation(c);
      for (hlo::NodeId node = 0; node < computation.size(); ++node) {
        if (computation[node].opcode() != hlo::kScan) continue;
        for (const Shape& shape : computation[node].shape().tuple) bytes += hlo::ByteSize(shape).value_or(0);
      }
    }
    result.peak = bytes;
    result.gradient = gradient.w.ToVector<float>();
    return result;
  };
  const Result nothing = run(CheckpointPolicy::Nothing()), named = run(CheckpointPolicy::Names({"product"})),
               everything = run(CheckpointPolicy::Everything());
  for (size_t i = 0; i < nothing.gradient.size(); ++i) {
    EXPECT_NEAR(nothing.gradient[i], everything.gradient[i], 1e-4 * (1 + std::abs(everything.gradient[i])));
    EXPECT_NEAR(named.gradient[i], everything.gradient[i], 1e-4 * (1 + std::abs(everything.gradient[i])));
  }
  // Each kept value is a stack over all layers. The policies keep the state alone; the state and the product;
  // the state and everything in between.
  const int64_t stack = kLayers * kRows * kSize * 4;
  EXPECT_LT(nothing.peak, named.peak);
  EXPECT_LT(named.peak, everything.peak);
  EXPECT_LT(nothing.peak, 2 * stack);
  EXPECT_EQ(nothing.sines, 2);  // Computed in the forward pass, and again in the transposed loop.
  EXPECT_EQ(everything.sines, 1);
}

// Acceptance row SC6.
TEST_F(ScanRows, ThePeakOfMemoryFollowsThePolicy) {
  constexpr int64_t kLayers = 24, kSize = 16, kRows = 4096;
  const auto peak = [&](const CheckpointPolicy& policy) {
    Client client = daemon_->Connect().value();
    const Device where = client.device(0);
    const auto ramp = [&](const Dims& dims) { return Ramp(dims, 1).ToHost().To(where); };
    const Layer stacked = {ramp({kLayers, kSize, kSize}), ramp({kLayers, kSize})};
    const Tensor x = ramp({kRows, kSize});
    const Layer gradient =
        Grad([&](const Layer& l, const Tensor& x) { return Sum(Looped(l, x, policy)); })(stacked, x);
    gradient.w.ToHost();
    const int64_t bytes = client.Stats().value().peak_bytes;
    Environment(client).End();
    return bytes;
  };
  const int64_t nothing = peak(CheckpointPolicy::Nothing()),
                everything = peak(CheckpointPolicy::Everything());
  EXPECT_LT(nothing, everything);
}

// Acceptance row SC15.
TEST_F(ScanRows, ACustomCallInABodyStays) {
  const Tensor xs = Ramp({3, 2}, 1), zero = Ramp({2}, 2);
  const auto [carry, ys] = Scan(
      [](const Tensor& c, const Tensor& x) {
        const Tensor y = CustomCall("some.target", {x}, Shape::Array(kF32, {2}), {.payload = "pay load"});
        return Pair(c + y, y);
      },
      zero, xs);
  const std::string text = Dump(std::vector<Tensor>{carry, ys}, DumpFormat::kHlo);
  EXPECT_EQ(Count(text, "custom_call_target=\"some.target\""), 1);
  EXPECT_EQ(Count(text, "backend_config=\"pay load\""), 1);
}

// Acceptance row SC15.
TEST_F(ScanRows, AShardingInABodyStays) {
  const LoadedFunction annotated = LoadFunctionFromBytes(R"(HloModule annotated
step {
  x = f32[2] parameter(0)
  c = f32[2] parameter(1)
  y = f32[2] custom-call(x), custom_call_target="Sharding", sharding={devices=[2]<=[2]}
  next = f32[2] add(c, y)
  ROOT both = (f32[2], f32[2]) tuple(y, next)
}
ENTRY main {
  xs = f32[3,2] parameter(0)
  c = f32[2] parameter(1)
  ROOT end = (f32[3,2], f32[2]) scan(xs, c), dimensions={0}, num_carries=1, to_apply=step
}
)");
  const Ts results = annotated({Ramp({3, 2}, 1), Ramp({2}, 2)});
  EXPECT_EQ(Count(Dump(results, DumpFormat::kHlo), "sharding={devices=[2]<=[2]}"), 1);
}

// Returns the number of products of each type in a program.
std::map<std::string, int> Products(const std::string& text) {
  std::map<std::string, int> types;
  for (size_t at = text.find(" dot("); at != std::string::npos; at = text.find(" dot(", at + 1)) {
    const size_t equals = text.rfind("= ", at) + 2;
    ++types[text.substr(equals, text.find('[', equals) - equals)];
  }
  return types;
}

// Acceptance row AC9.
TEST_F(ScanRows, TheGradientOfALinearHasProductsOfTheLowType) {
  Tensor w = Ramp({4, 3}, 1).RequiresGrad_();
  const Tensor x = Ramp({2, 3}, 2);
  Tensor loss;
  {
    const Autocast autocast(kBF16);
    loss = Mean(Pow(Einsum("...n,mn->...m", {x, w}), 2));
  }
  loss.Backward();
  const std::string text = Dump(std::vector<Tensor>{loss, w.Grad()}, DumpFormat::kHlo);
  EXPECT_EQ(Products(text), (std::map<std::string, int>{{"bf16", 2}}));
  EXPECT_EQ(w.Grad().dtype(), kF32);
  RecordProperty("converts", Count(text, " convert("));
}

// Acceptance row AC12.
TEST_F(ScanRows, RecomputationHasTheTypesOfTheFirstTime) {
  const Layer stacked = Stacked(4, 3);
  const auto loss = [](const Layer& l, const Tensor& x) {
    const Autocast autocast(kBF16);
    return Sum(Looped(l, x, CheckpointPolicy::Nothing()).To(kF32));
  };
  const Layer gradient = Grad(loss)(stacked, Ramp({2, 3}, 5));
  const std::map<std::string, int> products =
      Products(Dump(std::vector<Tensor>{gradient.w, gradient.b}, DumpFormat::kHlo));
  EXPECT_EQ(products.size(), 1u);
  EXPECT_EQ(products.begin()->first, "bf16");
  // Backward() runs outside of the region.
  Layer leaf = {stacked.w.Clone().RequiresGrad_(), stacked.b.Clone().RequiresGrad_()};
  loss(leaf, Ramp({2, 3}, 5)).Backward();
  EXPECT_EQ(Products(Dump(std::vector<Tensor>{leaf.w.Grad(), leaf.b.Grad()}, DumpFormat::kHlo)), products);
}

TEST_F(ScanRows, TheLoopRunsForwardOnceAndWhatDoesNotVaryIsNotStacked) {
  const Tensor h0 = Ramp({3}, 1), xs = Ramp({5, 3}, 2), w = Ramp({3, 3}, 3);
  const auto f = [](const Tensor& h0, const Tensor& xs, const Tensor& w) {
    return Sum(
        Scan([&](const Tensor& h, const Tensor& x) { return Pair(Tanh(MatMul(h, Exp(w)) + x), x); }, h0, xs)
            .first);
  };
  const auto [value, gradients] = ValueAndGrad<0, 1, 2>(f)(h0, xs, w);
  const auto& [by_h, by_xs, by_w] = gradients;
  const Ts all = {value, by_h, by_xs, by_w};
  const std::string text = Dump(all, DumpFormat::kHlo);
  EXPECT_EQ(Count(text, " scan("), 2);
  EXPECT_EQ(Count(text, " tanh("), 1);
  // The state h before each iteration and the result of tanh are stacked; exp(w) is not.
  EXPECT_EQ(Count(text, "f32[5,3,3]"), 0);
  EXPECT_NE(text.find("f32[5,3]"), std::string::npos);
}

TEST_F(ScanRows, ReadingTheLossFirstChangesNothingThatIsComputed) {
  const Tensor xs = Ramp({5, 3}, 2);
  const auto gradient = [&](bool read, std::string* text) {
    Tensor w = Ramp({3, 3}, 3).Clone().RequiresGrad_();
    Sync();
    const Tensor loss = Sum(
        Scan([&](const Tensor& h, const Tensor& x) { return Pair(Tanh(MatMul(h, w) + x), x); }, xs[0] * 0, xs)
            .first);
    if (read) static_cast<void>(loss.Item<float>());
    loss.Backward();
    *text = Dump(w.Grad(), DumpFormat::kHlo);
    return w.Grad().ToVector<float>();
  };
  std::string together, after;
  const std::vector<float> one = gradient(false, &together), other = gradient(true, &after);
  EXPECT_EQ(one, other);
  EXPECT_EQ(Count(together, " tanh("), 1);
  EXPECT_EQ(Count(after, " tanh("), 0) << after;  // tanh is kept instead of recomputed.
  EXPECT_EQ(Count(after, " scan("), 1);
}

TEST_F(ScanRows, ALoopOfUnknownLengthHasNoGradientAndSaysWhere) {
  const auto f = [](const Tensor& x) {
    return Sum(
        While([](const Tensor& v) { return Lt(Sum(v), 100); }, [](const Tensor& v) { return v * v; }, x));
  };
  const Tensor x = OnDevice({2, 3}, {2});
  const auto [value, tangent] = Jvp(f, std::tuple(x), std::tuple(OnDevice({1, 0}, {2})));
  // The numbers are squared three times: their sums are 5, 13, 97, 6817.
  EXPECT_EQ(value.Item<float>(), 256 + 6561);
  EXPECT_EQ(tangent.Item<float>(), 8 * 128);   // 8 x^7 at 2.
  Throws([&] { Grad(f)(x); });
  EXPECT_THAT(last_what_, HasSubstr("while_loop (scan_rows_test.cc:"));
  EXPECT_THAT(last_what_, HasSubstr("not known before it runs"));
  Tensor leaf = OnDevice({2, 3}, {2}).RequiresGrad_();
  const Tensor loss = f(leaf);
  Throws([&] { loss.Backward(); });
  EXPECT_THAT(last_what_, HasSubstr("not known before it runs"));
  EXPECT_EQ(loss.Detach().Item<float>(), 256 + 6561);  // The program continues after the error.
}

// Acceptance row SC4.
TEST_F(ScanRows, TheGradientDoesNotGrowWithTheNumberOfLayers) {
  int64_t sizes[2], operations[2];
  for (const int64_t count : {3, 126}) {
    const Layer stacked = Stacked(count, 4);
    const Tensor x = Ramp({2, 4}, 5);
    Sync();
    ResetTraceStats();
    const auto loss = [](const Layer& l, const Tensor& x) {
      return Sum(Looped(l, x, CheckpointPolicy::Dots()));
    };
    const Layer gradient = Grad(loss)(stacked, x);
    const std::vector<Tensor> outputs = {gradient.w, gradient.b};
    sizes[count == 126] = Lower(outputs)->instruction_count();
    operations[count == 126] = GetTraceStats().operations;
    const std::vector<float> by_w = gradient.w.ToVector<float>();
    EXPECT_EQ(GetTraceStats().compiles, 1);
    if (count == 3) continue;
    // The reference gradient, layer by layer.
    const Layer wanted = Grad([&](const Layer& l, const Tensor& x) {
      Tensor h = x;
      for (int64_t i = 0; i < count; ++i) {
        h = Tanh(MatMul(Sin(h), l.w.Select(0, i)) + l.b.Select(0, i));
      }
      return Sum(h);
    })(stacked, x);
    ExpectNear(gradient.w, wanted.w, 1e-4, "weights");
    ExpectNear(gradient.b, wanted.b, 1e-4, "biases");
  }
  EXPECT_EQ(sizes[0], sizes[1]);
  EXPECT_EQ(operations[0], operations[1]);
}

TEST_F(ScanRows, BackwardCostsWhatGradCosts) {
  const Tensor x = Ramp({2, 3}, 5);
  const Layer stacked = Stacked(4, 3);
  const auto loss = [&](const Layer& l) { return Sum(Looped(l, x, CheckpointPolicy::Dots())); };
  Layer leaf = {stacked.w.Clone().RequiresGrad_(), stacked.b.Clone().RequiresGrad_()};
  Sync();
  loss(leaf).Backward();
  const Layer gradient = Grad(loss)(Layer{leaf.w.Detach(), leaf.b.Detach()});
  EXPECT_EQ(Lower(Ts{leaf.w.Grad(), leaf.b.Grad()})->instruction_count(),
            Lower(Ts{gradient.w, gradient.b})->instruction_count());
  EXPECT_EQ(leaf.w.Grad().ToVector<float>(), gradient.w.ToVector<float>());
}

TEST_F(ScanRows, VjpRunsTheLoopForwardOnce) {
  const Tensor h0 = Ramp({3}, 1), xs = Ramp({5, 3}, 2), w = Ramp({3, 3}, 3);
  const auto f = [&](const Tensor& h0, const Tensor& xs) {
    return Scan([&](const Tensor& h, const Tensor& x) { return Pair(Tanh(MatMul(h, w * 2.5) + x), x); }, h0,
                xs)
        .first;
  };
  const auto [value, pull] = Vjp(f, std::tuple(h0, xs));
  const Tensor ct = Ramp({3}, 4);
  const auto [by_h, by_xs] = pull(ct);
  EXPECT_EQ(Count(Dump(std::vector<Tensor>{value, by_h, by_xs}, DumpFormat::kHlo), " tanh("), 1);
  const auto wanted =
      Grad<0, 1>([&](const Tensor& h0, const Tensor& xs) { return Sum(f(h0, xs) * ct); })(h0, xs);
  ExpectNear(by_h, std::get<0>(wanted), 1e-6, "h0");
  ExpectNear(by_xs, std::get<1>(wanted), 1e-6, "xs");
  // A second pullback, after the first was run.
  Sync();
  ExpectNear(std::get<0>(pull(ct * 2)), by_h * 2, 1e-6, "twice");
}

TEST_F(ScanRows, VmapOfACheckpointKeepsIt) {
  const Tensor w = Ramp({3, 3}, 1), x = Ramp({4, 3}, 2);
  const auto f = [](const CheckpointPolicy& policy) {
    return [policy](const Tensor& w, const Tensor& x) {
      const auto layer = Checkpoint(
          [](const Tensor& w, const Tensor& x) { return Tanh(MatMul(Sin(MatMul(x, w)), w)); }, policy);
      return Sum(layer(w, x));
    };
  };
  const auto batched = [&](const CheckpointPolicy& policy) {
    return Grad([&](const Tensor& w) { return Sum(Vmap(f(policy), {.in = {std::nullopt, 0}})(w, x)); })(w);
  };
  const Tensor kept = batched(CheckpointPolicy::Nothing()), plain = batched(CheckpointPolicy::Everything());
  EXPECT_EQ(Count(Dump(kept, DumpFormat::kHlo), "opt-barrier("), 1);
  EXPECT_EQ(Count(Dump(kept, DumpFormat::kHlo), " sine("), 2);
  EXPECT_EQ(Count(Dump(plain, DumpFormat::kHlo), " sine("), 1);
  ExpectNear(kept, plain, 1e-5, "gradient");
}

TEST_F(ScanRows, AModelOf405BIsTracedWithoutAByteOfItsWeights) {
  const llama::Config config = llama::Config::Of405B();
  const Tensor tokens = FromValues<int64_t>({1, 2, 3, 4}, Dims{4}, device());
  const Tensor next = FromValues<int64_t>({2, 3, 4, 5}, Dims{4}, device());
  Sync();
  const SessionStats before = Account();
  ResetTraceStats();
  const llama::Params params =
      llama::MakeParams(config, [&](const Dims& dims) { return Placeholder(dims, kBF16, device()); });
  const auto [loss, gradient] = ValueAndGrad([&](const llama::Params& p) {
    return llama::Loss(config, p, tokens, next, CheckpointPolicy::Nothing());
  })(params);
  std::vector<Tensor> results = Leaves(gradient);
  EXPECT_EQ(results.size(), 126u * 9 + 3);
  results.push_back(loss);
  for (const Tensor& result : results) EXPECT_TRUE(result.is_placeholder());
  const std::unique_ptr<Module> module = Lower(results);
  const SessionStats after = Account();
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.device_to_host, before.device_to_host);
  EXPECT_EQ(after.executes, before.executes);
  EXPECT_EQ(GetTraceStats().compiles, 0);
  // The module has two loops, whose bodies do not depend on the number of layers.
  int scans = 0;
  for (hlo::ComputationId c = 0; c < module->computation_count(); ++c) {
    const hlo::Computation& computation = module->computation(c);
    for (hlo::NodeId node = 0; node < computation.size(); ++node)
      scans += computation[node].opcode() == hlo::kScan;
  }
  EXPECT_EQ(scans, 2);
  EXPECT_LT(module->instruction_count(), 10'000);
}

}  // namespace
}  // namespace hlod
