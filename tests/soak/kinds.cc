// Rounds of clients that use the runtime's classes.
#include "tests/soak/kinds.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "hlod/runtime/abstract.h"
#include "hlod/runtime/admin.h"
#include "tests/integration/support/forever.h"
#include "tests/integration/support/relay.h"
#include "tests/support/channel_programs.h"

namespace hlod::soak {
namespace {

constexpr char kDouble[] = R"(HloModule double
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
})";
constexpr char kIncrement[] = R"(HloModule increment, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = s32[1024] parameter(0)
  one = s32[] constant(1)
  ones = s32[1024] broadcast(one), dimensions={}
  ROOT y = s32[1024] add(x, ones)
})";
constexpr char kSumOfTwo[] = R"(HloModule sum_of_two, replica_count=2
add {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  ROOT r = s32[] add(p, q)
}
ENTRY main {
  x = s32[2] parameter(0)
  ROOT y = s32[2] all-reduce(x), replica_groups={}, to_apply=add
})";

const Literal kFour = Literal::Vector<float>({1, 2, 3, 4}), kDoubled = Literal::Vector<float>({2, 4, 6, 8});

Client ConnectTo(const std::string& address, bool shared_memory = true) {
  return Expect(Client::Connect({.address = address, .shared_memory = shared_memory}));
}

Literal RandomInts(Place& place, int64_t count) {
  Literal literal(Shape::Array(hlo::kS32, {count}));
  for (int32_t& value : literal.data<int32_t>()) value = static_cast<int32_t>(place.random());
  return literal;
}

// Uploads, runs three executes, and reads the last one's result.
void Double(const Client& client) {
  const Executable program = Expect(client.CompileText(kDouble));
  const Buffer x = Expect(client.device(0).Upload(kFour));
  std::vector<Buffer> result;
  for (int i = 0; i < 3; ++i) result = Expect(program.Execute({x}));
  Expect(Expect(result[0].ToLiteral()) == kDoubled, "four numbers were not doubled");
}

Round OpenRaw(Place& place) {
  return [client = ConnectTo(place.unix_address)] { Double(client); };
}

Round OpenSessions(Place& place) {
  return [&place] {
    const Client client = ConnectTo(place.unix_address);
    Double(client);
    const Buffer left = Expect(client.device(0).Upload(kFour));
    if (place.random() % 2 == 0) Expect(client.Close());
  };
}

// Counts executes by their result: one that ran twice, or not at all, shows.
Round OpenDonations(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable increment = Expect(client.CompileText(kIncrement));
  return
      [client, increment, buffer = Expect(client.device(0).Upload(Literal(Shape::Array(hlo::kS32, {1024})))),
       count = 0]() mutable {
        for (int i = 0; i < 20; ++i, ++count)
          buffer = Expect(increment.Execute({buffer}, {.donate = {0}}))[0];
        Expect(Expect(buffer.ToLiteral()).data<int32_t>()[1023] == count, "executes were lost or ran twice");
      };
}

void MoveBytes(Place& place, const Client& client) {
  const Literal value = RandomInts(place, 1 + static_cast<int64_t>(place.random() % 500'000));
  const Buffer buffer = Expect(client.device(0).Upload(value));
  const Buffer copy = Expect(buffer.CopyTo(client.device(1)));
  Expect(Expect(copy.ToLiteral()) == value, "bytes changed on their way");
  StagedUpload staged = Expect(client.device(0).Stage(value.shape()));
  if (place.random() % 2 == 0) return;  // The memory comes back although nothing was sent.
  std::ranges::copy(value.data<int32_t>(), staged.data<int32_t>().begin());
  Expect(Expect(Expect(staged.Commit()).ToLiteral()) == value, "staged bytes changed on their way");
}

Round OpenTransfers(Place& place) {
  return [&place, client = ConnectTo(place.unix_address)] { MoveBytes(place, client); };
}
Round OpenStreams(Place& place) {
  return [&place, client = ConnectTo(place.unix_address, false)] { MoveBytes(place, client); };
}
Round OpenTcp(Place& place) {
  return [&place, client = ConnectTo(place.tcp_address)] {
    MoveBytes(place, client);
    Double(client);
  };
}

// Compiles a program that nobody has compiled before.
Round OpenCompiles(Place& place) {
  return [&place, client = ConnectTo(place.unix_address)] {
    std::string text = absl::StrFormat(
        "HloModule fresh\nENTRY main {\n  v0 = f32[64] parameter(0)\n  c = f32[] constant(%d)\n"
        "  b = f32[64] broadcast(c), dimensions={}\n",
        place.random() % 1'000'000);
    for (int i = 0; i < 60; ++i)
      absl::StrAppendFormat(&text, "  v%d = f32[64] %s(v%d, b)\n", i + 1, i % 2 == 0 ? "add" : "subtract", i);
    const Executable program = Expect(client.CompileText(text + "  ROOT r = f32[64] negate(v60)\n}\n"));
    Literal ones(Shape::Array(hlo::kF32, {64}));
    const Buffer x = Expect(client.device(0).Upload(ones));
    Expect(Expect(Expect(program.Execute({x}))[0].ToLiteral()).data<float>()[63] == 0,
           "30 sums and 30 differences are not zero");
  };
}

Round OpenCancels(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable forever = Expect(client.CompileText(kForever));
  return [&place, client, forever] {
    const std::vector<Argument> zero = {Literal::Scalar<int32_t>(0)};
    const bool cancel = place.random() % 2 == 0;
    const Execution running =
        Expect(forever.Start(zero, {.deadline = absl::Milliseconds(cancel ? 60'000 : 20)}));
    const Execution waiting = Expect(forever.Start(zero, {.deadline = absl::Milliseconds(20)}));
    if (cancel) running.Cancel();
    for (const Execution* execution : {&running, &waiting})
      Expect(!execution->done.Await().ok(), "a program without end has ended");
  };
}

Round OpenPlaceholders(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable program = Expect(client.CompileText(kDouble));
  return [client, program] {
    const Buffer x = Expect(client.device(0).Placeholder(kFour.shape()));
    ExpectKind(x.ToLiteral().status(), ErrorKind::kPlaceholder);
    const Buffer unknown = Expect(program.Execute({x}, {.abstract = true}))[0];
    Expect(unknown.is_placeholder(), "the result of a placeholder has a value");
    Expect(x.Fill(kFour));
    Expect(Expect(Expect(program.Execute({x}))[0].ToLiteral()) == kDoubled, "a filled placeholder is wrong");
  };
}

// Asks for more than there is, and uses what failed.
Round OpenMistakes(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable large = Expect(client.CompileText(R"(HloModule large
ENTRY main {
  x = f32[] parameter(0)
  ROOT y = f32[1000000000,1000] broadcast(x), dimensions={}
})"));
  return [client, large] {
    const Buffer refused = Expect(large.Execute({Literal::Scalar<float>(1)}))[0];
    const absl::Status status = refused.ToLiteral().status();
    Expect(!status.ok() && client.status().ok(), "4 TB were allocated, or the session was lost");
  };
}

Round OpenAbstract(Place& place) {
  return [&place] {
    const Client client = Expect(ConnectAbstract({.real_bytes_max = 64}, {.address = place.unix_address}));
    Double(client);
    const Buffer large = Expect(client.device(0).Upload(RandomInts(place, 1024)));
    const Executable increment = Expect(client.CompileText(kIncrement));
    Expect(Expect(increment.Execute({large}))[0].is_placeholder(), "an abstract result has a value");
  };
}

Round OpenRecordings(Place& place) {
  return [&place, count = 0]() mutable {
    const std::string path = place.folder + "/commands";
    setenv("HLOD_COMMAND_LOG", path.c_str(), 1);
    const Client client = ConnectTo(place.unix_address);
    unsetenv("HLOD_COMMAND_LOG");
    Double(client);
    Expect(client.Close());
    const std::string written = ++count == 1 ? path : absl::StrFormat("%s.%d", path, count);
    Expect(std::filesystem::remove(written), "no commands were recorded in " + written);
  };
}

Round OpenCuts(Place& place) {
  return [&place] {
    Relay relay(place.unix_address, place.folder + "/relay");
    const Client client = ConnectTo(relay.address());
    const Executable increment = Expect(client.CompileText(kIncrement));
    Buffer x = Expect(client.device(0).Upload(Literal(Shape::Array(hlo::kS32, {1024}))));
    for (int i = 0; i < 40; ++i) {
      if (i % 10 == 5) relay.Break();
      x = Expect(increment.Execute({x}, {.donate = {0}}))[0];
    }
    Expect(Expect(x.ToLiteral()).data<int32_t>()[0] == 40, "executes were lost or ran twice");
    Expect(client.Close());
  };
}

Round OpenChannels(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable program = Expect(client.CompileText(kRunningSum));
  return [&place, client, program] {
    const Device device = client.device(0);
    const std::vector<Argument> start = {Literal::Vector<float>({0, 0})};
    const Execution run = Expect(program.Start(start));
    if (place.random() % 4 == 0) {
      run.Cancel();
      return Expect(!run.done.Await().ok(), "a program that was given no value has ended");
    }
    const Buffer step = Expect(device.Upload(Literal::Vector<float>({1, 2})));
    const std::vector<Buffer> last = {step, Expect(device.Upload(Literal::Scalar<int32_t>(3)))};
    Expect(device.TransferToInfeed(last));
    const std::vector<Shape> shapes = {Shape::Array(hlo::kF32, {2})};
    const Buffer sum = Expect(device.TransferFromOutfeed(shapes))[0];
    Expect(Expect(sum.ToLiteral()).data<float>()[1] == 2, "another value came out than was put in");
    Expect(run.done.Await());
  };
}

Round OpenCollectives(Place& place) {
  const Client client = ConnectTo(place.unix_address);
  const Executable program = Expect(client.CompileText(kSumOfTwo));
  return [client, program] {
    std::vector<std::vector<Argument>> arguments;
    for (int i = 0; i < 2; ++i) arguments.push_back({Literal::Vector<int32_t>({i + 1, 10})});
    const auto results = Expect(program.ExecuteParticipants(arguments));
    Expect(Expect(results[1][0].ToLiteral()) == Literal::Vector<int32_t>({3, 20}), "a sum of two is wrong");
  };
}

Round OpenLists(Place& place) {
  return [&place] {
    const Admin admin = Expect(Admin::Connect({.address = place.unix_address}));
    Expect(admin.Buffers().status());
    Expect(admin.Executables().status());
    Expect(admin.Sessions().status());
    Expect(admin.Transfers().status());
  };
}

}  // namespace

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"raw", "one session, tiny executes", true, OpenRaw},
      {"tensors", "training steps of a small model", true, OpenTensors},
      {"transfers", "up to 2 MB by shared memory, between devices and back", true, OpenTransfers},
      {"streams", "the same on bulk streams", true, OpenStreams},
      {"tcp", "the same over TCP", true, OpenTcp},
      {"compiles", "a new program in each round", true, OpenCompiles},
      {"cancels", "programs without end, cancelled or past their deadline", true, OpenCancels},
      {"donations", "a count of executes in one donated buffer", true, OpenDonations},
      {"placeholders", "read, used abstractly, and filled", true, OpenPlaceholders},
      {"mistakes", "executes without memory, and what uses their results", true, OpenMistakes},
      {"sessions", "a session per round, half of them never closed", true, OpenSessions},
      {"abstract", "an abstract session per round", true, OpenAbstract},
      {"recordings", "a session per round that records its commands", false, OpenRecordings},
      {"cuts", "a session per round whose connection is cut four times", false, OpenCuts},
      {"channels", "values exchanged with a program while it runs, or cancelled", true, OpenChannels},
      {"collectives", "a program of two participants", true, OpenCollectives},
      {"lists", "all lists that an administrator sees", true, OpenLists},
  };
  return kinds;
}

}  // namespace hlod::soak
