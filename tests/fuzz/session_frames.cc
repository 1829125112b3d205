// Frames of the target `session` as bytes, and the seeds.
#include "tests/fuzz/session_frames.h"

#include <algorithm>

#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::fuzz {
namespace {

using session::CommandsOf;

constexpr size_t kHeadBytes = 3, kBytesMax = 0xffff;

std::string Program(std::string_view text) {
  const auto module = hlo::ParseModule(text);
  return module.ok() ? hlo::Serialize(**module) : "";
}

constexpr std::string_view kAdd =
    "HloModule add\nENTRY main {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n"
    "  ROOT z = f32[4] add(x, y)\n}\n";
constexpr std::string_view kFeed =
    "HloModule feed\nENTRY main {\n  token = token[] after-all()\n  fed = (f32[4], token[]) infeed(token)\n"
    "  x = f32[4] get-tuple-element(fed), index=0\n  after = token[] get-tuple-element(fed), index=1\n"
    "  out = token[] outfeed(x, after), outfeed_shape=f32[4]\n  ROOT y = f32[4] negate(x)\n}\n";
constexpr std::string_view kEndless =
    "HloModule endless\nalways {\n  s = s32[] parameter(0)\n  ROOT yes = pred[] constant(true)\n}\n"
    "same {\n  ROOT s = s32[] parameter(0)\n}\nENTRY main {\n  zero = s32[] constant(0)\n"
    "  ROOT r = s32[] while(zero), condition=always, body=same\n}\n";

Frame FrameOf(const v1::ClientMessage& message) { return {Frame::kInOrder, message.SerializeAsString()}; }

Frame FrameOf(const v1::Command& command) {
  v1::ClientMessage message;
  *message.mutable_command() = command;
  message.set_ack_through(1);
  return FrameOf(message);
}

// Returns a command with one of the bodies that have no fields that matter.
template <typename Set>
Frame With(Set set) {
  v1::Command command;
  set(command);
  return FrameOf(command);
}

std::vector<Frame> TransfersSeed() {
  v1::Command wide = CommandsOf::DownloadOf(2);
  wide.mutable_download()->set_stream(true);
  return {FrameOf(CommandsOf::UploadOf({1, 2, 3, 4}, 1)),
          FrameOf(CommandsOf::StreamUploadOf(2)),
          {Frame::kBulk, std::string(1, '\0') + "0123456789abcdef"},
          {Frame::kRun, ""},
          FrameOf(CommandsOf::DownloadOf(1)),
          FrameOf(wide),
          {Frame::kRun, ""},
          {Frame::kBulk, std::string(1, '\0')},
          With([](v1::Command& c) {
            c.mutable_copy()->set_source(1);
            c.mutable_copy()->set_handle(3);
            c.mutable_copy()->set_device(1);
          }),
          {Frame::kRun, ""},
          FrameOf(CommandsOf::StreamUploadOf(4)),
          {Frame::kWait, std::string(31, ' ')},
          FrameOf(CommandsOf::FreeOf({1, 2, 3}))};
}

std::vector<Frame> ProgramsSeed() {
  v1::Command fill = CommandsOf::ExecuteOf(1, {2, 3}, {4});
  fill.mutable_execute()->add_fills(0);
  fill.mutable_execute()->add_donated(1);
  v1::Command literal = CommandsOf::ExecuteOf(1, {0, 2}, {5});
  v1::InlineLiteral& value = *literal.mutable_execute()->add_literals();
  *value.mutable_shape() = CommandsOf::Shape(CommandsOf::F32x4());
  value.set_data(CommandsOf::Bytes({5, 6, 7, 8}));
  const std::string program = Program(kAdd);
  return {FrameOf(CommandsOf::CompileOf(1, program)),
          FrameOf(CommandsOf::UploadOf({1, 2, 3, 4}, 2)),
          FrameOf(CommandsOf::UploadOf({1, 2, 3, 4}, 3)),
          FrameOf(CommandsOf::PlaceholderOf(4)),
          {Frame::kRun, ""},
          FrameOf(fill),
          FrameOf(literal),
          {Frame::kRun, ""},
          FrameOf(CommandsOf::DownloadOf(4)),
          With([&](v1::Command& c) {
            c.mutable_compile()->set_executable(6);
            c.mutable_compile()->set_module_bytes(program.size());
          }),
          With([&](v1::Command& c) { c.mutable_program_chunk()->set_data(program); }),
          {Frame::kRun, ""}};
}

std::vector<Frame> ChannelsSeed() {
  return {FrameOf(CommandsOf::CompileOf(1, Program(kFeed))),
          FrameOf(CommandsOf::UploadOf({1, 2, 3, 4}, 2)),
          With([](v1::Command& c) { c.mutable_infeed()->add_arguments(2); }),
          FrameOf(CommandsOf::ExecuteOf(1, {}, {3})),
          With([](v1::Command& c) {
            c.mutable_outfeed()->add_results(4);
            *c.mutable_outfeed()->add_shapes() = CommandsOf::Shape(CommandsOf::F32x4());
          }),
          {Frame::kRun, ""},
          FrameOf(CommandsOf::DownloadOf(4)),
          {Frame::kRun, ""}};
}

std::vector<Frame> ControlSeed() {
  v1::ClientMessage many;
  for (const v1::Command& command :
       {CommandsOf::PingOf(), CommandsOf::PingOf(true), CommandsOf::PlaceholderOf(4)})
    *many.add_commands() = command;
  many.set_quiet(true);
  v1::ClientMessage cancel;
  cancel.mutable_cancel()->set_command(3);
  return {With([](v1::Command& c) {
            c.mutable_define_origin()->set_id(1);
            c.mutable_define_origin()->mutable_origin()->set_file("a.cc");
          }),
          With([](v1::Command& c) { c.mutable_step_mark()->set_step(2); }),
          FrameOf(CommandsOf::CompileOf(2, Program(kEndless))),
          {Frame::kRun, ""},
          FrameOf(CommandsOf::ExecuteOf(2, {}, {3})),
          FrameOf(cancel),
          FrameOf(many),
          {Frame::kBreak, ""},
          {Frame::kResume, ""},
          With([](v1::Command& c) { c.mutable_stats(); }),
          {Frame::kRun, ""},
          {Frame::kConnect | Frame::kOther, ""},
          With([](v1::Command& c) { c.mutable_goodbye(); })};
}

}  // namespace

std::vector<Frame> Split(std::string_view input, size_t most) {
  std::vector<Frame> frames;
  while (!input.empty() && frames.size() < most) {
    Frame frame{.head = static_cast<uint8_t>(input[0])};
    input.remove_prefix(1);
    size_t length = 0;
    for (size_t i = 0; i + 1 < kHeadBytes && !input.empty(); ++i) {
      length |= static_cast<size_t>(static_cast<uint8_t>(input[0])) << 8 * i;
      input.remove_prefix(1);
    }
    frame.bytes = input.substr(0, length);
    input.remove_prefix(frame.bytes.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::string Joined(const std::vector<Frame>& frames) {
  std::string bytes;
  for (const Frame& frame : frames) {
    const size_t length = std::min(frame.bytes.size(), kBytesMax);
    bytes += static_cast<char>(frame.head);
    for (size_t i = 0; i + 1 < kHeadBytes; ++i) bytes += static_cast<char>(length >> 8 * i);
    bytes.append(frame.bytes, 0, length);
  }
  return bytes;
}

const std::vector<std::vector<Frame>>& SessionSeeds() {
  static const auto* const kSeeds =
      new std::vector<std::vector<Frame>>{TransfersSeed(), ProgramsSeed(), ChannelsSeed(), ControlSeed()};
  return *kSeeds;
}

}  // namespace hlod::fuzz
