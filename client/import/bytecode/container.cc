// Reads the sections, then the strings, dialects with their operations' names, entries of attributes and
// types, and properties.
#include "client/import/bytecode/container.h"

#include <array>
#include <bit>
#include <optional>

namespace hlod::stablehlo::bytecode {
namespace {

constexpr std::string_view kMagic = "\x4D\x4C\xEF\x52";
constexpr uint8_t kPadding = 0xCB;

enum SectionId : uint8_t {
  kString,
  kDialect,
  kAttrType,
  kAttrTypeOffset,
  kIr,
  kResource,
  kResourceOffset,
  kDialectVersion,
  kPropertiesSection,
  kSectionCount
};
constexpr std::array<std::string_view, kSectionCount> kSectionNames = {
    "String",   "Dialect",        "AttrType",        "AttrTypeOffset", "IR",
    "Resource", "ResourceOffset", "DialectVersions", "Properties"};

using Sections = std::array<std::optional<Stream>, kSectionCount>;

absl::StatusOr<Stream> Take(const Sections& sections, SectionId id, size_t end) {
  if (sections[id]) return *sections[id];
  return InvalidArgument("byte %d: the artifact ends without a section %s", end, kSectionNames[id]);
}

// Reads the count, the lengths (with a byte 0) from the last string to the first, then the strings.
absl::Status ReadStrings(Stream in, Container& container) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("strings"));
  std::vector<uint64_t> lengths(count);
  uint64_t total = 0;
  for (size_t i = count; i > 0; --i) {
    ASSIGN_OR_RETURN(lengths[i - 1], in.Number());
    if (lengths[i - 1] == 0) return in.Error("string %d does not end with a byte 0", i - 1);
    RETURN_IF_ERROR(in.CheckCount(lengths[i - 1], "bytes of a string"));
    total += lengths[i - 1];
    RETURN_IF_ERROR(in.CheckCount(total, "bytes of strings"));
  }
  for (const uint64_t length : lengths) {
    ASSIGN_OR_RETURN(std::string_view text, in.Bytes(length, "a string"));
    if (text.back() != '\0') return in.Error("a string does not end with a byte 0");
    text.remove_suffix(1);
    container.strings.push_back(text);
  }
  return in.End("the strings");
}

absl::StatusOr<std::string_view> StringAt(const Stream& in, uint64_t index, const Container& container) {
  RETURN_IF_ERROR(in.CheckIndex(index, container.strings.size(), "string"));
  return container.strings[index];
}

// Reads the dialects' names, then groups of operations' names, one per dialect.
absl::Status ReadDialects(Stream in, Container& container) {
  const auto name_and_flag = [&](uint64_t flag_since) -> absl::StatusOr<Stream::Flagged> {
    if (container.version >= flag_since) return in.NumberAndFlag();
    ASSIGN_OR_RETURN(const uint64_t value, in.Number());
    return Stream::Flagged{.value = value};
  };
  ASSIGN_OR_RETURN(const size_t count, in.Count("dialects"));
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const Stream::Flagged name, name_and_flag(kDialectVersions));
    ASSIGN_OR_RETURN(const std::string_view dialect, StringAt(in, name.value, container));
    container.dialects.push_back(dialect);
    if (!name.flag) continue;
    ASSIGN_OR_RETURN(const Section version, ReadSection(in));
    if (version.id != kDialectVersion) return in.Error("expected the version of a dialect");
  }
  if (container.version >= kNoUnknownLocations) {  // The number of operations' names in all groups.
    RETURN_IF_ERROR(in.Count("names of operations").status());
  }
  while (!in.AtEnd()) {
    ASSIGN_OR_RETURN(const size_t dialect, in.Index(container.dialects.size(), "dialect"));
    ASSIGN_OR_RETURN(const size_t names, in.Count("names of operations"));
    for (size_t i = 0; i < names; ++i) {
      ASSIGN_OR_RETURN(const Stream::Flagged name, name_and_flag(kProperties));
      ASSIGN_OR_RETURN(const std::string_view text, StringAt(in, name.value, container));
      container.operations.push_back({.dialect = container.dialects[dialect], .name = text});
    }
  }
  return absl::OkStatus();
}

// Reads groups of `count` entries, one per dialect; the entries' bytes follow one another in `bytes`.
absl::Status ReadEntries(Stream& in, size_t count, Stream& bytes, const Container& container,
                         std::vector<Entry>& entries) {
  while (entries.size() < count) {
    ASSIGN_OR_RETURN(const size_t dialect, in.Index(container.dialects.size(), "dialect"));
    ASSIGN_OR_RETURN(const size_t group, in.Count("attributes or types"));
    if (group > count - entries.size())
      return in.Error("a group has %d attributes or types, but only %d are left", group,
                      count - entries.size());
    for (size_t i = 0; i < group; ++i) {
      ASSIGN_OR_RETURN(const Stream::Flagged size, in.NumberAndFlag());
      ASSIGN_OR_RETURN(const Stream part, bytes.Part(size.value, kSectionNames[kAttrType]));
      entries.push_back({.dialect = container.dialects[dialect], .bytes = part, .is_custom = size.flag});
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAttributesAndTypes(Stream offsets, Stream bytes, Container& container) {
  ASSIGN_OR_RETURN(const size_t attributes, offsets.Count("attributes"));
  ASSIGN_OR_RETURN(const size_t types, offsets.Count("types"));
  RETURN_IF_ERROR(ReadEntries(offsets, attributes, bytes, container, container.attributes));
  RETURN_IF_ERROR(ReadEntries(offsets, types, bytes, container, container.types));
  RETURN_IF_ERROR(offsets.End("the sizes of attributes and types"));
  return bytes.End("the attributes and types");
}

absl::Status ReadProperties(Stream in, Container& container) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("properties"));
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t size, in.Number());
    ASSIGN_OR_RETURN(const Stream part, in.Part(size, kSectionNames[kPropertiesSection]));
    container.properties.push_back(part);
  }
  return in.End("the properties");
}

absl::StatusOr<Sections> ReadSections(Stream& in) {
  Sections sections;
  while (!in.AtEnd()) {
    ASSIGN_OR_RETURN(const Section section, ReadSection(in));
    if (sections[section.id]) return in.Error("found a second section %s", kSectionNames[section.id]);
    sections[section.id] = section.bytes;
  }
  return sections;
}

}  // namespace

bool HasMagic(std::string_view bytes) { return bytes.starts_with(kMagic); }

absl::StatusOr<Section> ReadSection(Stream& in) {
  constexpr uint8_t kIsAligned = 0x80;
  Section section;
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint8_t id, in.Byte());
  section.id = id & ~kIsAligned;
  if (section.id >= kSectionCount)
    return before.Error("expected the id of a section (0 to %d), found %d", kSectionCount - 1, section.id);
  ASSIGN_OR_RETURN(const uint64_t length, in.Number());
  if ((id & kIsAligned) != 0) {
    ASSIGN_OR_RETURN(const uint64_t alignment, in.Number());
    if (!std::has_single_bit(alignment)) return in.Error("the alignment %d is not a power of two", alignment);
    while (in.position() % alignment != 0) {
      ASSIGN_OR_RETURN(const uint8_t padding, in.Byte());
      if (padding != kPadding) return in.Error("expected padding (0xCB), found 0x%02X", padding);
    }
  }
  ASSIGN_OR_RETURN(section.bytes, in.Part(length, kSectionNames[section.id]));
  return section;
}

absl::StatusOr<Stream> ReadNestedOperations(Stream& in) {
  ASSIGN_OR_RETURN(const Section section, ReadSection(in));
  if (section.id == kIr) return section.bytes;
  return in.Error("expected a section of operations, found the section %s", kSectionNames[section.id]);
}

absl::StatusOr<Container> ReadContainer(std::string_view bytes) {
  Stream in(bytes, 0, "Header");
  ASSIGN_OR_RETURN(const std::string_view magic, in.Bytes(kMagic.size(), "the magic number"));
  if (magic != kMagic) return Stream(bytes, 0, "Header").Error("expected the bytes 4D 4C EF 52");
  Container container;
  ASSIGN_OR_RETURN(container.version, in.Number());
  if (container.version > kNewestVersion) {
    return in.Refused("the bytecode has version %d; hlod reads versions 0 to %d", container.version,
                      kNewestVersion);
  }
  constexpr size_t kLongestProducer = 60;
  ASSIGN_OR_RETURN(const std::string_view producer, in.NullTerminated("the producer's name"));
  container.producer = producer.substr(0, kLongestProducer);
  ASSIGN_OR_RETURN(const Sections sections, ReadSections(in));
  const auto take = [&](SectionId id) { return Take(sections, id, bytes.size()); };
  ASSIGN_OR_RETURN(const Stream strings, take(kString));
  RETURN_IF_ERROR(ReadStrings(strings, container));
  ASSIGN_OR_RETURN(const Stream dialects, take(kDialect));
  RETURN_IF_ERROR(ReadDialects(dialects, container));
  ASSIGN_OR_RETURN(const Stream offsets, take(kAttrTypeOffset));
  ASSIGN_OR_RETURN(const Stream entries, take(kAttrType));
  RETURN_IF_ERROR(ReadAttributesAndTypes(offsets, entries, container));
  if (sections[kPropertiesSection]) RETURN_IF_ERROR(ReadProperties(*sections[kPropertiesSection], container));
  ASSIGN_OR_RETURN(container.operations_section, take(kIr));
  return container;
}

}  // namespace hlod::stablehlo::bytecode
