// Indices out of range, and singular matrices: on the host, where values are known, they are errors, as in
// PyTorch on the CPU; on a device they behave as in XLA. Also rows of a table that receive no gradient.
#include <cmath>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Range : public TensorTest {
 protected:
  static void ExpectArgument(const std::function<void()>& body, const std::string& operation,
                             const std::string& text) {
    const absl::Status status = Thrown(body);
    EXPECT_EQ(KindOf(status), ErrorKind::kArgument) << status;
    EXPECT_THAT(last_what_, HasSubstr(operation + " (range_test.cc:"));
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
  static Tensor Indices(const std::vector<int64_t>& values) { return FromValues<int64_t>(values); }
};

TEST_F(Range, ReadingNamesTheIndexAndTheSize) {
  const Tensor x = Arange(0, 6, 1, {.type = kF32}).Reshape({3, 2});
  ExpectArgument(
      [&] {
        Embedding(Indices({0, 3}), x);
      },
      "nn.functional.embedding", "index 3 is out of range for dimension 0 of size 3");
  ExpectArgument([&] { Embedding(Indices({-1}), x); }, "nn.functional.embedding", "index -1 is out of range");
  ExpectArgument(
      [&] {
        EmbeddingBag(Indices({7}).Reshape({1, 1}), x);
      },
      "nn.functional.embedding_bag", "index 7");
  ExpectArgument([&] { IndexSelect(x, 1, Indices({2})); }, "index_select",
                 "index 2 is out of range for dimension 1 of size 2");
  ExpectArgument([&] { IndexSelect(x, 0, Indices({-1})); }, "index_select", "index -1");
  ExpectArgument([&] { Gather(x, 0, Indices({5, 0}).Reshape({1, 2})); }, "gather", "index 5");
  ExpectArgument([&] { Take(x, Indices({6})); }, "take",
                 "index 6 is out of range for a tensor of 6 elements");
  ExpectArgument([&] { Take(x, Indices({-7})); }, "take", "index -7");
  ExpectArgument([&] { TakeAlongDim(x, Indices({3, 0}).Reshape({1, 2}), 0); }, "take_along_dim", "index 3");
  ExpectArgument([&] { TakeAlongDim(x, Indices({9})); }, "take_along_dim", "a tensor of 6 elements");
  ExpectArgument(
      [&] {
        Index(x, {Indices({0}), Indices({2})});
      },
      "index", "index 2 is out of range for dimension 1 of size 2");
  ExpectArgument(
      [&] {
        OneHot(Indices({0, 4}), 4);
      },
      "nn.functional.one_hot", "class 4 is out of range for 4");
  ExpectArgument(
      [&] {
        OneHot(Indices({-1, 1}));
      },
      "nn.functional.one_hot", "class -1 is out of range for 2");
  // Negative indices count from the end in the operations in which PyTorch's do.
  EXPECT_THAT(Take(x, Indices({-6, 5})).ToVector<float>(), ElementsAre(0, 5));
  EXPECT_THAT(Index(x, {Indices({-3})}).ToVector<float>(), ElementsAre(0, 1));
  // A view of indices is checked by its own elements.
  EXPECT_THAT(IndexSelect(x, 0, Indices({9, 1, 9}).Slice(0, 1, 2)).ToVector<float>(), ElementsAre(2, 3));
}

TEST_F(Range, WritingNamesTheIndexAndTheSize) {
  const Tensor x = Zeros({3}), one = Ones({1});
  Tensor y = Zeros({3});
  ExpectArgument([&] { Scatter(x, 0, Indices({3}), one); }, "scatter", "index 3 is out of range");
  ExpectArgument([&] { ScatterAdd(x, 0, Indices({-1}), one); }, "scatter_add", "index -1");
  ExpectArgument([&] { ScatterReduce(x, 0, Indices({4}), one, ScatterReduction::kAmax); }, "scatter_reduce",
                 "index 4");
  ExpectArgument([&] { IndexAdd(x, 0, Indices({3}), one); }, "index_add", "index 3");
  ExpectArgument([&] { IndexCopy_(y, 0, Indices({3}), one); }, "index_copy", "index 3");
  ExpectArgument([&] { IndexFill(x, 0, Indices({-4}), 1); }, "index_fill", "index -4");
  ExpectArgument([&] { IndexReduce(x, 0, Indices({3}), one, ScatterReduction::kProd); }, "index_reduce",
                 "index 3");
  ExpectArgument([&] { Put(x, Indices({-4}), one); }, "put", "index -4");
  ExpectArgument([&] { IndexPut_(y, {Indices({3})}, 1); }, "index_put", "index 3");
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(0, 0, 0)) << "what throws has changed nothing";
  EXPECT_THAT(IndexFill(x, 0, Indices({-1}), 1).ToVector<float>(), ElementsAre(0, 0, 1));
}

TEST_F(Range, ClassesOfLossesAreThoseOfTheScores) {
  const Tensor scores = Zeros({2, 3});
  ExpectArgument(
      [&] {
        NllLoss(scores, Indices({0, 3}));
      },
      "nll_loss", "the target's class 3 is out of range for 3 classes");
  ExpectArgument([&] { CrossEntropy(scores, Indices({-1, 0})); }, "cross_entropy", "class -1");
  ExpectArgument([&] { MultiMarginLoss(scores, Indices({0, 3})); }, "multi_margin_loss", "class 3");
  ExpectArgument(
      [&] {
        MultilabelMarginLoss(scores, Indices({0, 3, -1, 1, -1, 0}).Reshape({2, 3}));
      },
      "multilabel_margin_loss", "class 3");
  // The ignored index does not belong to a class. PyTorch computes log(3) for the other one.
  EXPECT_NEAR(CrossEntropy(scores, Indices({-100, 2})).Item<float>(), 1.0986123f, 1e-6);
  EXPECT_NEAR(CrossEntropy(scores, Indices({7, 2}), {}, 7).Item<float>(), 1.0986123f, 1e-6);
  EXPECT_NEAR(NllLoss(scores - 1, Indices({-1, 2}), {}, -1).Item<float>(), 1, 1e-6);
}

// Device values are not read: as in XLA, a read takes the nearest element, and a write outside has no effect.
TEST_F(Range, OnADeviceIndicesAreClamped) {
  const Tensor x = OnDevice({1, 2, 3}, {3}), far = Indices({5}).To(device());
  EXPECT_THAT(IndexSelect(x, 0, far).ToVector<float>(), ElementsAre(3));
  EXPECT_THAT(IndexAdd(x, 0, far, OnDevice({1}, {1})).ToVector<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(OneHot(far, 2).ToVector<int64_t>(), ElementsAre(0, 0));
  const auto picked = Jit([](const Tensor& x, const Tensor& at) { return IndexSelect(x, 0, at); });
  EXPECT_THAT(picked(x, far).ToVector<float>(), ElementsAre(3));
}

TEST_F(Range, SingularMatricesThrowOnTheHost) {
  const Tensor singular = FromValues<float>({1, 2, 2, 4}, Dims{2, 2}), side = Ones({2});
  ExpectArgument(
      [&] { linalg::Inv(singular); }, "linalg.inv",
      "The diagonal element 2 is zero, the inversion could not be completed because the input matrix is "
      "singular");
  const Tensor batch = Cat({Eye(2).Unsqueeze(0), singular.Unsqueeze(0)}, 0);
  ExpectArgument([&] { linalg::Inv(batch); }, "linalg.inv",
                 "(Batch element 1): The diagonal element 2 is zero");
  ExpectArgument(
      [&] {
        linalg::Solve(Zeros({2, 2}), side);
      },
      "linalg.solve", "The diagonal element 1 is zero");
  EXPECT_THAT(linalg::InvEx(singular).info.ToVector<int32_t>(), ElementsAre(2));
  EXPECT_THAT(linalg::Solve(2 * Eye(2), side).ToVector<float>(), ElementsAre(0.5f, 0.5f));
  const std::vector<float> there = linalg::Inv(singular.To(device())).ToVector<float>();
  EXPECT_FALSE(std::isfinite(there[0]) && std::isfinite(there[3]));
}

// By hand: row 1 is named twice.
TEST_F(Range, RowsOfATableGetTheirGradients) {
  for (const Device& where : {Device(), device()}) {
    Tensor table = FromValues<float>({1, 2, 3}, Dims{3, 1}, where);
    table.RequiresGrad_();
    const Tensor at = FromValues<int64_t>({1, 0, 1, 2}, Dims{4}, where);
    const Tensor weight = FromValues<float>({10, 20, 30, 40}, Dims{4, 1}, where);
    const auto gradient = [&](const EmbeddingOptions& options) {
      table.ZeroGrad();
      Sum(Embedding(at, table, options) * weight).Backward();
      return table.Grad().ToVector<float>();
    };
    EXPECT_THAT(gradient({}), ElementsAre(20, 40, 40));
    EXPECT_THAT(gradient({.padding_index = 0}), ElementsAre(0, 40, 40));
    EXPECT_THAT(gradient({.padding_index = -1}), ElementsAre(20, 40, 0));
    EXPECT_THAT(gradient({.scale_grad_by_freq = true}), ElementsAre(20, 20, 40));
    EXPECT_THAT(gradient({.padding_index = 1, .scale_grad_by_freq = true}), ElementsAre(20, 0, 40));
    EXPECT_THAT(Embedding(at, table, {.padding_index = 1}).ToVector<float>(), ElementsAre(2, 1, 2, 3));
  }
  ExpectArgument(
      [] {
        Embedding(Indices({0}), Ones({3, 1}), {.padding_index = 3});
      },
      "nn.functional.embedding", "padding_index (3) is out of range for a table of 3 rows");
  nn::Module net;
  const nn::Embedding layer(net, "embedding", 3, 2, 1);
  Sum(layer(Indices({0, 1})) * 3).Backward();
  EXPECT_THAT(layer.weight.Grad().ToVector<float>(), ElementsAre(3, 3, 0, 0, 0, 0));
}

}  // namespace
}  // namespace hlod
