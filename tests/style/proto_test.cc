// Holds the wire to its promises: everything in the .proto files is explained there, and no number of a field
// ever changes its meaning.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"

namespace hlod {
namespace {

namespace pb = google::protobuf;

class Proto : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(HLOD_DESCRIPTORS, std::ios::binary);
    pb::FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromIstream(&in)) << HLOD_DESCRIPTORS;
    for (const pb::FileDescriptorProto& file : set.file()) files_.push_back(pool_.BuildFile(file));
    for (const pb::FileDescriptor* file : files_) ASSERT_NE(file, nullptr);
  }

  // Calls f on every message, nested ones included. Map entries are the compiler's own.
  void ForEachMessage(const std::function<void(const pb::Descriptor&)>& f) const {
    std::function<void(const pb::Descriptor&)> visit = [&](const pb::Descriptor& message) {
      if (message.options().map_entry()) return;
      f(message);
      for (int i = 0; i < message.nested_type_count(); ++i) visit(*message.nested_type(i));
    };
    for (const pb::FileDescriptor* file : files_) {
      for (int i = 0; i < file->message_type_count(); ++i) visit(*file->message_type(i));
    }
  }

  pb::DescriptorPool pool_;
  std::vector<const pb::FileDescriptor*> files_;
};

template <typename D>
bool HasComment(const D& descriptor) {
  pb::SourceLocation at;
  return descriptor.GetSourceLocation(&at) && !(at.leading_comments + at.trailing_comments).empty();
}

// "proto/hlod/v1/session.proto:88"
template <typename D>
std::string Where(const D& descriptor) {
  pb::SourceLocation at;
  descriptor.GetSourceLocation(&at);
  return descriptor.file()->name() + ":" + std::to_string(at.start_line + 1);
}

// The .proto files are the protocol's specification; what stands there without a word is not specified. XLA's
// fields are XLA's to explain: of its messages one comment each is asked.
TEST_F(Proto, EveryMessageAndFieldHasAComment) {
  ForEachMessage([](const pb::Descriptor& message) {
    EXPECT_TRUE(HasComment(message)) << Where(message) << ": message " << message.full_name()
                                     << " has no comment";
    if (message.file()->package() == "hlod.xla") return;
    for (int i = 0; i < message.field_count(); ++i) {
      const pb::FieldDescriptor& field = *message.field(i);
      EXPECT_TRUE(HasComment(field)) << Where(field) << ": field " << field.full_name() << " has no comment";
    }
  });
  for (const pb::FileDescriptor* file : files_) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        const pb::MethodDescriptor& method = *file->service(i)->method(j);
        EXPECT_TRUE(HasComment(method)) << Where(method) << ": " << method.full_name() << " has no comment";
      }
    }
  }
}

// One line of a golden file: what a number means. "hlod.v1.Command 1" -> "id uint64".
using Meanings = std::map<std::string, std::string>;

std::string TypeOf(const pb::FieldDescriptor& field) {
  std::string type = field.is_repeated() ? "repeated " : "";
  if (field.message_type() != nullptr) return type + std::string(field.message_type()->full_name());
  if (field.enum_type() != nullptr) return type + std::string(field.enum_type()->full_name());
  return type + field.type_name();
}

std::filesystem::path GoldenPath(const std::string& package) {
  return SourceDir() / "tests/golden/proto" / (package + ".txt");
}

Meanings ReadGolden(const std::string& package) {
  Meanings golden;
  std::ifstream in(GoldenPath(package));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const size_t equals = line.find(" = ");
    if (equals != line.npos) golden[line.substr(0, equals)] = line.substr(equals + 3);
  }
  return golden;
}

void WriteGolden(const std::string& package, const Meanings& golden) {
  std::filesystem::create_directories(GoldenPath(package).parent_path());
  std::ofstream out(GoldenPath(package));
  out << "# What each field number means: message number = name type. A number never changes its meaning; "
         "one that is given up stays\n"
         "# here and is `reserved` in the .proto. After adding fields: HLOD_UPDATE_GOLDEN=1 ctest --preset "
         "dev -R style\n";
  for (const auto& [number, meaning] : golden) out << number << " = " << meaning << "\n";
}

// Peers of other versions go by the numbers: one that changed its meaning would be misread, silently.
TEST_F(Proto, FieldNumbersKeepTheirMeaning) {
  std::map<std::string, Meanings> current;  // By package.
  std::map<std::string, const pb::Descriptor*> messages;
  ForEachMessage([&](const pb::Descriptor& message) {
    messages[message.full_name()] = &message;
    for (int i = 0; i < message.field_count(); ++i) {
      const pb::FieldDescriptor& field = *message.field(i);
      // Padded, so that the files are in the order of the numbers.
      std::string number = std::to_string(field.number());
      number.insert(0, 4 - std::min<size_t>(4, number.size()), ' ');
      current[message.file()->package()][message.full_name() + " " + number] =
          field.name() + " " + TypeOf(field);
    }
  });
  const bool update = std::getenv("HLOD_UPDATE_GOLDEN") != nullptr;
  for (auto& [package, meanings] : current) {
    Meanings golden = ReadGolden(package);
    for (const auto& [number, meaning] : golden) {
      const auto now = meanings.find(number);
      if (now != meanings.end()) {
        EXPECT_EQ(now->second, meaning)
            << number << " has changed its meaning; take a new number and reserve the old one";
        continue;
      }
      const size_t space = number.find(' ');
      const auto message = messages.find(number.substr(0, space));
      EXPECT_TRUE(message == messages.end() ||
                  message->second->IsReservedNumber(std::stoi(number.substr(space))))
          << number << " (" << meaning << ") is gone and not reserved: someone could use the number again";
    }
    if (update) {
      golden.insert(meanings.begin(), meanings.end());
      WriteGolden(package, golden);
      continue;
    }
    for (const auto& [number, meaning] : meanings) {
      EXPECT_TRUE(golden.contains(number))
          << number << " (" << meaning << ") is new: HLOD_UPDATE_GOLDEN=1 ctest --preset dev -R style";
    }
  }
}

}  // namespace
}  // namespace hlod
