// Checks every offset before it reads there. Offsets go forward only, as the format demands, except a
// vtable's.
#include "client/import/exported/flatbuffer.h"

#include "common/base/errors/status.h"

namespace hlod::stablehlo::exported {
namespace {

constexpr size_t kOffsetBytes = 4;
constexpr uint16_t kVtableHeaderBytes = 4;  // The vtable's size, and the table's.

}  // namespace

bool Flatbuffer::Holds(size_t at, uint64_t count) {
  if (at <= bytes_.size() && count <= bytes_.size() - at) return true;
  if (status_.ok()) {
    status_ = InvalidArgument("One of its tables refers to (%d) bytes at byte (%d), but it has (%d) bytes.",
                              count, at, bytes_.size());
  }
  return false;
}

size_t Flatbuffer::TargetOf(size_t at) {
  const auto offset = NumberAt<uint32_t>(at);
  return status_.ok() && Holds(at, offset) ? at + offset : 0;
}

std::string_view Flatbuffer::VectorAt(size_t at, size_t width) {
  const uint64_t bytes = uint64_t{NumberAt<uint32_t>(at)} * width;
  if (!status_.ok() || !Holds(at + kOffsetBytes, bytes)) return "";
  return bytes_.substr(at + kOffsetBytes, bytes);
}

Table Flatbuffer::Root() { return Table(*this, TargetOf(0)); }

Table::Table(Flatbuffer& buffer, size_t at) : buffer_(&buffer), at_(at) {
  // The table begins with the distance back to its vtable, which may be negative.
  const auto back = buffer.NumberAt<int32_t>(at);
  const int64_t vtable = static_cast<int64_t>(at) - back;
  if (buffer.status().ok() && vtable >= 0 && buffer.Holds(static_cast<size_t>(vtable), kVtableHeaderBytes)) {
    vtable_ = static_cast<size_t>(vtable);
    vtable_bytes_ = buffer.NumberAt<uint16_t>(vtable_);
    if (buffer.Holds(vtable_, vtable_bytes_)) return;
  } else if (buffer.status().ok()) {
    buffer.status_ = InvalidArgument(
        "The table at byte (%d) has its vtable at byte (%d), which does not exist.", at, vtable);
  }
  vtable_bytes_ = 0;
}

size_t Table::PlaceOf(int field) const {
  const size_t slot = kVtableHeaderBytes + 2 * static_cast<size_t>(field);
  if (slot + 2 > vtable_bytes_) return 0;
  const auto offset = buffer_->NumberAt<uint16_t>(vtable_ + slot);
  return offset == 0 ? 0 : at_ + offset;
}

Table Table::Child(int field) const {
  const size_t at = PlaceOf(field);
  if (at == 0) return {};
  const size_t target = buffer_->TargetOf(at);
  return buffer_->status().ok() ? Table(*buffer_, target) : Table();
}

std::string_view Table::VectorOf(int field, size_t width) const {
  const size_t at = PlaceOf(field);
  if (at == 0) return "";
  const size_t target = buffer_->TargetOf(at);
  return buffer_->status().ok() ? buffer_->VectorAt(target, width) : "";
}

std::string_view Table::Bytes(int field) const { return VectorOf(field, 1); }

size_t Table::Count(int field) const { return VectorOf(field, kOffsetBytes).size() / kOffsetBytes; }

size_t Table::ElementOf(int field, size_t index) const {
  const std::string_view offsets = VectorOf(field, kOffsetBytes);
  const auto start = static_cast<size_t>(offsets.data() - buffer_->bytes_.data());
  return index < offsets.size() / kOffsetBytes ? buffer_->TargetOf(start + kOffsetBytes * index) : 0;
}

Table Table::ChildOf(int field, size_t index) const {
  const size_t at = ElementOf(field, index);
  return buffer_->status().ok() ? Table(*buffer_, at) : Table();
}

std::string_view Table::BytesOf(int field, size_t index) const {
  const size_t at = ElementOf(field, index);
  return buffer_->status().ok() ? buffer_->VectorAt(at, 1) : "";
}

}  // namespace hlod::stablehlo::exported
