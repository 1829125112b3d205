// Reads and writes the records of a ZIP archive: little-endian numbers at fixed places.
#include "client/nn/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <set>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"

namespace hlod::nn {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8 = 1 << 11, kExtra64 = 1;
constexpr uint32_t kIn64 = 0xffffffff;  // Marks a number that is in the ZIP64 record.
constexpr uint16_t kIn64Short = 0xffff;
// Members from this size on have a ZIP64 record, also when deflating makes them a little longer.
constexpr uint64_t kLarge = 0xf0000000;
// The maximum number of bytes to which one byte inflates.
constexpr uint64_t kInflatedMax = 1032;
constexpr size_t kPiece = size_t{1} << 18;
// The earliest date, so that equal contents have equal bytes.
constexpr uint16_t kFirstOf1980 = (1 << 5) + 1;

template <typename T>
T At(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

template <typename T>
void Put(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

absl::Status Malformed(std::string_view what) { return DataLoss("it is not a ZIP archive: %s", what); }

bool Has(std::string_view bytes, uint64_t offset, uint64_t count) {
  return offset <= bytes.size() && count <= bytes.size() - offset;
}

struct Directory {
  uint64_t offset, bytes, members;
};

absl::StatusOr<Directory> FindDirectory(std::string_view archive) {
  if (archive.size() < kEndBytes) return Malformed("it is too short");
  // A comment of up to 65,535 bytes may follow the record.
  size_t end = archive.size() - kEndBytes;
  const size_t first = end - std::min<size_t>(end, 0xffff);
  while (At<uint32_t>(archive, end) != kEnd ||
         end + kEndBytes + At<uint16_t>(archive, end + 20) != archive.size()) {
    if (end-- == first) return Malformed("the record at its end is missing");
  }
  Directory directory = {At<uint32_t>(archive, end + 16), At<uint32_t>(archive, end + 12),
                         At<uint16_t>(archive, end + 10)};
  const bool large = directory.offset == kIn64 || directory.bytes == kIn64 || directory.members == kIn64Short;
  if (large && end >= kLocator64Bytes && At<uint32_t>(archive, end - kLocator64Bytes) == kLocator64) {
    const auto record = At<uint64_t>(archive, end - kLocator64Bytes + 8);
    if (!Has(archive, record, kEnd64Bytes) || At<uint32_t>(archive, record) != kEnd64)
      return Malformed("its ZIP64 record is missing");
    directory = {At<uint64_t>(archive, record + 48), At<uint64_t>(archive, record + 40),
                 At<uint64_t>(archive, record + 32)};
  }
  if (!Has(archive, directory.offset, directory.bytes)) return Malformed("its directory is cut off");
  return directory;
}

// Reads the numbers that are marked with kIn64 from the ZIP64 record, in the record's order.
absl::Status Read64(std::string_view extra, uint64_t& size, uint64_t& stored, uint64_t& offset) {
  while (extra.size() >= 4) {
    const auto id = At<uint16_t>(extra, 0), bytes = At<uint16_t>(extra, 2);
    if (bytes > extra.size() - 4) break;
    std::string_view record = extra.substr(4, bytes);
    extra.remove_prefix(4u + bytes);
    if (id != kExtra64) continue;
    for (uint64_t* const number : {&size, &stored, &offset}) {
      if (*number != kIn64) continue;
      if (record.size() < 8) return Malformed("a ZIP64 record is cut off");
      *number = At<uint64_t>(record, 0);
      record.remove_prefix(8);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ZipMember>> ReadZip(std::string_view archive) {
  ASSIGN_OR_RETURN(const Directory directory, FindDirectory(archive));
  std::string_view rest = archive.substr(directory.offset, directory.bytes);
  std::vector<ZipMember> members;
  std::set<std::string> names;
  for (uint64_t i = 0; i < directory.members; ++i) {
    if (rest.size() < kCentralBytes || At<uint32_t>(rest, 0) != kCentral)
      return Malformed("its directory is cut off");
    const auto flags = At<uint16_t>(rest, 8), method = At<uint16_t>(rest, 10);
    const size_t name_bytes = At<uint16_t>(rest, 28), extra_bytes = At<uint16_t>(rest, 30),
                 all = kCentralBytes + name_bytes + extra_bytes + At<uint16_t>(rest, 32);
    if (all > rest.size()) return Malformed("its directory is cut off");
    ZipMember member;
    member.name = std::string(rest.substr(kCentralBytes, name_bytes));
    member.crc = At<uint32_t>(rest, 16);
    member.size = At<uint32_t>(rest, 24);
    uint64_t stored = At<uint32_t>(rest, 20), offset = At<uint32_t>(rest, 42);
    RETURN_IF_ERROR(
        Read64(rest.substr(kCentralBytes + name_bytes, extra_bytes), member.size, stored, offset));
    rest.remove_prefix(all);
    if (!names.insert(member.name).second) return DataLoss("its member %s occurs twice", member.name);
    if ((flags & kEncrypted) != 0) return DataLoss("its member %s is encrypted", member.name);
    if (method != kStored && method != kDeflated)
      return DataLoss("its member %s is compressed by method %d; 0 and 8 are read", member.name, method);
    member.deflated = method == kDeflated;
    if (!Has(archive, offset, kLocalBytes) || At<uint32_t>(archive, offset) != kLocal)
      return Malformed("a member's header is missing");
    const uint64_t begin =
        offset + kLocalBytes + At<uint16_t>(archive, offset + 26) + At<uint16_t>(archive, offset + 28);
    if (!Has(archive, begin, stored)) return DataLoss("its member %s is cut off", member.name);
    member.bytes = archive.substr(begin, stored);
    const bool possible = member.deflated ? member.size / kInflatedMax <= stored : member.size == stored;
    if (!possible) {
      return DataLoss("its member %s of %d bytes cannot come from %d", member.name, member.size, stored);
    }
    members.push_back(std::move(member));
  }
  return members;
}

// -----------------------------------------------------------------------------------------------------------
// reading

struct ZipReader::Inflater {
  z_stream stream = {};
  std::string_view rest;
  bool ok = false, ended = false;
};

ZipReader::ZipReader(const ZipMember& member) : member_(member), crc_(crc32_z(0, nullptr, 0)) {
  if (!member.deflated) return;
  inflater_ = std::make_unique<Inflater>();
  inflater_->rest = member.bytes;
  inflater_->ok = inflateInit2(&inflater_->stream, -MAX_WBITS) == Z_OK;  // Without zlib's own header.
}

ZipReader::~ZipReader() {
  if (inflater_ != nullptr && inflater_->ok) inflateEnd(&inflater_->stream);
}

absl::Status ZipReader::Read(char* to, size_t bytes) {
  const auto ends = [&] { return DataLoss("%s ends after %d bytes", member_.name, read_); };
  if (bytes > member_.size - read_) return ends();
  if (inflater_ == nullptr) {
    if (bytes > 0) std::memcpy(to, member_.bytes.data() + read_, bytes);
  } else {
    if (!inflater_->ok) return ResourceExhausted("%s: zlib cannot start", member_.name);
    z_stream& stream = inflater_->stream;
    for (size_t done = 0; done < bytes;) {
      if (inflater_->ended) return ends();
      const size_t in = std::min(inflater_->rest.size(), kPiece), out = std::min(bytes - done, kPiece);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(inflater_->rest.data()));
      stream.avail_in = static_cast<uInt>(in);
      stream.next_out = reinterpret_cast<Bytef*>(to + done);
      stream.avail_out = static_cast<uInt>(out);
      const int result = inflate(&stream, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END) {
        return DataLoss("%s cannot be inflated: %s", member_.name,
                        stream.msg != nullptr ? stream.msg : zError(result));
      }
      inflater_->ended = result == Z_STREAM_END;
      inflater_->rest.remove_prefix(in - stream.avail_in);
      done += out - stream.avail_out;
    }
  }
  crc_ = static_cast<uint32_t>(crc32_z(crc_, reinterpret_cast<const Bytef*>(to), bytes));
  read_ += bytes;
  return absl::OkStatus();
}

absl::Status ZipReader::Finish() {
  if (read_ != member_.size)
    return DataLoss("%s has %d bytes instead of %d", member_.name, member_.size, read_);
  if (crc_ != member_.crc) return DataLoss("the checksum of %s is wrong", member_.name);
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------------------------------------
// writing

std::string ZipWriter::LocalHeader(const Entry& entry) {
  const bool large = entry.bytes >= kLarge;
  const bool ascii =
      std::all_of(entry.name.begin(), entry.name.end(), [](char c) { return (c & 0x80) == 0; });
  std::string out;
  Put<uint32_t>(kLocal, out);
  Put<uint16_t>(large ? 45 : 20, out);
  Put<uint16_t>(ascii ? 0 : kUtf8, out);
  Put<uint16_t>(entry.deflated ? kDeflated : kStored, out);
  Put<uint16_t>(0, out);
  Put<uint16_t>(kFirstOf1980, out);
  Put<uint32_t>(entry.crc, out);
  Put<uint32_t>(large ? kIn64 : static_cast<uint32_t>(entry.stored_bytes), out);
  Put<uint32_t>(large ? kIn64 : static_cast<uint32_t>(entry.bytes), out);
  Put<uint16_t>(static_cast<uint16_t>(entry.name.size()), out);
  Put<uint16_t>(large ? 20 : 0, out);
  out += entry.name;
  if (!large) return out;
  Put<uint16_t>(kExtra64, out);
  Put<uint16_t>(16, out);
  Put<uint64_t>(entry.bytes, out);
  Put<uint64_t>(entry.stored_bytes, out);
  return out;
}

std::string ZipWriter::CentralHeader(const Entry& entry) {
  const std::string local = LocalHeader(entry);
  const bool large = entry.bytes >= kLarge, far = entry.offset >= kIn64;
  const size_t extra_bytes = (large ? 16 : 0) + (far ? 8 : 0);
  std::string out;
  Put<uint32_t>(kCentral, out);
  Put<uint16_t>((3 << 8) + 45, out);  // Made by a Unix system.
  Put<uint16_t>(far ? 45 : At<uint16_t>(local, 4), out);
  out += local.substr(6, 20);  // The fields from the flags to the sizes, as in the local header.
  Put<uint16_t>(static_cast<uint16_t>(entry.name.size()), out);
  Put<uint16_t>(static_cast<uint16_t>(extra_bytes == 0 ? 0 : 4 + extra_bytes), out);
  out.append(6, '\0');              // No comment; the first volume; no text.
  Put<uint32_t>(0600u << 16, out);  // The mode of a file.
  Put<uint32_t>(far ? kIn64 : static_cast<uint32_t>(entry.offset), out);
  out += entry.name;
  if (extra_bytes == 0) return out;
  Put<uint16_t>(kExtra64, out);
  Put<uint16_t>(static_cast<uint16_t>(extra_bytes), out);
  if (large) Put<uint64_t>(entry.bytes, out);
  if (large) Put<uint64_t>(entry.stored_bytes, out);
  if (far) Put<uint64_t>(entry.offset, out);
  return out;
}

void ZipWriter::Add(const std::string& name, const std::vector<std::string_view>& parts, bool deflate_it) {
  Entry entry = {name, deflate_it, file_.size(), 0, 0, static_cast<uint32_t>(crc32_z(0, nullptr, 0))};
  for (const std::string_view part : parts) {
    entry.bytes += part.size();
    entry.crc =
        static_cast<uint32_t>(crc32_z(entry.crc, reinterpret_cast<const Bytef*>(part.data()), part.size()));
  }
  entry.stored_bytes = entry.bytes;
  file_.Write(LocalHeader(entry));
  const uint64_t begin = file_.size();
  if (!deflate_it) {
    for (const std::string_view part : parts) file_.Write(part);
    entries_.push_back(std::move(entry));
    return;
  }
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(kPiece, '\0');
  const auto push = [&](std::string_view in, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, flush);
      file_.Write(out.data(), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  try {
    for (std::string_view part : parts) {
      for (; !part.empty(); part.remove_prefix(std::min(part.size(), kPiece)))
        push(part.substr(0, kPiece), Z_NO_FLUSH);
    }
    push({}, Z_FINISH);
  } catch (...) {
    deflateEnd(&stream);
    throw;
  }
  deflateEnd(&stream);
  entry.stored_bytes = file_.size() - begin;
  file_.Rewrite(entry.offset, LocalHeader(entry));
  entries_.push_back(std::move(entry));
}

void ZipWriter::Finish() {
  const uint64_t begin = file_.size();
  for (const Entry& entry : entries_) file_.Write(CentralHeader(entry));
  const uint64_t bytes = file_.size() - begin, count = entries_.size();
  const bool large = begin >= kIn64 || bytes >= kIn64 || count >= kIn64Short;
  std::string out;
  if (large) {
    const uint64_t record = file_.size();
    Put<uint32_t>(kEnd64, out);
    Put<uint64_t>(kEnd64Bytes - 12, out);
    Put<uint16_t>(45, out);
    Put<uint16_t>(45, out);
    Put<uint64_t>(0, out);  // There is one volume.
    Put<uint64_t>(count, out);
    Put<uint64_t>(count, out);
    Put<uint64_t>(bytes, out);
    Put<uint64_t>(begin, out);
    Put<uint32_t>(kLocator64, out);
    Put<uint32_t>(0, out);
    Put<uint64_t>(record, out);
    Put<uint32_t>(1, out);
  }
  Put<uint32_t>(kEnd, out);
  Put<uint32_t>(0, out);
  const auto members = static_cast<uint16_t>(std::min<uint64_t>(count, kIn64Short));
  Put<uint16_t>(members, out);
  Put<uint16_t>(members, out);
  Put<uint32_t>(static_cast<uint32_t>(std::min<uint64_t>(bytes, kIn64)), out);
  Put<uint32_t>(static_cast<uint32_t>(std::min<uint64_t>(begin, kIn64)), out);
  Put<uint16_t>(0, out);
  file_.Write(out);
}

}  // namespace hlod::nn
