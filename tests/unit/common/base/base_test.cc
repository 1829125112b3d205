// Checked arithmetic, status helpers, digests, words, and errors as payloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/error.h"
#include "common/base/errors/error_proto.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/base/text/utf8.h"
#include "common/base/text/words.h"

namespace hlod {
namespace {

TEST(CheckedArithmetic, RefusesToWrapOrToTakeNegatives) {
  EXPECT_EQ(CheckedMultiply(3, 4), 12);
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMultiply(-1, 4), std::nullopt);
  EXPECT_EQ(CheckedMultiply(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(CheckedAdd(INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(1, -1), std::nullopt);
}

TEST(InRange, IsDecidedWithoutWrapping) {
  EXPECT_TRUE(InRange(4, 4, 8));
  EXPECT_TRUE(InRange(8, 0, 8));
  EXPECT_FALSE(InRange(9, 0, 8));
  EXPECT_FALSE(InRange(UINT64_MAX, 2, 8));
  EXPECT_FALSE(InRange(2, UINT64_MAX, 8));
}

TEST(AlignUp, GivesTheNextMultiple) {
  EXPECT_EQ(AlignUp(0, 64), 0);
  EXPECT_EQ(AlignUp(1, 64), 64);
  EXPECT_EQ(AlignUp(64, 64), 64);
}

TEST(Sha256, MatchesTheStandardsExamples) {
  // From the examples in the appendix of FIPS 180-4.
  EXPECT_EQ(ToHex(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Annotate, KeepsCodeAndPayload) {
  absl::Status status = NotFound("handle (%d) is unknown", 7);
  status.SetPayload("url", absl::Cord("payload"));
  const absl::Status annotated = Annotate(status, "reading x.");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FromAbsl(annotated.message()), "handle (7) is unknown\n - While reading x.");
  EXPECT_TRUE(annotated.GetPayload("url").has_value());
  EXPECT_TRUE(Annotate(absl::OkStatus(), "anything").ok());
}

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument("%d is odd.", n);
  return n / 2;
}
absl::StatusOr<int> Quarter(int n) {
  ASSIGN_OR_RETURN(const int half, Half(n));
  return Half(half);
}

TEST(AssignOrReturn, PassesErrorsOn) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(FromAbsl(Quarter(6).status().message()), "3 is odd.");
  EXPECT_EQ(FromAbsl(Quarter(5).status().message()), "5 is odd.");
}

TEST(Words, GrowAndCopy) {
  Words words;
  for (uint32_t i = 0; i < 10000; ++i) *words.Extend(1) = i;
  const Words copy = words;
  Words moved = std::move(words);
  EXPECT_EQ(moved.size(), 10000u);
  EXPECT_EQ(copy[9999], 9999u);
  const Words empty, copied_empty = empty;
  EXPECT_EQ(copied_empty.size(), 0u);
}

TEST(Error, SurvivesTheStatusThatCarriesIt) {
  ErrorDetails error;
  error.kind = ErrorKind::kPlaceholder;
  error.handle = 42;
  error.shape = "f32[8]";
  error.origin = {"/src/model.cc", 88, "Step"};
  error.root_command = 12;
  error.root_origin = {"train.cc", 9, ""};
  error.text = "placeholder read";
  const absl::Status status = ToStatus(error);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  error.code = status.code();
  EXPECT_EQ(ErrorOf(status), error);
  EXPECT_EQ(KindOf(Annotate(status, "downloading.")), ErrorKind::kPlaceholder);
  EXPECT_EQ(ToString(error.origin), "model.cc:88");
  EXPECT_EQ(KindOf(absl::InternalError("plain")), ErrorKind::kNone);
}

TEST(ValidUtf8, KeepsCharactersAndSpellsOtherBytes) {
  EXPECT_EQ(ValidUtf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(ValidUtf8("a\xff"), "a\\xff");
  EXPECT_EQ(ValidUtf8("\xc3"), "\\xc3");                    // The sequence is cut off.
  EXPECT_EQ(ValidUtf8("\xc3(\xa4"), "\\xc3(\\xa4");         // The second byte is not a continuation byte.
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // Half of a surrogate pair.
  EXPECT_EQ(ValidUtf8(""), "");
}

// A message whose string is not UTF-8 cannot be parsed at all: an error that repeats the bytes of a
// backend_config would end the session.
TEST(Error, OfBytesIsReadByTheOtherSide) {
  ErrorDetails error;
  error.code = absl::StatusCode::kInvalidArgument;
  error.text = "The backend_config is \xff.";
  error.origin = {
      "m\xf6"
      "del.cc",
      3, "f"};
  v1::Error read;
  ASSERT_TRUE(read.ParseFromString(ToProto(error).SerializeAsString()));
  EXPECT_EQ(FromProto(read).text, "The backend_config is \\xff.");
  EXPECT_EQ(FromProto(read).origin.file,
            "m\\xf6"
            "del.cc");
}

TEST(Error, IsPrintedOnceAndWithItsKind) {
  const absl::Status status = MakeError(ErrorKind::kPlaceholder, "It has no value.");
  EXPECT_EQ(status.ToString(),
            "FAILED_PRECONDITION: It has no value. [type.hlod/hlod.v1.Error='kind placeholder']");
}

TEST(Error, GetsAKindUnlessItHasOne) {
  EXPECT_EQ(KindOf(WithKind(absl::InvalidArgumentError("x"), ErrorKind::kArgument)), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(WithKind(MakeError(ErrorKind::kLimit, "x"), ErrorKind::kArgument)), ErrorKind::kLimit);
  EXPECT_TRUE(WithKind(absl::OkStatus(), ErrorKind::kArgument).ok());
  EXPECT_EQ(KindOf(AsProgramError(absl::InvalidArgumentError("x"))), ErrorKind::kInvalidProgram);
  EXPECT_EQ(KindOf(AsProgramError(absl::UnimplementedError("x"))), ErrorKind::kUnimplemented);
  EXPECT_EQ(KindOf(AsProgramError(absl::InternalError("x"))), ErrorKind::kNone);
}

TEST(Kinds, HaveNamesAndCodes) {
  EXPECT_EQ(Name(ErrorKind::kNoMemory), "no_memory");
  EXPECT_EQ(CodeOf(ErrorKind::kNoMemory), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(DirectionOf(Cause::kScalarRead), Direction::kDeviceToHost);
  EXPECT_EQ(CauseFromNumber(0), std::nullopt);
}

}  // namespace
}  // namespace hlod
