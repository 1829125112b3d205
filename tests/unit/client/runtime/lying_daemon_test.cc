// A daemon whose answers have any numbers, texts and counts: the client returns an error or what it was told,
// and touches no memory that is not its own (which asan and ubsan see).
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "hlod/observe/account.h"
#include "hlod/runtime/client.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

using ProtoField = google::protobuf::FieldDescriptor;
using ProtoMessage = google::protobuf::Message;

// Fills messages with extreme values, the same ones for a seed.
class Liar {
 public:
  explicit Liar(uint32_t seed) : random_(seed) {}

  bool Chance(uint32_t of) { return random_() % of == 0; }
  template <typename T>
  T Number() {
    constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    const T numbers[] = {0, 1, 2, 7, 64, kMost, kLeast, static_cast<T>(kMost - 1), static_cast<T>(kMost / 2)};
    return numbers[random_() % std::size(numbers)];
  }
  void Fill(ProtoMessage& message, int depth = 0) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const ProtoField& field = *type.field(i);
      if (Chance(3) || depth > 6 || field.is_map()) continue;
      const uint32_t count = field.is_repeated() ? random_() % 4 : 1;
      for (uint32_t n = 0; n < count; ++n) Set(message, field, depth);
    }
  }

 private:
  template <typename T>
  void Put(ProtoMessage& message, const ProtoField& field, T value,
           void (google::protobuf::Reflection::*set)(ProtoMessage*, const ProtoField*, T) const,
           void (google::protobuf::Reflection::*add)(ProtoMessage*, const ProtoField*, T) const) {
    (message.GetReflection()->*(field.is_repeated() ? add : set))(&message, &field, std::move(value));
  }
  void Set(ProtoMessage& message, const ProtoField& field, int depth) {
    using Reflection = google::protobuf::Reflection;
    switch (field.cpp_type()) {
      case ProtoField::CPPTYPE_INT32:
        return Put(message, field, Number<int32_t>(), &Reflection::SetInt32, &Reflection::AddInt32);
      case ProtoField::CPPTYPE_INT64:
        return Put(message, field, Number<int64_t>(), &Reflection::SetInt64, &Reflection::AddInt64);
      case ProtoField::CPPTYPE_UINT32:
        return Put(message, field, Number<uint32_t>(), &Reflection::SetUInt32, &Reflection::AddUInt32);
      case ProtoField::CPPTYPE_UINT64:
        return Put(message, field, Number<uint64_t>(), &Reflection::SetUInt64, &Reflection::AddUInt64);
      case ProtoField::CPPTYPE_DOUBLE:
        return Put(message, field, static_cast<double>(Number<int64_t>()) * 1e300, &Reflection::SetDouble,
                   &Reflection::AddDouble);
      case ProtoField::CPPTYPE_FLOAT:
        return Put(message, field, static_cast<float>(Number<int64_t>()), &Reflection::SetFloat,
                   &Reflection::AddFloat);
      case ProtoField::CPPTYPE_BOOL:
        return Put(message, field, Chance(2), &Reflection::SetBool, &Reflection::AddBool);
      case ProtoField::CPPTYPE_ENUM:
        return Put(message, field, Number<int>(), &Reflection::SetEnumValue, &Reflection::AddEnumValue);
      case ProtoField::CPPTYPE_STRING:
        return Put(message, field, std::string(Number<uint8_t>() % 70, 'x'), &Reflection::SetString,
                   &Reflection::AddString);
      case ProtoField::CPPTYPE_MESSAGE:
        ProtoMessage* const inner = field.is_repeated()
                                        ? message.GetReflection()->AddMessage(&message, &field)
                                        : message.GetReflection()->MutableMessage(&message, &field);
        return Fill(*inner, depth + 1);
    }
  }

  std::mt19937 random_;
};

// Refuses every transfer for good.
class RefusingBulk : public BulkChannel {
 public:
  absl::Status Upload(const v1::TransferId&, absl::Span<const std::byte>, int64_t, absl::Time,
                      BulkWatch) override {
    return MakeError(ErrorKind::kCorrupt, "no upload");
  }
  absl::Status Download(const v1::TransferId&, absl::Span<std::byte>, absl::Time, BulkWatch) override {
    return MakeError(ErrorKind::kCorrupt, "no download");
  }
};

// Answers a command by a reply of its kind, or by an error; then by what settles it.
void Lie(Liar& liar, const v1::Command& command, FakePipe& pipe) {
  v1::ServerMessage message;
  v1::Reply& reply = *message.add_replies();
  if (command.has_compile()) liar.Fill(*reply.mutable_compile());
  if (command.has_download()) liar.Fill(*reply.mutable_download());
  if (command.has_stats()) liar.Fill(*reply.mutable_stats());
  if (command.has_execute()) liar.Fill(*reply.mutable_profile());
  if (liar.Chance(4)) liar.Fill(*reply.mutable_error());
  reply.set_command(liar.Chance(8) ? liar.Number<uint64_t>() : command.id());
  message.add_settled(liar.Number<uint64_t>());
  pipe.Answer(std::move(message));
  v1::ServerMessage settled;
  settled.set_settled_through(liar.Chance(8) ? UINT64_MAX : command.id());
  pipe.Answer(std::move(settled));
  if (command.has_goodbye()) pipe.End(absl::OkStatus());
}

// Uses most of what a session offers. The answers are of no interest.
void UseEverything(const std::shared_ptr<Session>& session, const Module& module) {
  const Client client(session);
  const Shape shape = Shape::Array(hlo::kF32, {3});
  const absl::StatusOr<Buffer> x = Device(session, 0).Upload(Literal(shape), Cause::kUpload, {});
  (void)client.Stats();
  (void)GetAccount(client);
  const absl::StatusOr<Executable> program = client.Compile(module, {}, {});
  if (!program.ok() || !x.ok()) return;
  (void)program->Describe({});
  const auto results = program->Execute({*x}, {}, {});
  if (!results.ok()) return;
  for (const Buffer& result : *results) {
    (void)result.ToLiteral(Cause::kDownload, {});
    (void)result.CopyTo(Device(session, 0), {});
    (void)result.ToString();
  }
}

TEST(LyingDaemon, NoAnswerBreaksTheClient) {
  const auto module = hlo::ParseModule(
      "HloModule m\nENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = (f32[3], f32[3]) tuple(x, x)\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto liar = std::make_shared<Liar>(seed);
    const auto daemon = std::make_shared<FakeDaemon>();
    for (const char* const limit : {"prefetch_bytes_max", "commands_per_message_max", "inline_bytes_max",
                                    "program_bytes_max", "chunk_bytes_max", "origins_per_session_max"}) {
      if (liar->Chance(4)) daemon->limits[limit] = liar->Number<int64_t>();
    }
    daemon->bulk = std::make_shared<RefusingBulk>();
    daemon->on_command = [liar](const v1::Command& command, FakePipe& pipe) { Lie(*liar, command, pipe); };
    const auto session = Session::Open(std::make_unique<FakeConnector>(daemon), {.name = "test"});
    if (session.ok()) UseEverything(*session, **module);
    daemon->End();
  }
}

TEST(LyingDaemon, AnyLimitOfInlineBytesIsPossible) {
  for (const int64_t limit : {INT64_MAX, INT64_MAX - 1, int64_t{0}, INT64_MIN}) {
    const auto daemon = std::make_shared<FakeDaemon>();
    daemon->limits["inline_bytes_max"] = limit;
    const auto session = Session::Open(std::make_unique<FakeConnector>(daemon), {.name = "test"});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(Client(*session).Stats().ok()) << limit;
    daemon->End();
  }
}

}  // namespace
}  // namespace hlod::runtime
