// Expected values are hand arithmetic.
#include "tests/faults/scenarios.h"

#include <atomic>
#include <cstring>
#include <memory>

#include "common/rpc/ring.h"
#include "server/session/ring/ring_thread.h"
#include "tests/support/channel_programs.h"

namespace hlod::faults {
namespace {

using device::AddProgram;
using device::ProgramOf;

// f32[4] x, w -> loops, products, reductions and fused loops: most of what a compile goes through.
std::string RichProgram() {
  return ProgramOf(R"(HloModule rich
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT r = (s32[], f32[4]) tuple(j, y)
}
cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(i, three), direction=LT
}
ENTRY main {
  x = f32[4] parameter(0)
  w = f32[4] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=cond, body=body
  eight = f32[4] get-tuple-element(loop), index=1
  p = f32[2,2] reshape(eight)
  q = f32[2,2] reshape(w)
  dot = f32[2,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  nought = f32[] constant(0)
  rows = f32[2] reduce(dot, nought), dimensions={1}, to_apply=sum
  spread = f32[2,2] broadcast(rows), dimensions={0}
  t = f32[2,2] transpose(dot), dimensions={1,0}
  m = f32[2,2] subtract(spread, t)
  ROOT out = f32[4] reshape(m)
}
)");
}

// Two participants: each gets the sum of both.
std::string SumOfTwoProgram() {
  return ProgramOf(R"(HloModule both, replica_count=2
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[4] parameter(0)
  ROOT s = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=sum
}
)");
}

v1::Command On(uint32_t device, v1::Command command) {
  command.mutable_upload()->set_device(device);
  return command;
}

std::vector<Expected> Connect(Driver& client) {
  client.Connect();
  client.Send(client.PingOf(/*at_once=*/true));
  client.Send(client.PingOf());
  return {};
}

std::vector<Expected> Transfer(Driver& client) {
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  const uint64_t upload = client.Send(client.StreamUploadOf(2));
  const std::vector<float> values = {5, 6, 7, 8};
  client.Use([&](session::Session& session) {
    device::SessionUploads& uploads = session.session_device().uploads();
    const absl::StatusOr<device::UploadPart> part = uploads.Claim(upload);
    if (!part.ok()) return;
    std::memcpy(part->target.data(), values.data(), part->target.size());
    uploads.AddReceived(upload, part->generation, static_cast<int64_t>(part->target.size()));
  });
  const uint64_t first = client.Send(client.DownloadOf(1)), second = client.Send(client.DownloadOf(2));
  v1::Command stream = client.DownloadOf(2);
  stream.mutable_download()->set_stream(true);
  const uint64_t announced = client.Send(stream);
  client.Use([&](session::Session& session) {
    const auto kept = session.transfers().FindDownload(announced);
    if (kept.ok()) session.transfers().CountDownload(**kept);
  });
  client.Send(client.FreeOf({1, 2}));
  return {{first, {1, 2, 3, 4}}, {second, values}};
}

std::vector<Expected> Compute(Driver& client) {
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.UploadOf({1, 0, 0, 1}, 2));
  client.Send(client.CompileOf(3, RichProgram()));
  client.Send(client.ExecuteOf(3, {1, 2}, {4}));
  const uint64_t read = client.Send(client.DownloadOf(4));
  client.Send(client.FreeOf({4, 3}));
  // 8x times the unit matrix; the rows' sums 24 and 56, less the transposed product.
  return {{read, {24 - 8, 24 - 24, 56 - 16, 56 - 32}}};
}

std::vector<Expected> Describe(Driver& client) {
  v1::Command line;
  line.mutable_define_origin()->set_id(1);
  line.mutable_define_origin()->mutable_origin()->set_file("model.cc");
  line.mutable_define_origin()->mutable_origin()->set_line(7);
  client.Send(line);
  v1::Command compile = client.CompileOf(1, AddProgram());
  compile.mutable_compile()->set_describe(true);
  client.Send(compile, 1);
  v1::Command execute = client.ExecuteOf(1, {0, 0}, {2});
  for (int i = 0; i < 2; ++i) {
    v1::InlineLiteral& literal = *execute.mutable_execute()->add_literals();
    *literal.mutable_shape() = client.Shape(client.F32x4());
    literal.set_data(client.Bytes({1, 2, 3, 4}));
  }
  execute.mutable_execute()->set_profile(true);
  client.Send(execute, 1);
  const uint64_t read = client.Send(client.DownloadOf(2), 1);
  v1::Command step;
  step.mutable_step_mark()->set_step(2);
  client.Send(step);
  v1::Command stats;
  stats.mutable_stats();
  client.Send(stats);
  return {{read, {2, 4, 6, 8}}};
}

std::vector<Expected> Placeholders(Driver& client) {
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.PlaceholderOf(2));
  client.Send(client.CompileOf(3, device::SeparateProgram()));
  v1::Command abstract = client.ExecuteOf(3, {1, 2}, {4, 5});
  abstract.mutable_execute()->set_abstract(true);
  client.Send(abstract);
  const uint64_t known = client.Send(client.DownloadOf(4));
  client.Send(client.PingOf());
  v1::Command fill = client.UploadOf({3, 3, 3, 3}, 2);
  fill.mutable_upload()->set_fill(true);
  client.Send(fill);
  client.Send(client.ExecuteOf(3, {1, 2}, {6, 7}));
  const uint64_t filled = client.Send(client.DownloadOf(7));
  return {{known, {2, 4, 6, 8}}, {filled, {9, 9, 9, 9}}};
}

std::vector<Expected> Donate(Driver& client) {
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  client.Send(client.CompileOf(2, device::DoubleInPlaceProgram()));
  v1::Command execute = client.ExecuteOf(2, {1}, {3});
  execute.mutable_execute()->add_donated(0);
  client.Send(execute);
  v1::Command copy;
  copy.mutable_copy()->set_source(3);
  copy.mutable_copy()->set_handle(4);
  copy.mutable_copy()->set_device(1);
  client.Send(copy);
  const uint64_t read = client.Send(client.DownloadOf(4));
  client.Send(client.FreeOf({3}));
  return {{read, {2, 4, 6, 8}}};
}

std::vector<Expected> Collective(Driver& client) {
  client.Send(On(0, client.UploadOf({1, 2, 3, 4}, 1)));
  client.Send(On(1, client.UploadOf({10, 20, 30, 40}, 2)));
  client.Send(client.CompileOf(3, SumOfTwoProgram()));
  v1::Command execute = client.ExecuteOf(3, {1, 2}, {4, 5});
  execute.mutable_execute()->add_devices(0);
  execute.mutable_execute()->add_devices(1);
  client.Send(execute);
  const uint64_t one = client.Send(client.DownloadOf(4)), two = client.Send(client.DownloadOf(5));
  return {{one, {11, 22, 33, 44}}, {two, {11, 22, 33, 44}}};
}

std::vector<Expected> Channels(Driver& client) {
  client.Send(client.CompileOf(1, ProgramOf(kRunningSum)));
  client.Send(client.UploadOf({1, 1}, 2, hlo::Shape::Array(hlo::kF32, {2})));
  // With channels of its own: what waits for it is answered when it has failed.
  v1::Command execute = client.ExecuteOf(1, {2}, {3});
  execute.mutable_execute()->set_line(1);
  const uint64_t run = client.Send(execute);
  client.Send(client.UploadOf({2, 3}, 4, hlo::Shape::Array(hlo::kF32, {2})));
  v1::Command three = client.UploadOf({0}, 5, hlo::Shape::Array(hlo::kS32, {}));
  const int32_t number = 3;
  three.mutable_upload()->set_inline_(std::string(reinterpret_cast<const char*>(&number), sizeof(number)));
  client.Send(three);
  v1::Command infeed;
  infeed.mutable_infeed()->set_execute(run);
  infeed.mutable_infeed()->add_arguments(4);
  infeed.mutable_infeed()->add_arguments(5);
  client.Send(infeed);
  v1::Command outfeed;
  outfeed.mutable_outfeed()->set_execute(run);
  outfeed.mutable_outfeed()->add_results(6);
  *outfeed.mutable_outfeed()->add_shapes() = client.Shape(hlo::Shape::Array(hlo::kF32, {2}));
  client.Send(outfeed);
  const uint64_t sent = client.Send(client.DownloadOf(6)), result = client.Send(client.DownloadOf(3));
  return {{sent, {3, 4}}, {result, {3, 4}}};
}

std::vector<Expected> Cancellations(Driver& client) {
  const uint64_t upload = client.Send(client.StreamUploadOf(1));
  client.Send(client.UploadOf({1, 2, 3, 4}, 2));
  client.Send(client.CompileOf(3, AddProgram()));
  const uint64_t execute = client.Send(client.ExecuteOf(3, {1, 2}, {4}));
  const uint64_t read = client.Send(client.DownloadOf(4));
  const uint64_t loop = client.Send(client.CompileOf(5, device::LoopProgram()));
  client.Cancel(loop);
  client.Cancel(read);
  client.Cancel(execute);
  client.Cancel(upload);
  const uint64_t other = client.Send(client.DownloadOf(2));
  return {{other, {1, 2, 3, 4}}};
}

std::vector<Expected> Resume(Driver& client) {
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  const uint64_t read = client.Send(client.DownloadOf(1));
  client.Break();
  client.Connect();
  const uint64_t again = client.Send(client.DownloadOf(1));
  return {{read, {1, 2, 3, 4}}, {again, {1, 2, 3, 4}}};
}

// Hears the messages of a ring.
class RingListener : public session::RingEvents {
 public:
  void OnRingMessage(const std::string& bytes) override { Hear(); }
  void OnElsewhere() override {}
  void OnRingPause() override {}
  void OnRingBroken(const absl::Status& status) override { Hear(); }
  void OnRingEnd() override {}
  void Await() const { heard_.wait(false); }

 private:
  void Hear() {
    heard_ = true;
    heard_.notify_all();
  }
  std::atomic<bool> heard_{false};
};

// The memory of a ring is handed out, taken by its connection, and read; then the session does without.
std::vector<Expected> Ring(Driver& client) {
  client.Use([](session::Session& session) {
    const absl::StatusOr<rpc::Descriptor> handed_out = session.transfers().MapRing();
    const std::unique_ptr<session::RingMemory> ring = session.transfers().TakeRing();
    if (ring == nullptr) return;
    const rpc::RingPair pair(ring->memory.bytes());
    RingListener listener;
    const auto thread = session::RingThread::Start(pair.to_daemon, listener);
    if (!thread.ok()) return;
    (*thread)->Read();
    const std::byte message[] = {std::byte{1}};
    const absl::Span<const std::byte> part(message);
    if (rpc::RingWriter(pair.to_daemon).Write({&part, 1}).ok()) listener.Await();
  });
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  return {{client.Send(client.DownloadOf(1)), {1, 2, 3, 4}}};
}

std::vector<Expected> End(Driver& client) {
  client.Send(client.StreamUploadOf(1));
  client.Send(client.UploadOf({1, 2, 3, 4}, 2));
  client.Send(client.CompileOf(3, AddProgram()));
  client.Send(client.ExecuteOf(3, {1, 2}, {4}));
  client.Send(client.DownloadOf(4));
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  client.Send(goodbye);
  return {};
}

std::vector<Expected> Assembled(Driver& client) { return Compute(client); }

}  // namespace

std::vector<Scenario> Scenarios() {
  const auto nothing = [](Driver&) {};
  return {{"connect", nothing, Connect, /*connected=*/false},
          {"transfer", nothing, Transfer},
          {"compute", nothing, Compute},
          {"describe", nothing, Describe},
          {"placeholders", nothing, Placeholders},
          {"donate", nothing, Donate},
          {"collective", nothing, Collective},
          {"channels", nothing, Channels},
          {"cancel", nothing, Cancellations},
          {"resume", nothing, Resume},
          {"ring", nothing, Ring},
          {"end", nothing, End},
          {"assembled", nothing, Assembled, /*connected=*/true, /*assembled=*/true}};
}

}  // namespace hlod::faults
