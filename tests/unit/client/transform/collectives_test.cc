// Collectives by the name of a Vmap's axis, compared with JAX's (collectives/generate.py): the value, the
// gradient of each example and of all together, the derivative in a direction, the second derivative.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Json = nlohmann::json;
using Function = std::function<Tensor(const Tensor&)>;

Tensor Weighted(const Tensor& x) {
  const Tensor weights = Cos(Arange(0, x.numel(), 1, {.type = kF64, .device = x.device()}));
  return Sum(x * weights.Reshape(x.dims()));
}

Tensor Scanned(const Tensor& x) {
  const auto [c, ys] = Scan(
      [](const Tensor& c, const Tensor& row) {
        const Tensor next = Sin(c + Pmean(row, "i")) * (1 + AxisIndex("i"));
        return std::pair(next, Ppermute(next, "i", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
      },
      Ones({3}, {.type = kF64, .device = x.device()}), x);
  return Cat({c.Unsqueeze(0), ys});
}

Tensor ConstantInScan(const Tensor& x) {
  const Tensor given = Full({}, 1.5, {.type = kF64, .device = x.device()});
  const Tensor c = Scan([&](const Tensor& c,
                            const Tensor& y) { return std::pair(c + Psum(given, "i") + AxisIndex("i"), y); },
                        Full({}, 1, {.type = kF64, .device = x.device()}), x.Select(1, 0))
                       .first;
  return c * x;
}

Tensor Branched(const Tensor& x) {
  return Cond(
      Psum(x[0][0], "i") > 0, [](const Tensor& x) { return x - Pmean(x, "i"); },
      [](const Tensor& x) { return x * AxisIndex("i"); }, x);
}
const std::map<std::string, Function>& Functions() {
  static const auto* const functions = new std::map<std::string, Function>{
      {"psum", [](const Tensor& x) { return Psum(Sin(x), "i") * x; }},
      {"psum_of_a_constant",
       [](const Tensor& x) { return Psum(Full({3}, 0.25, {.type = kF64, .device = x.device()}), "i") * x; }},
      {"pmean", [](const Tensor& x) { return x - Pmean(x, "i"); }},
      {"normalized",
       [](const Tensor& x) {
         const Tensor mean = Pmean(x, "i");
         return (x - mean) / Sqrt(Pmean(Square(x - mean), "i") + 1e-3);
       }},
      {"axis_index", [](const Tensor& x) { return x * AxisIndex("i") + AxisSize("i"); }},
      {"ppermute",
       [](const Tensor& x) {
         return Ppermute(Sin(x), "i", {{0, 2}, {2, 1}, {1, 3}, {3, 0}}) * x;
       }},
      {"pshuffle",
       [](const Tensor& x) {
         return Pshuffle(Sin(x), "i", {3, 0, 2, 1}) * x;
       }},
      {"all_gather", [](const Tensor& x) { return Sin(AllGather(x, "i")) * x; }},
      {"all_gather_dim", [](const Tensor& x) { return Sin(AllGather(x, "i", {.dim = 1})) * x.Unsqueeze(1); }},
      {"all_gather_tiled",
       [](const Tensor& x) {
         return Sin(AllGather(x, "i", {.dim = 1, .tiled = true})) * Tile(x, {1, 4});
       }},
      {"psum_scatter", [](const Tensor& x) { return PsumScatter(Sin(x), "i") * x; }},
      {"psum_scatter_tiled",
       [](const Tensor& x) {
         return PsumScatter(Sin(Tile(x, {2, 1})), "i", {.tiled = true}) * x.Slice(0, 0, 2);
       }},
      {"all_to_all", [](const Tensor& x) { return AllToAll(Sin(x), "i", 0, 1) * x.Transpose(0, 1); }},
      {"all_to_all_tiled",
       [](const Tensor& x) {
         return AllToAll(Sin(Tile(x, {2, 1})), "i", 0, 1, true) * Tile(x.Slice(0, 0, 2), {1, 4});
       }},
      {"pswapaxes", [](const Tensor& x) { return Pswapaxes(Sin(x), "i", 0) * x; }},
      {"scanned", Scanned},
      {"constant_in_scan", ConstantInScan},
      {"branched", Branched},
      {"pmax", [](const Tensor& x) { return Pmax(x, "i") * x; }},
      {"pmin", [](const Tensor& x) { return Pmin(x, "i") * x; }},
  };
  return *functions;
}

const std::map<std::string, Function>& NestedFunctions() {
  static const auto* const functions = new std::map<std::string, Function>{
      {"both",
       [](const Tensor& x) {
         return Psum(Sin(x), {"i", "j"}) * x;
       }},
      {"outer", [](const Tensor& x) { return Psum(Sin(x), "i") * x; }},
      {"outer_gather", [](const Tensor& x) { return Sin(AllGather(x, "i")) * x; }},
      {"outer_scatter", [](const Tensor& x) { return PsumScatter(Sin(x), "i") * x; }},
      {"outer_swap", [](const Tensor& x) { return AllToAll(Sin(x), "i", 0, 0) * x; }},
      {"outer_permute",
       [](const Tensor& x) {
         return Ppermute(Sin(x), "i", {{0, 1}, {1, 3}, {3, 2}, {2, 0}}) * x;
       }},
      {"inner", [](const Tensor& x) { return Psum(Sin(x), "j") * Pmean(x, "i"); }},
      {"indices",
       [](const Tensor& x) {
         return x * (AxisIndex("i") * 10 + AxisIndex("j")) + AxisIndex({"i", "j"});
       }},
  };
  return *functions;
}

class Collectives : public TensorTest {
 protected:
  using Over = std::function<Function(Function)>;

  static Tensor Given(const Json& json, const Device& at) {
    const auto values = json.at("values").get<std::vector<double>>();
    const auto dims = json.at("dims").get<std::vector<int64_t>>();
    return FromValues<double>(values, Dims(dims.begin(), dims.end()), at);
  }
  static void ExpectNear(const Tensor& x, const Json& expected, double tolerance, const std::string& of) {
    const auto dims = expected.at("dims").get<std::vector<int64_t>>();
    ASSERT_EQ(x.dims(), Dims(dims.begin(), dims.end())) << of;
    const auto wanted = expected.at("values").get<std::vector<double>>();
    const std::vector<double> values = x.To(kF64).ToVector<double>();
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << of << " at " << i;
    }
  }
  void Check(const std::map<std::string, Function>& functions, const char* cases, const char* x,
             const char* dx, const Over& over) {
    const Json all =
        Json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/collectives/collectives.json"));
    for (const Device& at : {Device(), device()}) {
      const Tensor primal = Given(all.at(x), at), tangent = Given(all.at(dx), at);
      ASSERT_EQ(all.at(cases).size(), functions.size());
      for (const auto& [name, f] : functions) {
        SCOPED_TRACE(name + " on " + at.ToString());
        const Json& expected = all.at(cases).at(name);
        ExpectNear(over(f)(primal), expected.at("value"), 1e-12, "value");
        ExpectNear(over([f](const Tensor& x) { return Jit(f)(x); })(primal), expected.at("value"), 1e-12,
                   "value by Jit");
        if (!expected.contains("gradient")) continue;
        const auto of_one = [f](const Tensor& x) { return Weighted(f(x)); };
        ExpectNear(over(Grad(of_one))(primal), expected.at("gradient"), 1e-11, "gradient");
        const auto around = [&](const Tensor& x) { return Weighted(over(f)(x)); };
        ExpectNear(Grad(around)(primal), expected.at("gradient_around"), 1e-11, "gradient around");
        ExpectNear(Jvp(over(f), std::tuple(primal), std::tuple(tangent)).second, expected.at("tangent"),
                   1e-11, "tangent");
        const auto second = [of_one](const Tensor& x) { return Weighted(Sin(Grad(of_one)(x))); };
        ExpectNear(over(Grad(second))(primal), expected.at("second"), 1e-10, "second derivative");
      }
    }
  }
};

TEST_F(Collectives, AreJaxs) {
  Check(Functions(), "cases", "x", "dx", [](Function f) { return Vmap(std::move(f), {.axis_name = "i"}); });
}

TEST_F(Collectives, OverOneOfTwoAxesAreJaxs) {
  Check(NestedFunctions(), "nested", "y", "dy",
        [](Function f) { return Vmap(Vmap(std::move(f), {.axis_name = "j"}), {.axis_name = "i"}); });
}

TEST_F(Collectives, TheInnerOfTwoEqualNamesCounts) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto inner = Vmap([](const Tensor& x) { return Psum(x, "i"); }, {.axis_name = "i"});
  EXPECT_THAT(Vmap(inner, {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(6, 6, 6, 15, 15, 15));
  const auto around = [&](const Tensor& x) { return inner(x) - Psum(x, "i"); };
  EXPECT_THAT(Vmap(around, {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(1, -1, -3, 10, 8, 6));
}

TEST_F(Collectives, ExamplesThatReceiveNothingGetZeros) {
  const Tensor x = OnDevice({1, 2, 3}, {3});
  const auto shift = [](const Tensor& x) { return Ppermute(x, "i", {{0, 1}, {1, 2}}); };
  EXPECT_THAT(Vmap(shift, {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(0, 1, 2));
  const auto squared = [&](const Tensor& x) { return Square(shift(x)); };
  EXPECT_THAT(Vmap(Grad(squared), {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(2, 4, 0));
}

TEST_F(Collectives, TheGreatestHasAGradientThatTiesShare) {
  const Tensor x = OnDevice({3, 1, 3}, {3});
  const auto f = [](const Tensor& x) { return Pmax(x, "i"); };
  EXPECT_THAT(Vmap(Grad(f), {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(1.5, 0, 1.5));
}

TEST_F(Collectives, BroadcastAndSumsOfOtherTypes) {
  const Tensor x = OnDevice({3, 1, 2}, {3});
  const auto f = [](const Tensor& x) { return Pbroadcast(x, "i", 2); };
  EXPECT_THAT(Vmap(f, {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(2, 2, 2));
  EXPECT_THAT(Vmap(Grad(f), {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(0, 0, 3));
  const auto count = [](const Tensor& x) { return Psum(x > 1, "i"); };
  EXPECT_THAT(Vmap(count, {.axis_name = "i"})(x).ToVector<int64_t>(), ElementsAre(2, 2, 2));
  const auto mean = [](const Tensor& x) { return Pmean(x.To(kS32), "i"); };
  EXPECT_THAT(Vmap(mean, {.axis_name = "i"})(x).ToVector<float>(), ElementsAre(2, 2, 2));
}

// As in JAX, a number is a value that all examples have.
TEST_F(Collectives, TakeNumbers) {
  const auto over = [&](const Function& f) {
    return Vmap(f, {.axis_name = "i"})(OnDevice({1, 2, 3}, {3})).ToVector<double>();
  };
  EXPECT_THAT(over([](const Tensor& x) { return x.To(kF64) * Psum(3.0, "i"); }), ElementsAre(9, 18, 27));
  EXPECT_THAT(over([](const Tensor& x) { return x.To(kF64) + Pmean(2.5, "i"); }), ElementsAre(3.5, 4.5, 5.5));
  EXPECT_THAT(over([](const Tensor& x) { return x.To(kF64) + Pmax(2, "i"); }), ElementsAre(3, 4, 5));
}

// A function given to Jit is traced again for an axis of another size, and not for the same one inside Jit.
TEST_F(Collectives, JitInsideIsTracedPerAxis) {
  const auto f = Jit([](const Tensor& x) { return Psum(x, "i") + AxisIndex("i") * AxisSize("i"); });
  const auto over = Vmap(f, {.axis_name = "i"});
  EXPECT_THAT(over(OnDevice({1, 2}, {2})).ToVector<float>(), ElementsAre(3, 5));
  EXPECT_THAT(over(OnDevice({1, 2, 3}, {3})).ToVector<float>(), ElementsAre(6, 9, 12));
  EXPECT_THAT(over(OnDevice({2, 3}, {2})).ToVector<float>(), ElementsAre(5, 7));
  const auto compiled = Jit(over);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(compiled(OnDevice({1, 2, 4}, {3})).ToVector<float>(), ElementsAre(7, 10, 13));
  }
  EXPECT_EQ(compiled.traces(), 1);
}

// The sum would be over the examples that come there only, or over all: JAX takes all, and its derivative the
// others.
TEST_F(Collectives, WhereOnlySomeExamplesComeAreRefused) {
  const Tensor x = OnDevice({1, 2, 3}, {3});
  const auto branched = [](const Tensor& x) {
    return Cond(
        AxisIndex("i") == 2, [](const Tensor& x) { return Sin(x); },
        [](const Tensor& x) { return x * Psum(x, "i"); }, x);
  };
  Throws([&] { Vmap(branched, {.axis_name = "i"})(x); });
  EXPECT_THAT(last_what_,
              HasSubstr("a collective over \"i\" stands in a branch that only some examples take"));
  const auto looped = [](const Tensor& x, bool together) {
    return While([=](const Tensor& x) { return (together ? Pmax(x, "i") : x) < 10; },
                 [](const Tensor& x) { return x + Pmin(x, "i"); }, x);
  };
  Throws([&] { Vmap([&](const Tensor& x) { return looped(x, false); }, {.axis_name = "i"})(x); });
  EXPECT_THAT(last_what_, HasSubstr("a loop that does not end for all examples at once"));
  const Tensor all = Vmap([&](const Tensor& x) { return looped(x, true); }, {.axis_name = "i"})(x);
  EXPECT_THAT(all.ToVector<float>(), ElementsAre(8, 9, 10));
}

TEST_F(Collectives, UnknownAxesAndWrongSizesAreRefused) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3});
  Throws([&] { Psum(x, "i"); });
  EXPECT_THAT(last_what_, HasSubstr("the axis \"i\" is unknown: no Vmap with an axis_name is around it"));
  Throws([&] { Vmap([](const Tensor& x) { return Psum(x, "k"); }, {.axis_name = "i"})(x); });
  EXPECT_THAT(last_what_, HasSubstr("the axis \"k\" is unknown: the Vmaps around it have \"i\""));
  Throws([&] { AxisIndex({}); });
  EXPECT_THAT(last_what_, HasSubstr("no axis is named"));
  Throws([&] { Vmap([](const Tensor& x) { return Pmax(x, {"i", "i"}); }, {.axis_name = "i"})(x); });
  EXPECT_THAT(last_what_, HasSubstr("the axis \"i\" is named twice"));
  const auto refused = [&](const Function& f) {
    Throws([&] { Vmap(f, {.axis_name = "i"})(x); });
    return last_what_;
  };
  EXPECT_THAT(refused([](const Tensor& x) { return AllToAll(x, "i", 0, 0); }),
              HasSubstr("dimension 0 has size 3, which is not the number of examples, 2"));
  EXPECT_THAT(refused([](const Tensor& x) { return PsumScatter(x, "i", {.tiled = true}); }),
              HasSubstr("dimension 0 has size 3, which is not a multiple of the number of examples, 2"));
  EXPECT_THAT(refused([](const Tensor& x) {
                return Ppermute(x, "i", {{0, 2}});
              }),
              HasSubstr("there is no example 2 among 2"));
  EXPECT_THAT(refused([](const Tensor& x) {
                return Ppermute(x, "i", {{0, 1}, {1, 1}});
              }),
              HasSubstr("example 1 receives twice"));
  EXPECT_THAT(refused([](const Tensor& x) { return Pshuffle(x, "i", {0}); }),
              HasSubstr("a permutation of 2 examples has 1 numbers"));
  // The axis ends with its Vmap, also after an error.
  Throws([&] { AxisSize("i"); });
  EXPECT_THAT(last_what_, HasSubstr("is unknown"));
}

}  // namespace
}  // namespace hlod
