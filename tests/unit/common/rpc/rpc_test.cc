// The parts that both sides of the connection use: addresses, secrets, shared memory, chunks, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <sstream>
#include <vector>

#include "common/rpc/crc32c.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/grpc/checksum.h"
#include "common/rpc/grpc/chunk.h"
#include "common/rpc/grpc/status.h"
#include "common/rpc/secret.h"
#include "common/rpc/shared_memory.h"
#include "common/rpc/wire.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::rpc {
namespace {

using ::testing::HasSubstr;

TEST(Endpoint, EveryFormRoundTrips) {
  for (const char* text : {"unix:/run/hlod/hlod.sock", "unix:@name", "127.0.0.1:8470", "[::1]:0", "fd:5"}) {
    const auto endpoint = ParseEndpoint(text);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    EXPECT_EQ(ToString(*endpoint), text);
  }
  EXPECT_EQ(ParseEndpoint("/tmp/x")->path, "/tmp/x");
  EXPECT_EQ(ParseEndpoint("tcp:localhost:9")->port, 9);
}

TEST(Endpoint, NonsenseIsRefusedWithTheText) {
  for (const char* text :
       {"", "nonsense", "unix:", "unix:@", "host:", "host:x", "host:70000", "fd:-1", "fe80::1:5"}) {
    const auto endpoint = ParseEndpoint(text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_THAT(std::string(endpoint.status().message()), HasSubstr(text));
  }
  EXPECT_FALSE(ParseEndpoint("unix:/" + std::string(200, 'a')).ok());
}

TEST(Endpoint, OnlyTheLoopbackIsLoopback) {
  EXPECT_TRUE(ParseEndpoint("127.9.9.9:1")->IsLoopback());
  EXPECT_TRUE(ParseEndpoint("[::1]:1")->IsLoopback());
  EXPECT_FALSE(ParseEndpoint("0.0.0.0:1")->IsLoopback());
  EXPECT_FALSE(ParseEndpoint("127.example.com:1")->IsLoopback());
  EXPECT_FALSE(ParseEndpoint("127.0.0.1.example.com:1")->IsLoopback());
  EXPECT_FALSE(ParseEndpoint("10.0.0.1:1")->IsLoopback());
}

TEST(Secret, IsRandomAndNeverPrinted) {
  const Secret a = Secret::Random(), b = Secret::Random();
  EXPECT_EQ(a.bytes().size(), kSecretBytes);
  EXPECT_FALSE(a.Equals(b.bytes()));
  EXPECT_TRUE(a.Equals(a.bytes()));
  EXPECT_FALSE(Secret().Equals(""));
  std::ostringstream stream;
  stream << a;
  EXPECT_EQ(stream.str(), "***");
}

// The vectors of RFC 3720 B.4: 32 bytes of zeros, of 0xff, ascending.
TEST(Crc32c, MatchesThePublishedVectors) {
  std::vector<std::byte> zeros(32), ones(32, std::byte{0xff}), ascending(32);
  for (int i = 0; i < 32; ++i) ascending[i] = std::byte(i);
  EXPECT_EQ(Crc32c(zeros), 0x8a9136aau);
  EXPECT_EQ(Crc32c(ones), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32c, PiecesGiveTheSameAsTheWhole) {
  std::vector<std::byte> data(100'003);
  uint32_t state = 1;
  for (std::byte& byte : data) byte = std::byte((state = state * 1664525 + 1013904223) >> 24);
  uint32_t bytewise = 0;
  for (const std::byte& byte : data) bytewise = Crc32c({&byte, 1}, bytewise);
  EXPECT_EQ(Crc32c(data), bytewise);
  EXPECT_EQ(Crc32c(absl::MakeConstSpan(data).subspan(777), Crc32c(absl::MakeConstSpan(data).first(777))),
            bytewise);
}

TEST(Chunk, RoundTripsAndIsAnOrdinaryChunkMessage) {
  std::vector<std::byte> data(300'000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i * 7);
  v1::TransferId id;
  id.set_session(7);
  id.set_secret("s");
  id.set_command(9);
  grpc::ByteBuffer buffer = EncodeChunk(&id, data);
  grpc::Slice whole;
  ASSERT_TRUE(buffer.DumpToSingleSlice(&whole).ok());
  v1::Chunk message;
  ASSERT_TRUE(message.ParseFromArray(whole.begin(), static_cast<int>(whole.size())));
  EXPECT_EQ(message.transfer().command(), 9u);
  EXPECT_EQ(message.data().size(), data.size());
  EXPECT_EQ(message.crc32c(), Crc32c(data));

  std::vector<std::byte> received(data.size());
  const auto chunk =
      DecodeChunk(buffer, [&](const ReceivedChunk& header) -> absl::StatusOr<absl::Span<std::byte>> {
        EXPECT_TRUE(header.has_transfer);
        return absl::MakeSpan(received);
      });
  ASSERT_TRUE(chunk.ok()) << chunk.status();
  EXPECT_EQ(chunk->size, static_cast<int64_t>(data.size()));
  EXPECT_EQ(received, data);
}

TEST(Chunk, OfASliceHoldsItUntilItIsGone) {
  static int gone;
  gone = 0;
  std::vector<std::byte> data(100'000, std::byte{3});
  {
    grpc::ByteBuffer buffer =
        EncodeChunkSlice(nullptr, grpc::Slice(data.data(), data.size(), [](void*) { ++gone; }, nullptr));
    EXPECT_EQ(gone, 0);
    std::vector<std::byte> received(data.size());
    const auto chunk =
        DecodeChunk(buffer, [&](const ReceivedChunk&) -> absl::StatusOr<absl::Span<std::byte>> {
          return absl::MakeSpan(received);
        });
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    EXPECT_EQ(received, data);
  }
  EXPECT_EQ(gone, 1);
}

TEST(Chunk, DamagedOrOversizedBytesAreRefused) {
  v1::Chunk message;
  message.set_data("hello");
  message.set_crc32c(1);
  std::string bytes = message.SerializeAsString();
  std::vector<std::byte> target(5);
  const auto decode = [&](std::string_view text) {
    const grpc::Slice slice(text.data(), text.size());
    grpc::ByteBuffer buffer(&slice, 1);
    return DecodeChunk(buffer, [&](const ReceivedChunk&) -> absl::StatusOr<absl::Span<std::byte>> {
      return absl::MakeSpan(target);
    });
  };
  EXPECT_EQ(decode(bytes).status().code(), absl::StatusCode::kDataLoss);
  target.resize(4);
  EXPECT_EQ(decode(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(decode(std::string_view(bytes).substr(0, bytes.size() - 1)).ok());
  EXPECT_FALSE(decode("\x1a\xff\xff\xff\xff\x0f").ok());
  EXPECT_FALSE(decode(std::string(64, '\xff')).ok());
}

TEST(SharedMemory, IsOneMemorySeenTwice) {
  auto memory = SharedMemory::Create(1 << 20);
  ASSERT_TRUE(memory.ok()) << memory.status();
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const Descriptor a(sockets[0]), b(sockets[1]);
  ASSERT_TRUE(SendDescriptor(a.get(), memory->fd()).ok());
  auto fd = ReceiveDescriptor(b.get());
  ASSERT_TRUE(fd.ok()) << fd.status();
  auto mapped = SharedMemory::Map(*std::move(fd), 1 << 20);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  memory->bytes()[12345] = std::byte{42};
  EXPECT_EQ(mapped->bytes()[12345], std::byte{42});
  EXPECT_NE(ftruncate(mapped->fd(), 0), 0) << "a mapper must not be able to shrink it";
}

TEST(SharedMemory, WrongSizeAndUnsealedDescriptorsAreRefused) {
  auto memory = SharedMemory::Create(4096);
  ASSERT_TRUE(memory.ok());
  EXPECT_FALSE(SharedMemory::Map(Descriptor(dup(memory->fd())), 8192).ok());
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const Descriptor write_end(pipe_ends[1]);
  EXPECT_FALSE(SharedMemory::Map(Descriptor(pipe_ends[0]), 4096).ok());
}

TEST(SharedMemory, ConnectingToAListenerThatDoesNotAcceptEnds) {
  const std::string name = "hlod-rpc-test-" + std::to_string(getpid());
  const Descriptor listener = ListenAbstract(name).value();
  std::vector<Descriptor> waiting;  // Fills the listener's queue until it accepts no more connections.
  absl::Status status;
  while (status.ok() && waiting.size() < 1000) {
    absl::StatusOr<Descriptor> next = ConnectAbstract(name, absl::Milliseconds(20));
    status = next.status();
    if (next.ok()) waiting.push_back(*std::move(next));
  }
  EXPECT_FALSE(status.ok());
}

TEST(Wire, AnErrorSurvivesStatusAndGrpcStatus) {
  ErrorDetails error;
  error.kind = ErrorKind::kPlaceholder;
  error.handle = 5;
  error.shape = "f32[8]";
  error.origin = {"a/model.cc", 41, "Loss"};
  error.root_command = 12;
  error.root_origin = {"model.cc", 88, ""};
  error.text = "Buffer 5 is a placeholder.";
  const absl::Status status = ToStatus(error);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  const absl::Status back = FromGrpc(ToGrpc(status));
  error.code = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(ErrorOf(back), error);
  EXPECT_EQ(FromProto(ToProto(error)), error);
  EXPECT_EQ(ToString(error.origin), "model.cc:41");
}

// Returns a message of the session's stream as its sender leaves it, in slices of `size` bytes.
grpc::ByteBuffer Checked(const std::string& message, size_t size) {
  uint8_t checksum[kChecksumBytes];
  WriteChecksum(Crc32c({reinterpret_cast<const std::byte*>(message.data()), message.size()}), checksum);
  const std::string all = message + std::string(std::begin(checksum), std::end(checksum));
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < all.size(); at += size) slices.emplace_back(all.substr(at, size));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

TEST(Checksums, AreTheLastFieldOfAMessage) {
  v1::ClientMessage message;
  message.set_ack_through(7);
  const std::string bytes = message.SerializeAsString();
  v1::ClientMessage parsed;
  ASSERT_TRUE(parsed.ParseFromString(Bytes(Checked(bytes, 100))));
  EXPECT_EQ(parsed.ack_through(), 7u);
  EXPECT_EQ(parsed.crc32c(), Crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}));
  message.set_crc32c(parsed.crc32c());
  EXPECT_EQ(message.SerializeAsString(), Bytes(Checked(bytes, 100))) << "also to who writes it as a field";
}

TEST(Checksums, FindEveryByteThatDiffersHoweverTheMessageIsCut) {
  const std::string message = "what was sent, with the 123456789 of RFC 3720";
  for (const size_t size : {1, 2, 3, 7, 100}) {
    ChecksumReader reader;
    ASSERT_TRUE(reader.Check(Checked(message, size)).ok());
    EXPECT_TRUE(reader.seen());
    const std::string sent = Bytes(Checked(message, size));
    for (size_t i = 0; i < sent.size(); ++i) {
      std::string received = sent;
      received[i] = static_cast<char>(received[i] ^ 0x10);
      EXPECT_EQ(reader.Check(Buffer(received)).code(), absl::StatusCode::kDataLoss) << i;
    }
    EXPECT_EQ(reader.Check(Buffer(sent.substr(0, 20))).code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(reader.Check(Buffer("")).code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(reader.Check(Checked("", size)).ok()) << "an empty message has one, too";
  }
}

TEST(Checksums, AreNotAskedOfWhoBeginsWithout) {
  ChecksumReader reader;
  EXPECT_TRUE(reader.Check(Buffer("a message without")).ok());
  EXPECT_FALSE(reader.seen());
  EXPECT_TRUE(reader.Check(Buffer("\x7d and four more")).ok());
  EXPECT_TRUE(reader.Check(Buffer("bytes\x7d####")).ok());
}

}  // namespace
}  // namespace hlod::rpc
