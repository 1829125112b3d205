// Mistakes and malice: each gets a clear error, and the daemon goes on.
#include "common/hlo/text/text.h"
#include "tests/integration/support/harness.h"

#include "absl/time/clock.h"

namespace hlod {
namespace {

class BadInput : public DaemonTest {
 protected:
  void SetUp() override {
    StartDaemon({.flags = {"--device-memory", "1MiB", "--devices", "2"}});
    raw_ = std::make_unique<RawSession>(daemon_->address());
    ASSERT_TRUE(raw_->open());
  }
  // Checks that the session and the daemon still work.
  void TearDown() override {
    if (client_ == nullptr) return;
    const Buffer x = Must(client_->device(0).Upload(Literal::Vector<float>({1, 2})));
    const Executable add = Must(client_->CompileText(AddProgram(2)));
    EXPECT_EQ(Must(Must(add.Execute({x, x}))[0].ToLiteral()), Literal::Vector<float>({2, 4}));
    if (raw_ != nullptr) {
      EXPECT_OK(raw_->Call(UploadOf(raw_->NewHandle(), Literal::Scalar<float>(1))));
    }
  }

  // Sends bytes as a program and returns the answer.
  absl::Status CompileRaw(const std::string& bytes) {
    v1::Command command;
    command.mutable_compile()->set_executable(raw_->NewHandle());
    command.mutable_compile()->set_module(bytes);
    return raw_->Call(std::move(command));
  }
  static std::string AddBytes() { return hlo::Serialize(*Must(hlo::ParseModule(AddProgram(4)))); }
  static void ExpectError(const absl::Status& status, ErrorKind kind, const std::string& part) {
    EXPECT_EQ(KindOf(status), kind) << status;
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
  }

  std::unique_ptr<RawSession> raw_;
};

// -------------------------------------------------------------------------------------------- programs

TEST_F(BadInput, ATruncatedProto) {
  const std::string bytes = AddBytes();
  for (const size_t size : {bytes.size() - 1, bytes.size() / 2, bytes.size() / 3, size_t{1}}) {
    EXPECT_FALSE(CompileRaw(bytes.substr(0, size)).ok()) << size;
  }
}

TEST_F(BadInput, GarbageBytesAndGarbageText) {
  EXPECT_EQ(KindOf(CompileRaw("\xff\xfe\xfd garbage \x01\x02")), ErrorKind::kInvalidProgram);
  EXPECT_EQ(KindOf(CompileRaw("HloModule this is not a module {")), ErrorKind::kInvalidProgram);
  EXPECT_FALSE(CompileRaw("").ok());
  EXPECT_EQ(client_->CompileText("HloModule x\n\nENTRY main { what }").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(client_->CompileSerialized("garbage").ok());
}

TEST_F(BadInput, AnUnknownOpcodeIsNamed) {
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(AddBytes()));
  module.mutable_computations(0)->mutable_instructions(2)->set_opcode("frobnicate");
  const absl::Status status = CompileRaw(module.SerializeAsString());
  EXPECT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("frobnicate"), std::string::npos) << status;
}

TEST_F(BadInput, AnUnknownFieldOnAnInstructionIsUnimplementedNamingItsNumber) {
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(AddBytes()));
  xla::HloInstructionProto& add = *module.mutable_computations(0)->mutable_instructions(2);
  add.GetReflection()->MutableUnknownFields(&add)->AddVarint(4321, 1);
  const absl::Status status = CompileRaw(module.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_NE(std::string(status.message()).find("4321"), std::string::npos) << status;
}

TEST_F(BadInput, ShapesThatDoNotFollowFromTheOperands) {
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(AddBytes()));
  module.mutable_computations(0)->mutable_instructions(2)->mutable_shape()->set_dimensions(0, 5);
  EXPECT_EQ(KindOf(CompileRaw(module.SerializeAsString())), ErrorKind::kInvalidProgram);
}

TEST_F(BadInput, OperandsThatDoNotExistAndCycles) {
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(AddBytes()));
  xla::HloInstructionProto& add = *module.mutable_computations(0)->mutable_instructions(2);
  const int64_t good = add.operand_ids(0);
  add.set_operand_ids(0, 999);
  EXPECT_EQ(KindOf(CompileRaw(module.SerializeAsString())), ErrorKind::kInvalidProgram);
  add.set_operand_ids(0, add.id());
  EXPECT_EQ(KindOf(CompileRaw(module.SerializeAsString())), ErrorKind::kInvalidProgram) << "its own operand";
  add.set_operand_ids(0, good);
  EXPECT_OK(CompileRaw(module.SerializeAsString()));
}

TEST_F(BadInput, NestingThatIsTooDeep) {
  std::string shape = "f32[]";
  for (int i = 0; i < 100'000; ++i) shape = "(" + shape;
  EXPECT_FALSE(
      client_->CompileText("HloModule deep\n\nENTRY main { ROOT p = " + shape + " parameter(0) }").ok());
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(AddBytes()));
  xla::ShapeProto* nested = module.mutable_computations(0)->mutable_instructions(0)->mutable_shape();
  for (int i = 0; i < 90; ++i) {
    nested->Clear();
    nested->set_element_type(xla::TUPLE);
    nested = nested->add_tuple_shapes();
  }
  nested->set_element_type(xla::F32);
  EXPECT_FALSE(CompileRaw(module.SerializeAsString()).ok());
  v1::Command placeholder;
  placeholder.mutable_placeholder()->set_handle(raw_->NewHandle());
  nested = placeholder.mutable_placeholder()->mutable_shape();
  for (int i = 0; i < 80; ++i) {
    nested->set_element_type(xla::TUPLE);
    nested = nested->add_tuple_shapes();
  }
  EXPECT_FALSE(raw_->Call(std::move(placeholder)).ok());
}

TEST_F(BadInput, AModuleOverTheLimitIsRefusedNamingIt) {
  StartDaemon({.flags = {"--program-bytes-max", "4096", "--instructions-max", "100"}});
  raw_ = std::make_unique<RawSession>(daemon_->address());
  v1::Command large;
  large.mutable_compile()->set_executable(raw_->NewHandle());
  large.mutable_compile()->set_module_bytes(5000);
  const uint64_t announced = raw_->Send(std::move(large));
  v1::Command chunk;
  chunk.mutable_program_chunk()->set_data(std::string(5000, 'x'));
  raw_->Send(std::move(chunk));
  const std::optional<v1::Reply> answer = raw_->Await(announced);
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->error().text().find("program_bytes_max"), std::string::npos) << answer->error().text();
  ExpectError(CompileRaw(std::string(5000, 'x')), ErrorKind::kLimit, "program_bytes_max");
  std::string many = "HloModule many\n\nENTRY main {\n  x0 = f32[] parameter(0)\n";
  for (int i = 1; i < 150; ++i) many += absl::StrFormat("  x%d = f32[] negate(x%d)\n", i, i - 1);
  many += "}\n";
  raw_ = std::make_unique<RawSession>(daemon_->address());
  ExpectError(client_->CompileSerialized(hlo::Serialize(*Must(hlo::ParseModule(many)))).status(),
              ErrorKind::kLimit, "program_bytes_max");
  StartDaemon({.flags = {"--instructions-max", "100"}});
  raw_ = std::make_unique<RawSession>(daemon_->address());
  const Executable too_many = Must(client_->CompileText(many));
  ExpectError(too_many.ready().Await(), ErrorKind::kLimit, "instructions_max");
}

TEST_F(BadInput, ACompileErrorIsTheRootCauseOfEverythingAfterIt) {
  ConnectOptions options;
  options.skip_local_checks = true;
  const Client client = Must(daemon_->Connect(options));
  constexpr std::string_view kBroken =
      "HloModule broken\n\nENTRY main { x = f32[4] parameter(0)\n ROOT y = f32[5] negate(x) }";
  const Executable broken = Must(client.CompileText(kBroken));
  const int line = __LINE__ - 1;
  const Buffer x = Must(client.device(0).Upload(Counting(4)));
  const Buffer y = Must(broken.Execute({x}))[0];
  const Executable negate = Must(client.CompileText(
      "HloModule ok\n\nENTRY main { x = f32[5] parameter(0)\n ROOT y = f32[5] negate(x) }"));
  const Buffer z = Must(negate.Execute({y}))[0];
  const absl::Status status = z.ToLiteral().status();
  ASSERT_FALSE(status.ok());
  const ErrorDetails error = ErrorOf(status);
  EXPECT_EQ(error.root_origin.line, line) << status;
  EXPECT_NE(error.text.find("bad_input_test.cc:" + std::to_string(line)), std::string::npos) << status;
}

// ------------------------------------------------------------------------------------------- arguments

TEST_F(BadInput, WrongArgumentsAreRefusedByTheLibrary) {
  const Executable add = Must(client_->CompileText(AddProgram(4)));
  const Buffer x = Must(client_->device(0).Upload(Counting(4)));
  ExpectError(add.Execute({x}).status(), ErrorKind::kArgument, "2");
  ExpectError(add.Execute({x, x, x}).status(), ErrorKind::kArgument, "3");
  ExpectError(add.Execute({x, Must(client_->device(0).Upload(Counting(5)))}).status(), ErrorKind::kArgument,
              "f32[5]");
  ExpectError(
      add.Execute({x, Must(client_->device(0).Upload(Literal::Vector<int32_t>({1, 2, 3, 4})))}).status(),
      ErrorKind::kArgument, "s32[4]");
  ExpectError(add.Execute({x, Must(client_->device(1).Upload(Counting(4)))}).status(), ErrorKind::kArgument,
              "device 1");
  ExpectError(client_->device(7).Upload(Counting(4)).status(), ErrorKind::kArgument, "7");
}

TEST_F(BadInput, ARefusedArgumentIsNamedWithItsLineAndTheCallers) {
  const Executable add = Must(client_->CompileText(AddProgram(4)));
  const Buffer x = Must(client_->device(0).Upload(Counting(4)));
  const Buffer three = Must(client_->device(0).Upload(Counting(3)));
  const int made = __LINE__ - 1;
  const auto check = [&](const absl::Status& status, int line, const std::string& part) {
    ExpectError(status, ErrorKind::kArgument, part);
    const ErrorDetails error = ErrorOf(status);
    EXPECT_EQ(error.handle, three.handle());
    EXPECT_EQ(error.shape, "f32[3]");
    EXPECT_EQ(error.origin.line, made);
    EXPECT_EQ(error.root_origin.line, line);
    EXPECT_NE(error.text.find("bad_input_test.cc:" + std::to_string(line)), std::string::npos) << status;
  };
  const absl::Status wrong = add.Execute({x, three}).status();
  check(wrong, __LINE__ - 1, ": the program takes f32[4].");
  EXPECT_NE(wrong.message().find(absl::StrFormat(
                "f32[3] (handle %d, made at bad_input_test.cc:%d), given as argument 1 (parameter y) of ",
                three.handle(), made)),
            std::string::npos)
      << wrong;
  check(three.Item<float>().status(), __LINE__, "reads one f32");
  check(three.Fill(Counting(3)), __LINE__, "has a value already");
  std::vector<std::byte> memory(8);
  check(three.Download(absl::MakeSpan(memory)), __LINE__, "has 8 bytes; it takes 12");
  EXPECT_EQ(ErrorOf(add.Execute({x}).status()).root_origin.line, __LINE__);
}

TEST_F(BadInput, ShapesAndPlaceholdersThatCannotBe) {
  const Shape negative = Shape::Array(hlo::kF32, {-1});
  ExpectError(client_->device(0).Placeholder(negative).status(), ErrorKind::kArgument, "-1");
  ExpectError(client_->device(0).Upload(absl::Span<const std::byte>(), negative).status(),
              ErrorKind::kArgument, "-1");
  ExpectError(client_->device(0).Stage(negative).status(), ErrorKind::kArgument, "-1");
  const int64_t elements = client_->limits().buffer_bytes_max / 4 + 1;
  ExpectError(client_->device(0).Placeholder(Shape::Array(hlo::kF32, {elements})).status(), ErrorKind::kLimit,
              "buffer_bytes_max");
}

TEST_F(BadInput, AModuleThatWasNotBuiltIsNotCompiled) {
  Module empty("empty");
  ExpectError(client_->Compile(empty).status(), ErrorKind::kInvalidProgram,
              "Module empty has no computation.");
  Module module("step");
  hlo::Builder b(module, "main");
  const hlo::Op x = b.Parameter(0, Shape::Array(hlo::kF32, {2})),
                y = b.Parameter(1, Shape::Array(hlo::kF32, {3}));
  ExpectError(client_->Compile(module).status(), ErrorKind::kInvalidProgram, "main is not finished");
  EXPECT_FALSE(b.Build(x + y).ok());
  ExpectError(client_->Compile(module).status(), ErrorKind::kInvalidProgram,
              "Operand 1 shape (f32[3]) of add differs from operand 0 shape (f32[2]).");
  ExpectError(client_->CompileText("nonsense").status(), ErrorKind::kInvalidProgram, "");
  ExpectError(client_->CompileText("module @m { func.func @main() { return } }").status(),
              ErrorKind::kInvalidProgram, "The program is StableHLO: LoadFunction");
  ExpectError(
      client_->CompileSerialized("HloModule m\n\nENTRY main { ROOT x = f32[] parameter(0) }").status(),
      ErrorKind::kInvalidProgram, "The program is HLO text: CompileText reads it");
  ExpectError(client_->CompileText("HloModule m\n\nENTRY main { ROOT x = f32[] frobnicate() }").status(),
              ErrorKind::kUnimplemented, "frobnicate");
}

TEST_F(BadInput, WithoutLocalChecksTheDaemonRefusesIndicesThatDoNotExist) {
  const Client client = Must(daemon_->Connect({.skip_local_checks = true}));
  const Executable add = Must(client.CompileText(AddProgram(4)));
  const Buffer x = Must(client.device(0).Upload(Counting(4)));
  const Buffer placeholder = Must(client.device(0).Placeholder(x.shape()));
  const Argument literal = Counting(4);
  for (const int index : {-1, 2, 1'000'000}) {
    ExpectError(Must(add.Execute({x, literal}, {.donate = {index}}))[0].ToLiteral().status(),
                ErrorKind::kArgument, "");
    ExpectError(Must(add.Execute({x, literal}, {.fill = {{index, placeholder}}}))[0].ToLiteral().status(),
                ErrorKind::kArgument, "");
  }
  EXPECT_FALSE(Must(add.Execute({x, Buffer()}))[0].ToLiteral().ok());
  EXPECT_OK(client.Sync());
}

TEST_F(BadInput, WrongArgumentsAreRefusedByTheDaemon) {
  const uint64_t executable = raw_->NewHandle();
  ASSERT_OK(raw_->Call(CompileOf(executable, AddProgram(4))));
  const uint64_t x = raw_->NewHandle(), five = raw_->NewHandle(), integers = raw_->NewHandle(),
                 elsewhere = raw_->NewHandle();
  ASSERT_OK(raw_->Call(UploadOf(x, Counting(4))));
  ASSERT_OK(raw_->Call(UploadOf(five, Counting(5))));
  ASSERT_OK(raw_->Call(UploadOf(integers, Literal::Vector<int32_t>({1, 2, 3, 4}))));
  v1::Command on_one = UploadOf(elsewhere, Counting(4));
  on_one.mutable_upload()->set_device(1);
  ASSERT_OK(raw_->Call(std::move(on_one)));
  const auto run = [&](const std::vector<uint64_t>& arguments, int results = 1) {
    std::vector<uint64_t> handles;
    for (int i = 0; i < results; ++i) handles.push_back(raw_->NewHandle());
    return raw_->Call(ExecuteOf(executable, arguments, handles));
  };
  EXPECT_OK(run({x, x}));
  EXPECT_EQ(KindOf(run({x})), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(run({x, x, x})), ErrorKind::kArgument);
  ExpectError(run({x, five}), ErrorKind::kArgument, "f32[5]");
  ExpectError(run({x, integers}), ErrorKind::kArgument, "s32[4]");
  EXPECT_EQ(KindOf(run({x, elsewhere})), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(run({x, x}, 2)), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(run({x, 0})), ErrorKind::kArgument) << "an inline literal that was not given";
  EXPECT_EQ(KindOf(run({x, 99'999})), ErrorKind::kUnknownHandle);
  EXPECT_FALSE(run({x, executable}).ok()) << "an executable is not a buffer";
  v1::Command nowhere = UploadOf(raw_->NewHandle(), Counting(4));
  nowhere.mutable_upload()->set_device(7);
  EXPECT_EQ(KindOf(raw_->Call(std::move(nowhere))), ErrorKind::kArgument);
  v1::Command lying = UploadOf(raw_->NewHandle(), Counting(4));
  lying.mutable_upload()->set_bytes(17);
  EXPECT_FALSE(raw_->Call(std::move(lying)).ok());
  v1::Command causeless = UploadOf(raw_->NewHandle(), Counting(4));
  causeless.mutable_upload()->set_cause(static_cast<int>(Cause::kDownload));
  EXPECT_FALSE(raw_->Call(std::move(causeless)).ok());
}

// ---------------------------------------------------------------------------------------------- memory

TEST_F(BadInput, AShapeOfTwoToThe62BytesIsRefusedBeforeAnythingIsAllocated) {
  const Shape huge = Shape::Array(hlo::kF32, {int64_t{1} << 30, int64_t{1} << 30});
  v1::Command command;
  command.mutable_upload()->set_handle(raw_->NewHandle());
  *command.mutable_upload()->mutable_shape() = hlo::ToProto(huge);
  command.mutable_upload()->set_bytes(uint64_t{1} << 62);
  command.mutable_upload()->set_cause(static_cast<int>(Cause::kUpload));
  command.mutable_upload()->set_stream(true);
  EXPECT_FALSE(raw_->Call(std::move(command)).ok());
  v1::Command overflow;
  overflow.mutable_placeholder()->set_handle(raw_->NewHandle());
  *overflow.mutable_placeholder()->mutable_shape() =
      hlo::ToProto(Shape::Array(hlo::kF32, {int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_FALSE(raw_->Call(std::move(overflow)).ok());
  v1::Command negative;
  negative.mutable_placeholder()->set_handle(raw_->NewHandle());
  *negative.mutable_placeholder()->mutable_shape() = hlo::ToProto(Shape::Array(hlo::kF32, {-5}));
  EXPECT_FALSE(raw_->Call(std::move(negative)).ok());
  const Executable program =
      Must(client_->CompileText("HloModule huge\n\nENTRY main { x = f32[] parameter(0)\n ROOT y = "
                                "f32[1073741824,1073741824] broadcast(x), dimensions={} }"));
  const absl::StatusOr<std::vector<Buffer>> results = program.Execute({Literal::Scalar<float>(1)});
  EXPECT_FALSE(results.ok() && (*results)[0].ready().Await().ok());
  EXPECT_EQ(daemon_->UsedBytes(), 0);
}

TEST_F(BadInput, OutOfDeviceMemoryNamesWhatWasWantedAndIsRecoverable) {
  const Device device = client_->device(0);
  const Buffer first = Must(device.Upload(Counting(150'000)));  // 600,000 of 1,048,576 bytes.
  ASSERT_OK(first.ready().Await());
  const Buffer second = Must(device.Upload(Counting(150'000)));
  const absl::Status status = second.ready().Await();
  ExpectError(status, ErrorKind::kNoMemory, "600000");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(KindOf(second.ToLiteral().status()), ErrorKind::kNoMemory);
  const Executable increment = Must(client_->CompileText(IncrementProgram(150'000)));
  EXPECT_EQ(KindOf(Must(increment.Execute({first}))[0].ToLiteral().status()), ErrorKind::kNoMemory)
      << "nor has a result room";
  EXPECT_OK(Must(increment.Execute({first}, {.donate = {0}}))[0].ready().Await())
      << "unless it takes its argument's";
}

// ------------------------------------------------------------------------------------- dead and double

TEST_F(BadInput, UseAfterDeleteAndDoubleDeleteSayWhichCommandDidIt) {
  const Buffer x = Must(client_->device(0).Upload(Counting(4)));
  ASSERT_OK(x.Delete());
  const int line = __LINE__ - 1;
  const absl::Status status = x.ToLiteral().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kDeleted) << status;
  EXPECT_EQ(ErrorOf(status).root_origin.line, line);
  EXPECT_EQ(KindOf(x.Delete()), ErrorKind::kDeleted);
  const uint64_t handle = raw_->NewHandle();
  ASSERT_OK(raw_->Call(UploadOf(handle, Counting(4))));
  ASSERT_OK(raw_->Call(FreeOf(handle)));
  EXPECT_EQ(KindOf(raw_->Call(DownloadOf(handle))), ErrorKind::kDeleted);
  EXPECT_EQ(KindOf(raw_->Call(FreeOf(handle))), ErrorKind::kDeleted);
  EXPECT_EQ(KindOf(raw_->Call(FreeOf(12345))), ErrorKind::kUnknownHandle);
}

TEST_F(BadInput, AnExecutableThatWasFreedCannotRun) {
  const uint64_t executable = raw_->NewHandle(), x = raw_->NewHandle();
  ASSERT_OK(raw_->Call(CompileOf(executable, IncrementProgram(4))));
  ASSERT_OK(raw_->Call(UploadOf(x, Counting(4))));
  ASSERT_OK(raw_->Call(FreeOf(executable)));
  EXPECT_FALSE(raw_->Call(ExecuteOf(executable, {x}, {raw_->NewHandle()})).ok());
  v1::Command unknown;
  unknown.mutable_compile()->set_executable(raw_->NewHandle());
  unknown.mutable_compile()->set_digest(std::string(32, 'd'));
  EXPECT_EQ(raw_->Call(std::move(unknown)).code(), absl::StatusCode::kNotFound);
}

// ----------------------------------------------------------------------------------------- without end

TEST_F(BadInput, AWhileThatNeverEndsMeetsItsDeadline) {
  const Executable forever = Must(client_->CompileText(kForever));
  const Buffer x = Must(client_->device(0).Upload(Literal::Scalar<int32_t>(0)));
  const absl::Time start = absl::Now();
  const Buffer result = Must(forever.Execute({x}, {.deadline = absl::Milliseconds(200)}))[0];
  const absl::Status status = result.ToLiteral().status();
  EXPECT_EQ(KindOf(status), ErrorKind::kDeadline) << status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(200));
}

TEST_F(BadInput, AWhileThatNeverEndsCanBeCancelled) {
  const Executable forever = Must(client_->CompileText(kForever));
  const Execution running = Must(forever.Start(std::vector<Argument>{Literal::Scalar<int32_t>(0)}));
  EXPECT_EQ(running.done.Await(absl::Milliseconds(50)).code(), absl::StatusCode::kDeadlineExceeded);
  running.Cancel();
  const absl::Status status = running.done.Await(absl::Seconds(30));
  EXPECT_EQ(KindOf(status), ErrorKind::kCancelled) << status;
  EXPECT_EQ(KindOf(running.results[0].ToLiteral().status()), ErrorKind::kCancelled);
}

TEST_F(BadInput, AnotherSessionIsServedWhileOneLoopsOnTheOtherDevice) {
  const Executable forever = Must(client_->CompileText(kForever));
  const Execution running =
      Must(forever.Start(std::vector<Argument>{Literal::Scalar<int32_t>(0)}, {.device = 1}));
  const Client other = Must(daemon_->Connect());
  const Buffer x = Must(other.device(0).Upload(Counting(2)));
  const Executable add = Must(other.CompileText(AddProgram(2)));
  EXPECT_EQ(Must(Must(add.Execute({x, x}))[0].ToLiteral()), Literal::Vector<float>({0, 2}));
  running.Cancel();
  EXPECT_FALSE(running.done.Await(absl::Seconds(30)).ok());
}

TEST_F(BadInput, AnUploadWhoseBytesNeverComePoisonsItsConsumers) {
  StartDaemon({.flags = {"--upload-wait-us", "200000"}});
  raw_ = std::make_unique<RawSession>(daemon_->address());
  const uint64_t handle = raw_->NewHandle();
  v1::Command command = UploadOf(handle, Counting(4));
  command.mutable_upload()->set_stream(true);
  raw_->Send(std::move(command));
  EXPECT_EQ(KindOf(raw_->Call(DownloadOf(handle))), ErrorKind::kPending);
}

}  // namespace
}  // namespace hlod
