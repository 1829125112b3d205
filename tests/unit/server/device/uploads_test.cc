// Unfinished uploads: who may send their bytes, and the counters.
#include "server/device/buffers/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlod::device {
namespace {

using testing::ElementsAre;

class UploadPieces : public testing::Test {
 protected:
  // Adds an upload of `bytes`, whose memory is not used.
  void Add(uint64_t command, size_t bytes, bool pieces = false) {
    auto upload = std::make_shared<PendingUpload>();
    upload->command.id = command;
    upload->pieces = pieces;
    upload->staged = static_cast<int64_t>(bytes);
    upload->target = absl::MakeSpan(memory).first(bytes);
    ASSERT_TRUE(uploads.Reserve(upload->staged).ok());
    uploads.Add(std::move(upload), now);
  }
  std::vector<std::byte> memory = std::vector<std::byte>(100);
  absl::Time now = absl::FromUnixSeconds(1000);
  Limits limits{.staging_bytes_max = 100, .upload_wait_us = 30'000'000};
  SessionLedger ledger;
  Uploads uploads{limits, ledger};
};

TEST_F(UploadPieces, ANewTransferMakesTheOldOneStale) {
  Add(1, 50);
  const UploadPart first = uploads.Claim(1).value();
  EXPECT_EQ(uploads.AddReceived(1, first.generation, 20, now), Uploads::Progress::kIncomplete);
  const UploadPart second = uploads.Claim(1).value();
  EXPECT_FALSE(uploads.Owns(1, first.generation));
  EXPECT_EQ(uploads.AddReceived(1, first.generation, 30, now), Uploads::Progress::kStale);
  EXPECT_EQ(ledger.account().counters.aborted_bytes, 20);
  EXPECT_EQ(uploads.AddReceived(1, second.generation, 30, now), Uploads::Progress::kIncomplete);
  EXPECT_EQ(uploads.AddReceived(1, second.generation, 20, now), Uploads::Progress::kComplete);
  EXPECT_NE(uploads.Remove(1), nullptr);
  EXPECT_EQ(uploads.AddReceived(1, second.generation, 0, now), Uploads::Progress::kStale);
  EXPECT_EQ(uploads.Remove(1), nullptr);
}

TEST_F(UploadPieces, PiecesComeInOrderAndInside) {
  Add(1, 50, /*pieces=*/true);
  EXPECT_FALSE(uploads.ExpectsTransfer(1));
  EXPECT_FALSE(uploads.Claim(1).ok());
  EXPECT_EQ(uploads.NextPiece(1, 0, 20)->target.size(), 20u);
  EXPECT_EQ(KindOf(uploads.NextPiece(1, 21, 1).status()), ErrorKind::kArgument);
  EXPECT_EQ(KindOf(uploads.NextPiece(1, 20, 31).status()), ErrorKind::kArgument);
  EXPECT_EQ(uploads.NextPiece(1, 20, 30)->target.data(), memory.data() + 20);
  EXPECT_EQ(uploads.NextPiece(2, 0, 1).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(UploadPieces, BytesUnderWayAreBoundedAndGivenBack) {
  Add(1, 60);
  const absl::Status refused = uploads.Reserve(41);
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(
      std::string(refused.message()),
      testing::HasSubstr("41 bytes beside 60 that are under way: the limit staging_bytes_max is 100"));
  Add(2, 40);
  uploads.Remove(1);
  EXPECT_TRUE(uploads.Reserve(60).ok());
  uploads.Release(60);
  EXPECT_NE(uploads.RemoveAny(), nullptr);
  EXPECT_EQ(uploads.RemoveAny(), nullptr);
  EXPECT_TRUE(uploads.Reserve(100).ok());
}

TEST_F(UploadPieces, LateOnesSayHowFarTheyCame) {
  Add(1, 50);
  const UploadPart part = uploads.Claim(1).value();
  EXPECT_EQ(uploads.AddReceived(1, part.generation, 20, now), Uploads::Progress::kIncomplete);
  const absl::Time late = now + absl::Seconds(30);
  EXPECT_THAT(uploads.Late(late, /*heard=*/late), ElementsAre(1));
  EXPECT_THAT(std::string(uploads.LateError(1).message()), testing::HasSubstr("20 of 50 are here"));
}

}  // namespace
}  // namespace hlod::device
