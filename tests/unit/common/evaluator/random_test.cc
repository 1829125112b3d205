// Compares rng-bit-generator with the results of XLA's CPU backend for the same states (jax 0.10.2), and with
// Salmon et al.'s published vectors.
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

constexpr uint64_t kKey = 0x5566778811223344, kCounter = 0xffffffffffffffff;  // The counter wraps.

Literal Random(RandomAlgorithm algorithm, const Literal& state, const Shape& shape) {
  return Result(EvaluateOne({.opcode = kRngBitGenerator,
                             .attributes = RngBitGeneratorAttributes{algorithm},
                             .declared = Shape::Tuple({state.shape(), shape})},
                            {state}));
}

TEST(ThreeFry, WordsAlternateAlongTheFirstEvenDimension) {
  const Literal state = Literal::Vector<uint64_t>({kKey, kCounter});
  const Literal flat = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU32, {8}));
  EXPECT_THAT(flat.elements()[0].data<uint64_t>(), ElementsAre(kKey, 3));
  EXPECT_THAT(flat.elements()[1].data<uint32_t>(),
              ElementsAre(0x1411b889, 0x3e0733d5, 0x27b5f682, 0xa284496b, 0x1f371731, 0xfb64124f, 0x1ab18661,
                          0x2177d866));
  const Literal rows = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU32, {2, 3}));
  EXPECT_THAT(rows.elements()[1].data<uint32_t>(),
              ElementsAre(0x1411b889, 0x27b5f682, 0x1f371731, 0x3e0733d5, 0xa284496b, 0xfb64124f));
  EXPECT_THAT(rows.elements()[0].data<uint64_t>(), ElementsAre(kKey, 2));
}

TEST(ThreeFry, OddSizesPairAlongTheLargestDimension) {
  const Literal state = Literal::Vector<uint64_t>({kKey, kCounter});
  const Literal odd = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU32, {3, 3}));
  EXPECT_THAT(odd.elements()[0].data<uint64_t>(), ElementsAre(kKey, 5));
  EXPECT_THAT(odd.elements()[1].data<uint32_t>(),
              ElementsAre(0x1411b889, 0x27b5f682, 0x1f371731, 0x3e0733d5, 0xa284496b, 0xfb64124f, 0x1ab18661,
                          0x3456e5ff, 0xf92c5529));
  const Literal wide = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU32, {1, 3}));
  EXPECT_THAT(wide.elements()[1].data<uint32_t>(), ElementsAre(0x1411b889, 0x3e0733d5, 0x27b5f682));
}

TEST(ThreeFry, WidthsBesides32) {
  const Literal state = Literal::Vector<uint64_t>({kKey, kCounter});
  const Literal wide = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU64, {3}));
  EXPECT_THAT(wide.elements()[1].data<uint64_t>(),
              ElementsAre(0x3e0733d51411b889, 0xa284496b27b5f682, 0xfb64124f1f371731));
  EXPECT_THAT(wide.elements()[0].data<uint64_t>(), ElementsAre(kKey, 2));
  const Literal narrow = Random(RandomAlgorithm::kThreeFry, state, Shape::Array(kU8, {5}));
  EXPECT_THAT(narrow.elements()[1].data<uint8_t>(), ElementsAre(0x89, 0xd5, 0x82, 0x6b, 0x31));
  const Literal scalar = Random(RandomAlgorithm::kThreeFry, state, Shape::Scalar(kU32));
  EXPECT_THAT(scalar.elements()[1].data<uint32_t>(), ElementsAre(0x1411b889));
  EXPECT_THAT(scalar.elements()[0].data<uint64_t>(), ElementsAre(kKey, 0));
}

TEST(Philox, CounterCarriesIntoItsHighHalf) {
  const Literal state = Literal::Vector<uint64_t>({kKey, kCounter, 7});
  const Literal numbers = Random(RandomAlgorithm::kPhilox, state, Shape::Array(kU32, {3, 3}));
  EXPECT_THAT(numbers.elements()[0].data<uint64_t>(), ElementsAre(kKey, 2, 8));
  EXPECT_THAT(numbers.elements()[1].data<uint32_t>(),
              ElementsAre(0x410eae5d, 0xec7a47c5, 0x7f5c0ab, 0xa18b519a, 0x2d6dbab5, 0x1d6000e3, 0x43509f52,
                          0x1c99b93e, 0xf75bf501));
  const Literal wide = Random(RandomAlgorithm::kPhilox, state, Shape::Array(kU64, {3}));
  EXPECT_THAT(wide.elements()[1].data<uint64_t>(),
              ElementsAre(0xec7a47c5410eae5d, 0xa18b519a07f5c0ab, 0x1d6000e32d6dbab5));
}

TEST(Philox, DefaultIsPhiloxWithTheKeyAsHighCounter) {
  const Literal state = Literal::Vector<uint64_t>({kKey, kCounter});
  const Literal numbers = Random(RandomAlgorithm::kDefault, state, Shape::Array(kU32, {5}));
  EXPECT_THAT(numbers.elements()[0].data<uint64_t>(), ElementsAre(kKey, 1));
  EXPECT_THAT(numbers.elements()[1].data<uint32_t>(),
              ElementsAre(0x79fc3388, 0xfd3edca0, 0xf5aa6f93, 0xf52b2f9d, 0x8e8278b3));
}

TEST(PublishedVectors, ZeroKeyAndCounter) {
  // Random123's known answers: threefry2x32 with 20 rounds, philox4x32 with 10.
  EXPECT_THAT(Random(RandomAlgorithm::kThreeFry, Literal::Vector<uint64_t>({0, 0}), Shape::Array(kU32, {2}))
                  .elements()[1]
                  .data<uint32_t>(),
              ElementsAre(0x6b200159, 0x99ba4efe));
  EXPECT_THAT(Random(RandomAlgorithm::kPhilox, Literal::Vector<uint64_t>({0, 0, 0}), Shape::Array(kU32, {4}))
                  .elements()[1]
                  .data<uint32_t>(),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(RngBitGenerator, OtherStatesAreRefused) {
  const auto result =
      EvaluateOne({.opcode = kRngBitGenerator,
                   .attributes = RngBitGeneratorAttributes{RandomAlgorithm::kThreeFry},
                   .declared = Shape::Tuple({Shape::Array(kU64, {3}), Shape::Array(kU32, {2})})},
                  {Literal::Vector<uint64_t>({1, 2, 3})});
  EXPECT_FALSE(result.ok());
}

}  // namespace
}  // namespace hlod
