// The acceptance rows of interoperation: imported functions under every transform, calls by name, shardings.
// Expected values are computed by hand.
#include <filesystem>

#include "hlod/nn/sharder.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Ts = std::vector<Tensor>;

class JaxRows : public TensorTest {
 protected:
  // The lowered form of jax.jit(lambda x, w: (jnp.sum(jnp.sin(x) * w), x * w)).
  static LoadedFunction Weighted() {
    return LoadFunctionFromBytes(R"(HloModule weighted
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
inner {
  x = f32[2] parameter(0)
  w = f32[2] parameter(1)
  s = f32[2] sine(x)
  ROOT p = f32[2] multiply(s, w)
}
ENTRY main {
  x = f32[2] parameter(0)
  w = f32[2] parameter(1)
  p = f32[2] call(x, w), to_apply=inner
  zero = f32[] constant(0)
  sum = f32[] reduce(p, zero), dimensions={0}, to_apply=add
  q = f32[2] multiply(x, w)
  ROOT both = (f32[], f32[2]) tuple(sum, q)
}
)");
  }
};

// Acceptance row JX6.
TEST_F(JaxRows, AnEqualFunctionDefinedAgainIsNotCompiledAgain) {
  const Tensor xs = OnDevice({1, 2, 3, 4}, {2, 2}), zero = OnDevice({0, 0}, {2});
  for (int i = 0; i < 5; ++i) {
    const auto f = [](const Tensor& c, const Tensor& x) { return std::pair(c + Sin(x), c * x); };
    Scan(f, zero, xs).first.ToHost();
    Jit([&](const Tensor& x) { return Grad([](const Tensor& y) { return Sum(y * y); })(x); })(zero).ToHost();
  }
  EXPECT_EQ(GetTraceStats().compiles, 2);
}

// Acceptance row JX7.
TEST_F(JaxRows, ATensorAndABufferAreOneArray) {
  const Tensor x = OnDevice({1, 2}, {2});
  Sync();
  const SessionStats before = Account();
  const Buffer buffer = x.ToBuffer();
  const Tensor back = Tensor::FromBuffer(buffer);
  EXPECT_EQ(back.dtype(), kF32);
  EXPECT_EQ(back.ToBuffer().handle(), buffer.handle());
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
  EXPECT_EQ(Account().device_to_device, before.device_to_device);
  EXPECT_EQ(Account().device_to_host, before.device_to_host);
  // A tensor made of a buffer takes part in operations.
  EXPECT_THAT((back + x).ToVector<float>(), ElementsAre(2, 4));
}

// Acceptance row JX8.
TEST_F(JaxRows, TransformsOfALoadedFunction) {
  const LoadedFunction loaded = Weighted();
  const auto f = [&](const Tensor& x, const Tensor& w) {
    const Ts both = loaded({x, w});
    return std::pair(both[0], both[1]);
  };
  const Tensor x = OnDevice({0, 1}, {2}), w = OnDevice({2, 3}, {2});
  const auto [gradient, aux] = Grad(f)(x, w);
  EXPECT_FLOAT_EQ(gradient.ToVector<float>()[0], 2);
  EXPECT_FLOAT_EQ(gradient.ToVector<float>()[1], 3 * std::cos(1.0f));
  EXPECT_THAT(aux.ToVector<float>(), ElementsAre(0, 3));
  const auto value = [&](const Tensor& x, const Tensor& w) { return f(x, w).first; };
  const auto [result, both] = Jit(ValueAndGrad<0, 1>(value))(x, w);
  EXPECT_FLOAT_EQ(result.Item<float>(), 3 * std::sin(1.0f));
  EXPECT_FLOAT_EQ(std::get<1>(both).ToVector<float>()[1], std::sin(1.0f));
  const Tensor batch = OnDevice({0, 1, 2, 3}, {2, 2});
  const std::vector<float> each = Vmap(Grad(value), {.in = {0, std::nullopt}})(batch, w).ToVector<float>();
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(each[i], (i % 2 == 0 ? 2 : 3) * std::cos(static_cast<float>(i)), 1e-5);
  const std::vector<float> again = Grad(Checkpoint(value))(x, w).ToVector<float>();
  EXPECT_EQ(again, gradient.ToVector<float>());
}

// Acceptance row JX8.
TEST_F(JaxRows, RandomNumbersGoOnAndStateDoesNotLeak) {
  const LoadedFunction loaded = Weighted();
  const auto draw = Jit([&](const Tensor& x, const Tensor& w) {
    return loaded({x, w})[0] + Rand({}, {.device = x.device()});
  });
  const Tensor x = OnDevice({0, 1}, {2}), w = OnDevice({2, 3}, {2});
  EXPECT_NE(draw(x, w).Item<float>(), draw(x, w).Item<float>());
  EXPECT_EQ(draw.traces(), 1);
  // A call that fails leaves no state behind.
  Throws([&] { Grad([&](const Tensor& x) { return loaded({x, w})[1]; })(x); });
  EXPECT_FLOAT_EQ(loaded({x, w})[0].Item<float>(), 3 * std::sin(1.0f));
}

// Acceptance row JX8.
TEST_F(JaxRows, AnImportedLoopOfKnownLengthHasAGradient) {
  // The lowered form of jax.lax.fori_loop(0, 3, lambda i, c: c * c, x).
  const LoadedFunction squared = LoadFunctionFromBytes(R"(HloModule squared
body {
  state = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  c = f32[2] get-tuple-element(state), index=1
  square = f32[2] multiply(c, c)
  ROOT both = (s32[], f32[2]) tuple(next, square)
}
test {
  state = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(3)
  ROOT less = pred[] compare(i, limit), direction=LT
}
ENTRY main {
  x = f32[2] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[2]) tuple(zero, x)
  end = (s32[], f32[2]) while(init), condition=test, body=body
  ROOT c = f32[2] get-tuple-element(end), index=1
}
)");
  const Tensor x = OnDevice({1, 2}, {2});
  EXPECT_THAT(squared({x})[0].ToVector<float>(), ElementsAre(1, 256));
  const auto f = [&](const Tensor& x) { return Sum(squared({x})[0]); };
  EXPECT_THAT(Grad(f)(x).ToVector<float>(), ElementsAre(8, 8 * 128));  // The derivative is 8 x^7.
}

// The lowered form of jax.lax.scan(lambda c, x: (c * x, c), c, xs): slices are read and stored at the
// counter.
constexpr char kScanned[] = R"(HloModule scanned
body {
  state = (s32[], f32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  c = f32[] get-tuple-element(state), index=1
  ys = f32[3] get-tuple-element(state), index=2
  xs = f32[3] get-tuple-element(state), index=3
  zero = s32[] constant(0)
  three = s32[] constant(3)
  negative = pred[] compare(i, zero), direction=LT
  wrapped = s32[] add(i, three)
  at = s32[] select(negative, wrapped, i)
  slice = f32[1] dynamic-slice(xs, at), dynamic_slice_sizes={1}
  x = f32[] reshape(slice)
  product = f32[] multiply(c, x)
  update = f32[1] reshape(c)
  stored = f32[3] dynamic-update-slice(ys, update, at)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT all = (s32[], f32[], f32[3], f32[3]) tuple(next, product, stored, xs)
}
test {
  state = (s32[], f32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(3)
  ROOT less = pred[] compare(i, limit), direction=LT
}
ENTRY main {
  c = f32[] parameter(0)
  xs = f32[3] parameter(1)
  zero = s32[] constant(0)
  nothing = f32[] constant(0)
  ys = f32[3] broadcast(nothing), dimensions={}
  init = (s32[], f32[], f32[3], f32[3]) tuple(zero, c, ys, xs)
  end = (s32[], f32[], f32[3], f32[3]) while(init), condition=test, body=body
  last = f32[] get-tuple-element(end), index=1
  stack = f32[3] get-tuple-element(end), index=2
  ROOT both = (f32[], f32[3]) tuple(last, stack)
}
)";

// Acceptance row JX8.
TEST_F(JaxRows, AnImportedScanIsAScan) {
  const LoadedFunction scanned = LoadFunctionFromBytes(kScanned);
  const Tensor c = OnDevice({2}, {}), xs = OnDevice({3, 5, 7}, {3});
  const Ts results = scanned({c, xs});
  const std::string text = Dump(results, DumpFormat::kHlo);
  EXPECT_EQ(text.find("dynamic-slice"), std::string::npos) << text;
  EXPECT_EQ(text.find("while("), std::string::npos);
  EXPECT_EQ(results[0].Item<float>(), 210);
  EXPECT_THAT(results[1].ToVector<float>(), ElementsAre(2, 6, 30));
  const auto last = [&](const Tensor& xs) { return scanned({c, xs})[0]; };
  EXPECT_THAT(Grad(last)(xs).ToVector<float>(), ElementsAre(70, 42, 30));
  // ys are 2, 2 x0, 2 x0 x1.
  const auto sum = [&](const Tensor& xs) { return Sum(scanned({c, xs})[1]); };
  EXPECT_THAT(Grad(sum)(xs).ToVector<float>(), ElementsAre(2 + 10, 6, 0));
  // The scan in reverse order.
  std::string reversed = kScanned;
  const std::string index = "at = s32[] select(negative, wrapped, i)";
  reversed.replace(reversed.find(index), index.size(),
                   "two = s32[] constant(2)\n  at = s32[] subtract(two, i)");
  const Ts back = LoadFunctionFromBytes(reversed)({c, xs});
  EXPECT_NE(Dump(back, DumpFormat::kHlo).find("is_reverse=true"), std::string::npos);
  EXPECT_THAT(back[1].ToVector<float>(), ElementsAre(70, 14, 2));
}

struct Tied : nn::Module {
  Tensor w;
  nn::Linear first{*this, "first", 2, 2, false}, second{*this, "second", 2, 2, false};
  Tied() { second.weight = first.weight; }
  Tensor operator()(const Tensor& x) const { return second(first(x)); }
  Tensor Twice(const Tensor& x) const { return first(first(x)); }
};

// Acceptance row JX9.
TEST_F(JaxRows, CallsWithOtherWeights) {
  Tied model;
  model.To(device());
  const Tensor x = OnDevice({1, 2}, {1, 2});
  EXPECT_EQ(model.Parameters().size(), 1u);  // A shared weight is one parameter.
  const nn::StateDict weights = {{"first.weight", OnDevice({0, 1, 2, 0}, {2, 2})}};
  EXPECT_THAT(nn::FunctionalCall(model, weights, x).ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(Jit([&](const nn::StateDict& w, const Tensor& x) { return nn::FunctionalCall(model, w, x); })(
                  weights, x)
                  .ToVector<float>(),
              ElementsAre(2, 4));
  Throws([&] { nn::FunctionalCall(model, {{"frist.weight", x}}, x); });
  EXPECT_THAT(last_what_, HasSubstr("first.weight"));
  EXPECT_NE(dynamic_cast<const nn::Module*>(&model), nullptr);
}

// Acceptance row JX12.
TEST_F(JaxRows, TheFirstDimensionThatFitsIsCut) {
  const nn::SingleAxisSharder four(4);
  EXPECT_EQ(four({8, 12}), "{devices=[4,1]<=[4]}");
  EXPECT_EQ(four({6, 12}), "{devices=[1,4]<=[4]}");
  Throws([&] { four({6, 3}); });
  EXPECT_THAT(last_what_,
              HasSubstr("Unable to find a dim to shard because None of the dims (6, 3) in shape is "
                        "multiple of 4"));
  EXPECT_THAT(last_what_, HasSubstr("jax_rows_test.cc:"));
  EXPECT_EQ(nn::SingleAxisSharder(4, true)({6, 3}), "{replicated}");
  EXPECT_TRUE(ShardedPlaceholder({6, 12}, kF32, device(), four({6, 12})).is_placeholder());
}

}  // namespace
}  // namespace hlod
