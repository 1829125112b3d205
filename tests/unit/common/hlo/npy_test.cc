// .npy files: expected bytes are those that numpy.save writes.
#include "common/hlo/elements/npy.h"

#include <gtest/gtest.h>

namespace hlod::hlo {
namespace {

std::string File(const std::string& dictionary, const std::string& payload) {
  std::string header = dictionary;
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + payload;
}

TEST(Npy, WritesWhatNumpyWrites) {
  // numpy.save of numpy.array([[1, 2]], dtype=int8)
  EXPECT_EQ(FormatNpy(Literal::Array<int8_t>({1, 2}, {1, 2})),
            File("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2), }", "\x01\x02"));
  EXPECT_EQ(FormatNpy(Literal::Vector<int8_t>({7})),
            File("{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }", "\x07"));
  EXPECT_EQ(FormatNpy(Literal::Scalar<int8_t>(9)),
            File("{'descr': '|i1', 'fortran_order': False, 'shape': (), }", "\x09"));
}

TEST(Npy, ReadsBackWhatItWrote) {
  const Literal value = Literal::Array<float>({2, 3}, {1, -2, 3.5f, 4, 5, 6});
  const absl::StatusOr<Literal> read = ParseNpy(FormatNpy(value), value.shape(), "test");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, value);
}

TEST(Npy, ColumnMajorFilesAreBroughtIntoRowMajorOrder) {
  const std::string file =
      File("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", {1, 4, 2, 5, 3, 6});
  const absl::StatusOr<Literal> read = ParseNpy(file, Shape::Array(hlo::kS8, {2, 3}), "test");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Literal::Array<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(Npy, Bf16IsReadFromRawBitsOfEitherSpelling) {
  for (const char* dtype : {"|V2", "<u2"}) {
    const std::string file = File(
        std::string("{'descr': '") + dtype + "', 'fortran_order': False, 'shape': (1,), }", {'\x80', '\x3f'});
    const absl::StatusOr<Literal> read = ParseNpy(file, Shape::Array(hlo::kBF16, {1}), "test");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(hlo::ElementAsDouble(*read, 0), 1.0);
  }
}

TEST(Npy, WhatDoesNotFitIsRefusedByName) {
  const std::string file = FormatNpy(Literal::Vector<float>({1, 2}));
  for (const Shape& shape :
       {Shape::Array(hlo::kF32, {3}), Shape::Array(hlo::kS32, {2}), Shape::Array(hlo::kF32, {2, 1})}) {
    const absl::Status status = ParseNpy(file, shape, "x.npy").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(status.message()).find("x.npy"), std::string::npos);
  }
  EXPECT_FALSE(ParseNpy("garbage that is not an array", Shape::Scalar(hlo::kF32), "x.npy").ok());
  EXPECT_FALSE(ParseNpy(file.substr(0, file.size() - 1), Shape::Array(hlo::kF32, {2}), "x.npy").ok())
      << "an element is missing";
  EXPECT_FALSE(ParseNpy(file.substr(0, 40), Shape::Array(hlo::kF32, {2}), "x.npy").ok())
      << "the header is cut";
}

TEST(Npy, ElementsOutsideOfANarrowTypeAreRefusedByValueAndRange) {
  const std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }";
  const absl::Status high = ParseNpy(File(header, {7, 8}), Shape::Array(hlo::kS4, {2}), "x.npy").status();
  EXPECT_EQ(high.message(), "x.npy: element 1 is 8; s4 holds -8 to 7.");
  EXPECT_TRUE(ParseNpy(File(header, {-8, 7}), Shape::Array(hlo::kS4, {2}), "x.npy").ok());
  const std::string unsigned_header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  const absl::Status u2 =
      ParseNpy(File(unsigned_header, {3, '\xff'}), Shape::Array(hlo::kU2, {2}), "x.npy").status();
  EXPECT_EQ(u2.message(), "x.npy: element 1 is 255; u2 holds 0 to 3.");
}

TEST(Npy, BytesAfterTheElementsAndBigEndianOnesAreRefused) {
  const std::string file = FormatNpy(Literal::Vector<float>({1, 2}));
  EXPECT_FALSE(ParseNpy(file + "x", Shape::Array(hlo::kF32, {2}), "x.npy").ok());
  const std::string big = File("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", {0, 0, 0, 0});
  const absl::Status status = ParseNpy(big, Shape::Array(hlo::kF32, {1}), "x.npy").status();
  EXPECT_NE(std::string(status.message()).find("big-endian"), std::string::npos) << status;
}

}  // namespace
}  // namespace hlod::hlo
