// Kernels: the blocks that steps read, write and carry over, gradients, and wrong use. Expected values are
// those of Pallas's interpret mode (JAX 0.10), or computed by hand.
#include "hlod/transform/kernel.h"

#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Kernels : public TensorTest {
 protected:
  static Tensor On(const Device& place, const std::vector<float>& values, Dims dims) {
    return FromValues<float>(values, std::move(dims), place);
  }
  // Returns 0, 1, 2, ... modulo `modulus`, minus `less`.
  static std::vector<float> Cycle(int count, int modulus, int less) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i % modulus - less));
    return values;
  }
  Tensor A(const Device& place) const { return On(place, Cycle(24, 7, 3), {4, 6}); }
  Tensor B(const Device& place) const { return On(place, Cycle(24, 5, 2), {6, 4}); }
  std::vector<Device> Places() const { return {device(), Device()}; }

  void Refused(const std::function<void()>& body, const char* why) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument) << why;
    EXPECT_THAT(last_what_, HasSubstr(why));
    EXPECT_THAT(last_what_, HasSubstr("kernel_test.cc")) << why;
  }
};

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

const IndexMap kRows = [](int64_t i) { return Dims{i, 0}; };
const IndexMap kBoth = [](int64_t i, int64_t j) { return Dims{i, j}; };

// Computes x y by square blocks; the last dimension of the grid accumulates.
Tensor Product(const Tensor& x, const Tensor& y, int64_t block) {
  const int64_t m = x.size(0), k = x.size(1), n = y.size(1);
  const Kernel product(
      "product",
      {.grid = {m / block, n / block, k / block},
       .in = {{{block, block}, [](int64_t i, int64_t, int64_t l) { return Dims{i, l}; }},
              {{block, block}, [](int64_t, int64_t j, int64_t l) { return Dims{l, j}; }}},
       .out = {{Shape::Array(kF32, {m, n}),
                {{block, block}, [](int64_t i, int64_t j, int64_t) { return Dims{i, j}; }}}}},
      [](const Tensor& a, const Tensor& b, Tensor& out) { out += MatMul(a, b); });
  return product({x, y});
}

Tensor SoftmaxRows(const Tensor& x) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const Kernel softmax("softmax",
                       {.grid = {rows},
                        .in = {{{1, columns}, kRows}},
                        .out = {{Shape::Array(kF32, {rows, columns}), {{1, columns}, kRows}}}},
                       [](const Tensor& row, Tensor& out) {
                         const Tensor e = Exp(row - Amax(row, {1}, /*keepdim=*/true));
                         out = e / Sum(e, {1}, /*keepdim=*/true);
                       });
  return softmax({x});
}

TEST_F(Kernels, ABlockedProductSumsUpInItsOutput) {
  for (const Device& place : Places()) {
    EXPECT_THAT(Product(A(place), B(place), 2).ToVector<float>(),
                ElementsAre(-4, 3, 5, 2, -16, -3, 5, 8, 0, -16, -2, 7, 9, -1, -16, -1));
  }
}

TEST_F(Kernels, SoftmaxOfRows) {
  for (const Device& place : Places()) {
    const Tensor x = On(place, {1, 2, 3, 4, 0, 0, 0, 0, -1, 5, 2, 0}, {3, 4});
    const std::vector<float> expected = {0.0320586f,  0.0871443f, 0.2368828f,  0.6439143f,
                                         0.25f,       0.25f,      0.25f,       0.25f,
                                         0.00234065f, 0.9442838f, 0.04701312f, 0.00636253f};
    const std::vector<float> values = SoftmaxRows(x).ToVector<float>();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6) << i;
  }
}

TEST_F(Kernels, RaggedEdgesReadZerosAndDropWhatIsOutside) {
  for (const Device& place : Places()) {
    std::vector<float> values;
    for (int i = 1; i <= 15; ++i) values.push_back(static_cast<float>(i));
    const Tensor x = On(place, values, {3, 5});
    const Kernel twice("twice",
                       {.grid = {2, 3},
                        .in = {{{2, 2}, kBoth}},
                        .out = {{Shape::Array(kF32, {3, 5}), {{2, 2}, kBoth}},
                                // The sum of each block; the zeros outside of x do not change it.
                                {Shape::Array(kF32, {2, 3}), {{1, 1}, kBoth}}}},
                       [](const Tensor& block, Tensor& out, Tensor& sum) {
                         out = block * 2 + 1;
                         sum += Sum(block);
                       });
    const std::vector<Tensor> results = twice.Outputs({x});
    EXPECT_EQ(results[0].dims(), (Dims{3, 5}));
    EXPECT_THAT(results[0].ToVector<float>(),
                ElementsAre(3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
    EXPECT_THAT(results[1].ToVector<float>(), ElementsAre(16, 24, 15, 23, 27, 15));
  }
}

TEST_F(Kernels, ScratchIsKeptFromStepToStep) {
  for (const Device& place : Places()) {
    const Tensor x = On(place, {1, 2, 3, 4, 5, 6}, {6});
    const auto at = [](int64_t i) { return Dims{i}; };
    const Kernel running("running",
                         {.grid = {3},
                          .in = {{{2}, at}},
                          .out = {{Shape::Array(kF32, {6}), {{2}, at}}},
                          .scratch = {Shape::Array(kF32, {2})}},
                         [](const Tensor& block, Tensor& out, Tensor& sum) {
                           sum += block;
                           out = sum;
                         });
    EXPECT_THAT(running({x}).ToVector<float>(), ElementsAre(1, 2, 4, 6, 9, 12));
  }
}

TEST_F(Kernels, StepsKnowTheirPlaceInTheGrid) {
  for (const Device& place : Places()) {
    const Kernel ids(
        "ids", {.grid = {2, 3}, .out = {{Shape::Array(kS32, {2, 3}), {{1, 1}, kBoth}}}, .device = place},
        [](Tensor& out) { out = (ProgramId(0) * 10 + ProgramId(1)).Expand({1, 1}) + 100 * NumPrograms(1); });
    EXPECT_THAT(ids({}).ToVector<int32_t>(), ElementsAre(300, 301, 302, 310, 311, 312));
  }
}

TEST_F(Kernels, WhatABodyDoesToANumberChangesNoBlock) {
  const Kernel shifted("shifted",
                       {.grid = {3},
                        .out = {{Shape::Array(kS32, {3}), {{1}, [](int64_t i) { return Dims{i}; }}}},
                        .device = device()},
                       [](Tensor& out) {
                         Tensor i = ProgramId(0);
                         i += 1;
                         out = i.Expand({1});
                       });
  EXPECT_THAT(shifted({}).ToVector<int32_t>(), ElementsAre(1, 2, 3));
}

TEST_F(Kernels, SqueezedDimensionsAreNotSeen) {
  for (const Device& place : Places()) {
    const Tensor x = On(place, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 2, 3});
    const Kernel transposed("transposed",
                            {.grid = {2},
                             .in = {{{kSqueezed, 2, 3}, [](int64_t i) { return Dims{1 - i, 0, 0}; }}},
                             .out = {{Shape::Array(kF32, {2, 3, 2}),
                                      {{kSqueezed, 3, 2}, [](int64_t i) { return Dims{i, 0, 0}; }}}}},
                            [](const Tensor& block, Tensor& out) { out = block.T(); });
    EXPECT_THAT(transposed({x}).ToVector<float>(), ElementsAre(6, 9, 7, 10, 8, 11, 0, 3, 1, 4, 2, 5));
  }
}

// An index map of numbers may be any function; one of tensors becomes part of the program.
TEST_F(Kernels, BlocksMayBeTakenInAnyOrder) {
  for (const Device& place : Places()) {
    const Tensor x = On(place, {1, 2, 3, 4, 0, 0, 0, 0, -1, 5, 2, 0}, {3, 4});
    const BlockSpec row = {{1, 4}, kRows};
    const KernelOutput out = {Shape::Array(kF32, {3, 4}), row};
    const KernelBody add_one = [](const Tensor& block, Tensor& result) { result = block + 1; };
    const auto expected = ElementsAre(0, 6, 3, 1, 2, 3, 4, 5, 1, 1, 1, 1);
    const IndexMap table = [](int64_t i) { return Dims{i == 0 ? 2 : i - 1, 0}; };
    EXPECT_THAT(
        Kernel("table", {.grid = {3}, .in = {{{1, 4}, table}}, .out = {out}}, add_one)({x}).ToVector<float>(),
        expected);
    const Tensor pages = FromValues<int32_t>({7, 0, 1}, Dims{3}, place);  // 7 is clamped to 2.
    const IndexMap lookup = [pages](const Tensor& i) { return BlockIndex{Take(pages, i), 0}; };
    EXPECT_THAT(Kernel("lookup", {.grid = {3}, .in = {{{1, 4}, lookup}}, .out = {out}}, add_one)({x})
                    .ToVector<float>(),
                expected);
  }
}

TEST_F(Kernels, WholeArraysAndPartsOfBlocks) {
  for (const Device& place : Places()) {
    const Tensor x = On(place, {1, 2, 3, 4}, {4}), y = On(place, {10, 20}, {2});
    const Kernel parts("parts",
                       {.grid = {2},
                        .in = {{}, {{1}, [](int64_t i) { return Dims{i}; }}},
                        .out = {{Shape::Array(kF32, {4})}}},
                       [](const Tensor& all, const Tensor& one, Tensor& out) {
                         out.Slice(0, 1, 3).Copy_(out.Slice(0, 1, 3) + one);
                         out = out + all;
                       });
    EXPECT_THAT(parts({x, y}).ToVector<float>(), ElementsAre(2, 34, 36, 8));
  }
}

TEST_F(Kernels, TracingMovesNothingAndTheProgramDoesNotGrowWithTheGrid) {
  int64_t sizes[2];
  const SessionStats before = Account();
  for (const int64_t blocks : {2, 200}) {
    const Tensor x = Placeholder({4 * blocks, 8}, kF32, device()), y = Placeholder({8, 4}, kF32, device());
    const Tensor product = Product(x, y, 4);
    EXPECT_TRUE(product.is_placeholder());
    const std::string text = hlo::ToText(*Lower({product}));
    EXPECT_EQ(Count(text, " scan("), 1);
    EXPECT_EQ(Count(text, " dot("), 1);
    sizes[blocks == 200] = Lower({product})->instruction_count();
  }
  EXPECT_EQ(sizes[0], sizes[1]);
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
  EXPECT_EQ(Account().executes, before.executes);
}

TEST_F(Kernels, ACallIsOneExecuteAndCompilesOnce) {
  const Tensor a = A(device()), b = B(device());  // The sums of b's columns are -2, -1, 0, 1.
  EXPECT_THAT(Product(a, b, 2)[0].ToVector<float>(), ElementsAre(-4, 3, 5, 2));
  const int64_t compiles = GetTraceStats().compiles;
  const SessionStats before = Account();
  EXPECT_THAT(Product(a + 2, b, 2)[0].ToVector<float>(), ElementsAre(-8, 1, 5, 4));
  EXPECT_EQ(Account().executes, before.executes + 1);
  EXPECT_EQ(GetTraceStats().compiles, compiles + 1);  // Includes the sum in front of the call.
  EXPECT_THAT(Product(a + 3, b, 2)[0].ToVector<float>(), ElementsAre(-10, 0, 5, 5));
  EXPECT_EQ(GetTraceStats().compiles, compiles + 1);
}

TEST_F(Kernels, UnderJitAndVmap) {
  const Tensor a = A(device()), b = B(device());
  const auto jitted = Jit([](const Tensor& x, const Tensor& y) { return Product(x, y, 2); });
  const auto expected = ElementsAre(-4, 3, 5, 2, -16, -3, 5, 8, 0, -16, -2, 7, 9, -1, -16, -1);
  EXPECT_THAT(jitted(a, b).ToVector<float>(), expected);
  EXPECT_THAT(jitted(a, b).ToVector<float>(), expected);
  const Tensor both = Stack({a, 2 * a});
  const Tensor products = Vmap([](const Tensor& x, const Tensor& y) { return Product(x, y, 2); },
                               {.in = {0, std::nullopt}})(both, b);
  EXPECT_THAT(products[0].ToVector<float>(), expected);
  EXPECT_THAT(products[1].ToVector<float>(),
              ElementsAre(-8, 6, 10, 4, -32, -6, 10, 16, 0, -32, -4, 14, 18, -2, -32, -2));
}

// d/dA sum((A B)^2) = 2 (A B) B^T.
TEST_F(Kernels, GradientsGoThroughThem) {
  const auto expected = ElementsAre(14, -38, -20, 18, 26, 14, 86, -62, -80, -18, 74, 86, 46, 68, -70, -68, 24,
                                    46, -36, 72, 80, -62, -54, -36);
  for (const Device& place : Places()) {
    const Tensor b = B(place);
    const auto loss = [&](const Tensor& a) {
      const Tensor product = Product(a, b, 2);
      return Sum(product * product);
    };
    EXPECT_THAT(Grad(loss)(A(place)).ToVector<float>(), expected);
    Tensor leaf = A(place).RequiresGrad_();
    loss(leaf).Backward();
    EXPECT_THAT(leaf.Grad().ToVector<float>(), expected);
    // A kernel with partial blocks that is not linear, compared with plain operations.
    const Tensor x = On(place, {1, 2, 3, 4, 0, 0, 0, 0, -1, 5, 2, 0}, {3, 4}),
                 w = On(place, Cycle(12, 5, 2), {3, 4});
    const std::vector<float> plain =
        Grad([&](const Tensor& x) { return Sum(Softmax(x, 1) * w); })(x).ToVector<float>();
    const std::vector<float> blocked =
        Grad([&](const Tensor& x) { return Sum(SoftmaxRows(x) * w); })(x).ToVector<float>();
    for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(blocked[i], plain[i], 1e-6) << i;
  }
}

TEST_F(Kernels, ARuleOfItsOwnMayBePutAroundOne) {
  const Tensor b = B(device());
  const auto product = [](const Tensor& x, const Tensor& y) { return Product(x, y, 2); };
  // The cotangents are products by the same kernel, ten times as large to be recognised.
  const auto ruled = CustomVjp(
      product, [=](const Tensor& x, const Tensor& y) { return std::pair(product(x, y), std::pair(x, y)); },
      [=](const std::pair<Tensor, Tensor>& kept, const Tensor& ct) {
        return std::tuple(10 * product(ct, kept.second.T()), 10 * product(kept.first.T(), ct));
      });
  const Tensor gradient = Grad([&](const Tensor& a) {
    const Tensor y = ruled(a, b);
    return Sum(y * y);
  })(A(device()));
  EXPECT_THAT(gradient[0].ToVector<float>(), ElementsAre(140, -380, -200, 180, 260, 140));
}

TEST_F(Kernels, ABodyThatDoesNotFitIsNamed) {
  const Tensor x = A(device());
  const Shape shape = Shape::Array(kF32, {4, 6});
  const BlockSpec row = {{1, 6}, kRows};
  const auto run = [&](const KernelBody& body) {
    Kernel("odd", {.grid = {4}, .in = {row}, .out = {{shape, row}}}, body)({x});
  };
  Refused([&] { run([](const Tensor& block, Tensor& out) { out = Sum(block); }); },
          "odd: the body assigns f32[] to output 0, whose block is f32[1,6]");
  Refused([&] { run([](const Tensor& block, Tensor& out) { out = block.To(kBF16); }); },
          "odd: the body assigns bf16[1,6] to output 0, whose block is f32[1,6]");
  Refused(
      [&] {
        run([](const Tensor& block, Tensor& out) {
          out = block;
          static_cast<void>(out.ToHost());
        });
      },
      "while the function of kernel");
  Refused([&] { run([](const Tensor& block, Tensor& out) { out = block + ProgramId(1); }); },
          "the grid [4] has no dimension 1");
}

TEST_F(Kernels, WhatDoesNotFitIsNamed) {
  const Tensor x = A(device());
  const Shape shape = Shape::Array(kF32, {4, 6});
  const BlockSpec row = {{1, 6}, kRows};
  const KernelBody copy = [](const Tensor& block, Tensor& out) { out = block; };
  const auto run = [&](KernelSpec spec, const KernelBody& body) {
    Kernel("odd", std::move(spec), body)({x});
  };
  Refused([&] { run({.grid = {4}, .in = {{{6}, kRows}}, .out = {{shape, row}}}, copy); },
          "odd: input 0, f32[4,6], has 2 dimensions; its block [6] has 1");
  Refused([&] { run({.grid = {4}, .in = {{{0, 6}, kRows}}, .out = {{shape, row}}}, copy); },
          "odd: input 0, f32[4,6], has the block [0, 6]");
  Refused(
      [&] {
        run({.grid = {4}, .in = {row}, .out = {{shape, {{1, 6}, [](int64_t i) { return Dims{i + 1, 0}; }}}}},
            copy);
      },
      "odd: output 0, f32[4,6], has no block [4, 0], which its index map gives at step [3]: there are [4, 1] "
      "blocks of [1, 6]");
  Refused([&] { run({.grid = {4}, .in = {{{1, 6}, kBoth}}, .out = {{shape, row}}}, copy); },
          "odd: input 0, f32[4,6], has an index map that does not take 1 numbers");
  Refused(
      [&] {
        run({.grid = {4}, .in = {{{1, 6}, [](int64_t i) { return Dims{i}; }}}, .out = {{shape, row}}}, copy);
      },
      "odd: input 0, f32[4,6], has an index map that gives 1 numbers; the array has 2 dimensions");
  Refused([&] { run({.grid = {4, 0}, .in = {row}, .out = {{shape, row}}}, copy); },
          "odd: the grid [4, 0] has a size below 1");
  Refused([&] { run({.grid = {1 << 20, 1 << 20}, .in = {{}}, .out = {{shape}}}, copy); },
          "has more than 16777216 steps");
  Refused([&] { run({.grid = {4}, .in = {row, row}, .out = {{shape, row}}}, copy); },
          "odd: it takes 2 inputs; 1 are given");
  Refused([&] { run({.grid = {4}, .in = {row}}, copy); }, "odd: it has no output");
  Refused(
      [&] {
        run({.grid = {4}, .in = {row}, .out = {{shape, row}}, .scratch = {shape}}, copy);
      },
      "odd: its body does not take 3 tensors, which are 1 of inputs, 1 of outputs and 1 of scratch");
  Refused([&] { static_cast<void>(ProgramId(0)); }, "outside of a kernel's body");
  const Tensor none = Zeros({0, 6}, {.type = kF32, .device = device()});
  Refused([&] { Kernel("odd", {.grid = {1}, .in = {row}, .out = {{shape, row}}}, copy)({none}); },
          "odd: input 0, f32[0,6], has no blocks of [1, 6]");
  Refused([&] { Kernel("odd", {.grid = {4}, .in = {row}, .out = {{shape, row}, {shape, row}}}, copy)({x}); },
          "odd: it has 2 outputs, which Outputs() gives");
  // The program continues after the error.
  EXPECT_THAT(Product(x, B(device()), 2)[0].ToVector<float>(), ElementsAre(-4, 3, 5, 2));
}

}  // namespace
}  // namespace hlod
