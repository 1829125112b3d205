// Sequences of several lengths: packing, padding and recurrent layers over them, compared with PyTorch's
// numbers.
#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

namespace rnn = nn::utils::rnn;
using Numbers = std::vector<int64_t>;

class NnPacked : public NnCase {
 protected:
  static Numbers NumbersOf(const char* name, const char* key) {
    const json& numbers = Cases().at(name).at("numbers");
    return numbers.contains(key) ? numbers.at(key).get<Numbers>() : Numbers();
  }

  // Checks a layer on packed sequences with states, whose outputs are padded again; then the call with padded
  // sequences and lengths.
  template <typename Layer>
  void Agrees(const char* name, Layer& layer, bool batch_first, bool enforce_sorted) {
    const Numbers lengths = NumbersOf(name, "lengths");
    const json& numbers = Cases().at(name).at("numbers");
    const auto state_of = [](const std::vector<Tensor>& x) {
      return nn::RecurrentState{x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor()};
    };
    const auto listed = [](const Tensor& output, const nn::RecurrentState& state) {
      std::vector<Tensor> all = {output, state.hidden};
      if (state.cell.defined()) all.push_back(state.cell);
      return all;
    };
    Check(name, layer, kF32, [&](auto& x) {
      const rnn::PackedSequence packed = rnn::PackPaddedSequence(x[0], lengths, batch_first, enforce_sorted);
      EXPECT_EQ(packed.batch_sizes, NumbersOf(name, "batch_sizes"));
      EXPECT_EQ(packed.sorted_indices, NumbersOf(name, "sorted_indices"));
      EXPECT_EQ(packed.unsorted_indices, NumbersOf(name, "unsorted_indices"));
      ExpectNear(name, numbers.at("packed"), packed.data);
      const nn::PackedRecurrentResult result = layer(packed, state_of(x));
      ExpectNear(name, numbers.at("output_packed"), result.output.data);
      const rnn::PaddedSequence padded = rnn::PadPackedSequence(result.output, batch_first, 0.0, 5);
      EXPECT_EQ(padded.lengths, lengths);
      return listed(padded.padded, result.state);
    });
    Check(name, layer, kF32, [&](auto& x) {
      const nn::RecurrentResult result =
          layer.WithLengths(x[0], FromValues<int64_t>(lengths, {}, x[0].device()), state_of(x));
      return listed(result.output, result.state);
    });
  }
};

TEST_F(NnPacked, RecurrentLayersAgreeWithPyTorch) {
  Root root;
  nn::Rnn rnn(root, "rnn", 3, 2, {.layers = 2});
  Agrees("packed_rnn", rnn, false, true);
  nn::Lstm lstm(root, "lstm", 3, 2, {.layers = 2, .batch_first = true, .bidirectional = true});
  Agrees("packed_lstm", lstm, true, false);
  nn::Gru gru(root, "gru", 3, 2, {.bidirectional = true});
  Agrees("packed_gru", gru, false, false);
}

TEST_F(NnPacked, SequencesArePaddedPackedAndUnpacked) {
  const json& recorded = Cases().at("pad_sequence");
  std::vector<Tensor> ragged;
  for (const json& each : recorded.at("inputs")) ragged.push_back(Decode(each, kF32));
  ExpectNear("padded", recorded.at("output"), rnn::PadSequence(ragged, false, -1.5));
  ExpectNear("batch first", recorded.at("batch_first"), rnn::PadSequence(ragged, true));
  const rnn::PackedSequence packed = rnn::PackSequence(ragged, false);
  ExpectNear("packed", recorded.at("packed"), packed.data);
  const std::vector<Tensor> unpacked = rnn::UnpackSequence(packed);
  const std::vector<Tensor> unpadded = rnn::UnpadSequence(rnn::PadSequence(ragged), {2, 3, 1});
  ASSERT_EQ(unpacked.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(unpacked[i].ToLiteral(), ragged[i].ToLiteral()) << i;
    EXPECT_EQ(unpadded[i].ToLiteral(), ragged[i].ToLiteral()) << i;
  }
}

TEST_F(NnPacked, LengthsThatChangeDoNotCompileAgain) {
  Root root;
  nn::Gru gru(root, "gru", 2, 3, {.bidirectional = true});
  gru.To(device());
  const Tensor x = Ones({4, 2, 2}, {.device = device()});
  Sync();  // Keeps the initialisation out of the first call's program.
  const auto last = [&](const Numbers& lengths) {
    return gru.WithLengths(x, FromValues<int64_t>(lengths, {}, device())).output.ToVector<float>().back();
  };
  EXPECT_NE(last({4, 4}), 0);
  const int64_t compiles = Account().compiles;
  EXPECT_EQ(last({4, 3}), 0) << "behind the end";
  EXPECT_EQ(last({1, 2}), 0);
  EXPECT_EQ(Account().compiles, compiles);
}

TEST_F(NnPacked, WrongLengthsAreNamed) {
  const Tensor x = Ones({3, 2, 1});
  const auto refused = [&](const std::function<void()>& body, const char* why) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr(why));
    EXPECT_THAT(last_what_, HasSubstr("packed_test.cc:"));
  };
  refused([&] { rnn::PackPaddedSequence(x, {3}); }, "the list has 1 length for 2 sequences");
  refused([&] { rnn::PackPaddedSequence(x, {3, 0}); }, "the length 0 is not between 1 and the input's 3");
  refused([&] { rnn::PackPaddedSequence(x, {4, 1}); }, "the length 4 is not between 1");
  refused([&] { rnn::PackPaddedSequence(x, {1, 3}); }, "enforce_sorted = false");
  refused([&] { rnn::PadSequence({}); }, "no sequences");
  refused(
      [&] {
        rnn::PadSequence({Ones({2, 2}), Ones({1, 3})});
      },
      "sequence 1 is f32[1,3], the first f32[2,2]");
  rnn::PackedSequence packed = rnn::PackPaddedSequence(x, {3, 1});
  refused([&] { rnn::PadPackedSequence(packed, false, 0.0, 2); }, "the longest sequence has 3 steps");
  packed.batch_sizes = {1, 2, 1};
  refused([&] { rnn::PadPackedSequence(packed); }, "do not fall");
  packed = rnn::PackPaddedSequence(x, {3, 1}, false, false);
  packed.sorted_indices = {0, 2};
  refused([&] { rnn::PadPackedSequence(packed); }, "not an order");
  Root root;
  const nn::Gru gru(root, "gru", 1, 1);
  refused([&] { gru.WithLengths(x, Ones({2})); }, "in gru: lengths f32[2] are not a whole number");
}

}  // namespace
}  // namespace hlod
