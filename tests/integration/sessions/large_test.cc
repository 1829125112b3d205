// A tensor of more than 2 GiB, over each transport: sent in pieces, and counted once (row LT18 of the
// acceptance table).
#include <cstring>

#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

// A message's length is an int in protobuf; a tensor's is not.
constexpr int64_t kBytes = (int64_t{2} << 30) + 4099;

// Returns bytes in which any two megabytes differ.
Literal Patterned() {
  Literal literal(Shape::Array(hlo::kU8, {kBytes}));
  uint64_t state = 1;
  const absl::Span<uint8_t> data = literal.data<uint8_t>();
  for (int64_t i = 0; i + 8 <= kBytes; i += 8) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(&data[static_cast<size_t>(i)], &state, 8);
  }
  return literal;
}

struct Transport {
  std::string name;
  bool tcp, shared_memory;
};

class Large : public ::testing::TestWithParam<Transport> {};

// Acceptance row LT18.
TEST_P(Large, ATensorOfMoreThanTwoGibibytesComesBackAsItWas) {
  testing::Daemon daemon = Must(testing::Daemon::Start({.tcp = GetParam().tcp}));
  const ConnectOptions options{.shared_memory = GetParam().shared_memory};
  Client client = Must(GetParam().tcp ? daemon.ConnectTcp(options) : daemon.Connect(options));
  const Literal value = Patterned();
  testing::TransferWatch watch(client);
  const Buffer buffer = Must(client.device(0).Upload(value));
  const Literal back = Must(buffer.ToLiteral());
  EXPECT_EQ(back.shape(), value.shape());
  EXPECT_EQ(std::memcmp(back.data<uint8_t>().data(), value.data<uint8_t>().data(), kBytes), 0);
  EXPECT_EQ(watch.Check({.host_to_device = {kBytes, 1}, .device_to_host = {kBytes, 1}}), "");
  EXPECT_EQ(daemon.UsedBytes(), kBytes) << "and lies there once";
}

INSTANTIATE_TEST_SUITE_P(All, Large,
                         ::testing::Values(Transport{"UnixArena", false, true},
                                           Transport{"UnixStream", false, false},
                                           Transport{"TcpStream", true, false}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hlod
