// Converts transfers between a running program and its client, and between its participants: infeed, outfeed,
// send, recv.
#include "absl/strings/str_cat.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Returns arrays as a value of a channel: a single array unchanged, several as a tuple.
Op Together(Conversion& c, absl::Span<const Op> arrays) {
  return arrays.size() == 1 ? arrays[0] : c.b.Tuple(arrays);
}

// Returns the shape of the stated results without the token at their end.
Shape StatedData(Conversion& c) {
  std::vector<Shape> shapes;
  for (const Value& result : c.op.results) shapes.push_back(result.type);
  if (shapes.empty() || !shapes.back().IsToken()) {
    c.Fail(InvalidArgument("Its last result is not a token."));
    return Shape::Token();
  }
  shapes.pop_back();
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

// Splits (data, token) into the arrays, then the token.
Values TakenApart(Conversion& c, Op result) {
  if (!c.status().ok()) return {};
  Values values;
  const Op data = c.b.GetTupleElement(result, 0);
  if (c.op.results.size() == 2) values.push_back(data);
  for (size_t i = 0; i + 1 < c.op.results.size() && c.op.results.size() != 2; ++i)
    values.push_back(c.b.GetTupleElement(data, static_cast<int64_t>(i)));
  values.push_back(c.b.GetTupleElement(result, 1));
  return values;
}

// Returns the operands without the last one, when it is the token that they wait for.
absl::Span<const Op> Data(Conversion& c) {
  if (!c.operands.empty() && c.b.shape(c.operands.back()).IsToken()) return c.Slice(0, c.operands.size() - 1);
  c.Fail(InvalidArgument("Its last operand is not a token."));
  return {};
}

Values Infeed(Conversion& c) {
  const Shape declared = Shape::Tuple({StatedData(c), Shape::Token()});
  if (!c.status().ok()) return {};
  return TakenApart(
      c, c.b.Add(kInfeed, c.operands, hlo::InfeedAttributes{.config = c.Text("infeed_config", false)}, {},
                 &declared));
}

Values Outfeed(Conversion& c) {
  const absl::Span<const Op> data = Data(c);
  if (!c.status().ok()) return {};
  const Op value = Together(c, data);
  const hlo::OutfeedAttributes attributes{.config = c.Text("outfeed_config", false),
                                          .shape = c.b.shape(value)};
  return {c.b.Add(kOutfeed, {value, c.operands.back()}, attributes)};
}

// Reads the channel. Between participants its pairs become a frontend attribute, as in XLA.
hlo::ChannelAttributes ChannelOf(Conversion& c) {
  const Pairs pairs = c.Has("source_target_pairs") ? c.PairsOf("source_target_pairs") : Pairs();
  std::string text;
  for (const auto& [source, target] : pairs)
    absl::StrAppend(&text, text.empty() ? "" : ",", "{", source, ",", target, "}");
  if (!pairs.empty())
    c.scope.decoration.frontend_attributes["_xla_send_recv_source_target_pairs"] =
        absl::StrCat("{", text, "}");
  return {.channel_id = c.Integer("channel_id", 0), .is_host_transfer = c.Bool("is_host_transfer")};
}

Values Send(Conversion& c) {
  const absl::Span<const Op> data = Data(c);
  const hlo::ChannelAttributes channel = ChannelOf(c);
  if (!c.status().ok()) return {};
  const Op started = c.b.Add(kSend, {Together(c, data), c.operands.back()}, channel);
  return {c.b.Add(kSendDone, {started}, channel)};
}

Values Recv(Conversion& c) {
  const Shape declared = Shape::Tuple({StatedData(c), Shape::Scalar(hlo::kU32), Shape::Token()});
  const hlo::ChannelAttributes channel = ChannelOf(c);
  if (!c.status().ok()) return {};
  const Op started = c.b.Add(kRecv, c.operands, channel, {}, &declared);
  return TakenApart(c, c.b.Add(kRecvDone, {started}, channel));
}

constexpr Rule kTransferRules[] = {
    {"stablehlo.infeed", Infeed, 1, -1},
    {"stablehlo.outfeed", Outfeed, -1, 1},
    {"stablehlo.recv", Recv, 1, -1},
    {"stablehlo.send", Send, -1, 1},
};

}  // namespace

absl::Span<const Rule> TransferRules() { return kTransferRules; }

}  // namespace hlod::stablehlo
