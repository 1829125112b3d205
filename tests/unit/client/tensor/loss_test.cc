// Losses refuse the arguments that PyTorch refuses; errors name the loss, the shapes and the line of the
// call. Composed operations report the line of their call.
#include <cmath>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Losses : public TensorTest {
 protected:
  // Expects that `body` throws an error with `text` that names `name` and a line of this file.
  void ExpectRefused(const std::string& name, const std::string& text, const std::function<void()>& body) {
    last_what_.clear();
    const absl::Status status = Thrown(body);
    EXPECT_EQ(KindOf(status), ErrorKind::kArgument) << name;
    EXPECT_THAT(last_what_, ::testing::StartsWith(name + " (loss_test.cc:"));
    EXPECT_THAT(last_what_, HasSubstr(text)) << name;
  }
  Tensor Scores() const { return Ones({3, 4}); }
  Tensor Classes(const std::vector<int64_t>& values) const { return FromValues<int64_t>(values); }
};

// By hand: (3 + 4) * 5 / (5 * sqrt(50)), then the columns (3, 3) . (3, 4) and (4, 4) . (4, 3).
TEST_F(Losses, CosinesAreOfTheVectorsAfterBroadcasting) {
  const float cosine = static_cast<float>(0.7 * std::sqrt(2));
  for (const Device& on : {Device(), device()}) {
    const Tensor x = FromValues<float>({3, 4}, {}, on), five = FromValues<float>({5}, {}, on);
    EXPECT_NEAR(CosineSimilarity(x, five, 0).Item<float>(), cosine, 1e-6);
    EXPECT_NEAR(CosineSimilarity(five, x, -1).Item<float>(), cosine, 1e-6);
    const Tensor columns = FromValues<float>({3, 4, 4, 3}, Dims{2, 2}, on);
    EXPECT_THAT(CosineSimilarity(x, columns, 0).ToVector<float>(),
                ::testing::Pointwise(::testing::FloatNear(1e-6f), {cosine, cosine}));
  }
}

TEST_F(Losses, ClassesAreOneForEachOfTheBatch) {
  ExpectRefused("cross_entropy", "target's shape [1] is not [3]",
                [&] { CrossEntropy(Scores(), Classes({0})); });
  ExpectRefused("nll_loss", "target's shape [1] is not [3]", [&] { NllLoss(Scores(), Classes({0})); });
  ExpectRefused("nll_loss", "target's shape [1, 3] is not [3]",
                [&] { NllLoss(Scores(), Classes({0, 1, 2}).Reshape({1, 3})); });
  ExpectRefused("cross_entropy", "not classes of an integer type",
                [&] { CrossEntropy(Scores(), Ones({3})); });
  ExpectRefused("cross_entropy", "weight's shape [3] is not one number for each of 4 classes",
                [&] { CrossEntropy(Scores(), Classes({0, 1, 2}), Ones({3})); });
  ExpectRefused("cross_entropy", "label_smoothing (2)",
                [&] { CrossEntropy(Scores(), Classes({0, 1, 2}), {}, -100, 2); });
  ExpectRefused("multi_margin_loss", "target's shape [2] is not [3]",
                [&] { MultiMarginLoss(Scores(), Classes({0, 1})); });
  EXPECT_EQ(CrossEntropy(Ones({4}), FromValues<int64_t>({1}, Dims{})).rank(), 0);
  EXPECT_EQ(CrossEntropy(Scores(), Ones({3, 4})).rank(), 0);
  EXPECT_EQ(NllLoss(Ones({2, 4, 5}), Zeros({2, 5}, {.type = kS64})).rank(), 0);
}

TEST_F(Losses, TargetsHaveTheInputsShape) {
  const Tensor half = Scores() * 0.5;
  ExpectRefused("binary_cross_entropy", "target's shape [4] is not the input's shape [3, 4]",
                [&] { BinaryCrossEntropy(half, Ones({4})); });
  ExpectRefused("binary_cross_entropy_with_logits", "target's shape [4] is not the input's shape [3, 4]",
                [&] { BinaryCrossEntropyWithLogits(half, Ones({4})); });
  ExpectRefused("multilabel_margin_loss", "target's shape [4] is not the input's shape [3, 4]",
                [&] { MultilabelMarginLoss(half, Classes({0, 1, 2, -1})); });
}

TEST_F(Losses, OthersBroadcastOrRefuse) {
  const Tensor other = Ones({5});
  const std::string text = "do not broadcast";
  ExpectRefused("mse_loss", text, [&] { MseLoss(Scores(), other); });
  ExpectRefused("l1_loss", text, [&] { L1Loss(Scores(), other); });
  ExpectRefused("smooth_l1_loss", text, [&] { SmoothL1Loss(Scores(), other); });
  ExpectRefused("huber_loss", text, [&] { HuberLoss(Scores(), other); });
  ExpectRefused("soft_margin_loss", text, [&] { SoftMarginLoss(Scores(), other); });
  ExpectRefused("hinge_embedding_loss", text, [&] { HingeEmbeddingLoss(Scores(), other); });
  ExpectRefused("poisson_nll_loss", text, [&] { PoissonNllLoss(Scores(), other); });
  ExpectRefused("kl_div", text, [&] { KlDiv(Scores(), other); });
  ExpectRefused("multilabel_soft_margin_loss", text, [&] { MultilabelSoftMarginLoss(Scores(), other); });
  ExpectRefused("cosine_similarity", text, [&] { CosineSimilarity(Scores(), other); });
  ExpectRefused("gaussian_nll_loss", text, [&] { GaussianNllLoss(Scores(), other, Scores()); });
  ExpectRefused("gaussian_nll_loss", "variance's shape [4]",
                [&] { GaussianNllLoss(Scores(), Scores(), Ones({4})); });
  ExpectRefused("margin_ranking_loss", "one number of dimensions",
                [&] { MarginRankingLoss(Scores(), Scores(), other); });
  ExpectRefused("cosine_embedding_loss", "one number for each pair",
                [&] { CosineEmbeddingLoss(Scores(), Scores(), Scores()); });
  ExpectRefused("triplet_margin_loss", "one number of dimensions",
                [&] { TripletMarginLoss(Scores(), other, Scores()); });
  ExpectRefused("mse_loss", "undefined", [&] { MseLoss(Scores(), Tensor()); });
}

TEST_F(Losses, PartsReportTheLineOfTheCall) {
  // Errors inside a composed operation, and operations recorded there.
  Throws([&] { Cdist(Ones({3, 4}).To(device()), Ones({3, 4})); });
  EXPECT_THAT(last_what_, HasSubstr("loss_test.cc:"));
  Throws([&] { MseLoss(Ones({3}).To(device()), Ones({3})); });
  EXPECT_THAT(last_what_, HasSubstr("loss_test.cc:"));
  const Tensor hole = Placeholder({3}, kF32, device());
  Throws([&] { MseLoss(hole, Ones({3}).To(device())).ToHost(); });
  EXPECT_THAT(last_what_, ::testing::Not(HasSubstr("(loss.cc")));
}

// By hand: L1 distances of 7 and 14; with swap, the distance of 7 from the positive to the negative.
TEST_F(Losses, TripletsTakeADistanceOfOnesOwn) {
  const auto taxicab = [](const Tensor& x, const Tensor& y) { return Sum(Abs(x - y), {1}); };
  const Tensor anchor = Zeros({1, 2}), positive = FromValues<float>({3, 4}, Dims{1, 2}),
               negative = FromValues<float>({6, 8}, Dims{1, 2});
  const auto loss = [&](double margin, bool swap) {
    return TripletMarginWithDistanceLoss(anchor, positive, negative, taxicab,
                                         {.margin = margin, .swap = swap})
        .Item<double>();
  };
  EXPECT_EQ(loss(10, false), 3);
  EXPECT_EQ(loss(5, false), 0);
  EXPECT_EQ(loss(5, true), 5);
}

}  // namespace
}  // namespace hlod
