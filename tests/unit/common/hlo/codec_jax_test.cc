// Modules that JAX lowered pass through the codec without loss.
#include "common/hlo/proto/codec.h"
#include "google/protobuf/util/field_comparator.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Removes empty sub-messages, which XLA writes and hlod need not write.
void PruneEmpty(Message* message) {
  const auto* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (field->is_repeated()) {
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
        PruneEmpty(reflection->MutableRepeatedMessage(message, field, i));
      }
    } else {
      PruneEmpty(reflection->MutableMessage(message, field));
      if (reflection->GetMessage(*message, field).ByteSizeLong() == 0) reflection->ClearField(message, field);
    }
  }
}

// Replaces ids by positions, and drops that of the module; everything else stays.
void Normalize(xla::HloModuleProto* module) {
  std::map<int64_t, int64_t> computations;
  for (auto& computation : *module->mutable_computations()) {
    std::map<uint32_t, int64_t> instructions;
    auto renumber = [&](auto* ids) {
      for (auto& id : *ids) id = instructions.at(static_cast<uint32_t>(id));
    };
    for (auto& instruction : *computation.mutable_instructions()) {
      const int64_t position = static_cast<int64_t>(instructions.size()) + 1;
      instructions[static_cast<uint32_t>(instruction.id())] = position;
      instruction.set_id(position);
      renumber(instruction.mutable_operand_ids());
      renumber(instruction.mutable_control_predecessor_ids());
      for (auto& id : *instruction.mutable_called_computation_ids()) id = computations.at(id);
    }
    computation.set_root_id(instructions.at(static_cast<uint32_t>(computation.root_id())));
    const int64_t position = static_cast<int64_t>(computations.size()) + 1;
    computations[computation.id()] = position;
    computation.set_id(position);
  }
  module->clear_id();
  module->set_entry_computation_id(computations.at(module->entry_computation_id()));
  PruneEmpty(module);
}

class JaxModule : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(JaxModule, DecodesForExecutionAndComesBackAsTheSameProto) {
  const std::string bytes = ReadFile(GetParam() / "module.pb");
  const auto module = FromSerialized(bytes, {.for_execution = true});
  ASSERT_TRUE(module.ok()) << module.status();
  xla::HloModuleProto original;
  ASSERT_TRUE(original.ParseFromString(bytes));
  xla::HloModuleProto encoded = ToProto(**module);
  Normalize(&original);
  Normalize(&encoded);
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  google::protobuf::util::MessageDifferencer differencer;
  differencer.set_field_comparator(&comparator);
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(original, encoded)) << differences.substr(0, 2000);
}

TEST_P(JaxModule, EncodedAndDecodedAgainHasEqualWords) {
  const auto module = FromSerialized(ReadFile(GetParam() / "module.pb"));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string bytes = Serialize(**module);
  const auto again = FromSerialized(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  for (ComputationId id = 0; id < (*module)->computation_count(); ++id) {
    EXPECT_TRUE((*module)->computation(id).words() == (*again)->computation(id).words());
  }
  ExpectSameProgram(**module, **again);
  EXPECT_EQ(Serialize(**again), bytes);
}

INSTANTIATE_TEST_SUITE_P(Cases, JaxModule, testing::ValuesIn(JaxCases()),
                         [](const auto& info) { return info.param.filename().string(); });

}  // namespace
}  // namespace hlod::hlo
