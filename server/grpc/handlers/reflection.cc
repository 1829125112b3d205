// Reflection by hand: the library's own is a synchronous service, whose polling threads would compete with
// our queue thread for each message. The messages are few and are parsed as unknown fields, so they need no
// generated code.
#include "server/grpc/handlers/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>

#include <set>

#include "common/base/errors/status.h"
#include "proto/hlod/v1/admin.pb.h"
#include "proto/hlod/v1/bulk.pb.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::grpc_server {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Field numbers of grpc.reflection.v1alpha.
constexpr int kHost = 1, kFileByName = 3, kFileContainingSymbol = 4, kListServices = 7;  // Request
constexpr int kValidHost = 1, kOriginalRequest = 2, kFileResponse = 4, kListResponse = 6,
              kErrorResponse = 7;                  // Response
constexpr int kNotFound = 5, kUnimplemented = 12;  // Status codes

constexpr const char* kServices[] = {"hlod.v1.Session", "hlod.v1.Bulk", "hlod.v1.Admin",
                                     "grpc.health.v1.Health"};

std::string Serialize(const UnknownFieldSet& fields) {
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

std::string ErrorResponse(int code, const std::string& text) {
  UnknownFieldSet error;
  error.AddVarint(1, static_cast<uint64_t>(code));
  error.AddLengthDelimited(2, text);
  return Serialize(error);
}

void AddWithDependencies(const FileDescriptor& file, std::set<const FileDescriptor*>& seen,
                         UnknownFieldSet& response) {
  if (!seen.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.AddLengthDelimited(1, proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddWithDependencies(*file.dependency(i), seen, response);
}

}  // namespace

absl::StatusOr<std::string> AnswerReflection(const std::string& request) {
  UnknownFieldSet fields;
  if (!fields.ParseFromString(request))
    return InvalidArgument("The request is not a ServerReflectionRequest.");
  // The request is a oneof: the last of several fields is used, as by every parser of the format.
  const UnknownField* host = nullptr;
  const UnknownField* question = nullptr;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    (field.number() == kHost ? host : question) = &field;
  }
  UnknownFieldSet response;
  response.AddLengthDelimited(kOriginalRequest, request);
  if (host != nullptr) response.AddLengthDelimited(kValidHost, host->length_delimited());
  if (question == nullptr) return Serialize(response);
  const std::string& value = question->length_delimited();
  const DescriptorPool& pool = *v1::Command::descriptor()->file()->pool();
  if (question->number() == kListServices) {
    UnknownFieldSet list;
    for (const char* name : kServices) {
      UnknownFieldSet service;
      service.AddLengthDelimited(1, name);
      list.AddLengthDelimited(1, Serialize(service));
    }
    response.AddLengthDelimited(kListResponse, Serialize(list));
  } else if (question->number() == kFileByName || question->number() == kFileContainingSymbol) {
    const FileDescriptor* file =
        question->number() == kFileByName ? pool.FindFileByName(value) : pool.FindFileContainingSymbol(value);
    if (file == nullptr) {
      response.AddLengthDelimited(kErrorResponse, ErrorResponse(kNotFound, "No such file or symbol."));
    } else {
      UnknownFieldSet files;
      std::set<const FileDescriptor*> seen;
      AddWithDependencies(*file, seen, files);
      response.AddLengthDelimited(kFileResponse, Serialize(files));
    }
  } else {
    response.AddLengthDelimited(kErrorResponse, ErrorResponse(kUnimplemented, "This is not answered here."));
  }
  return Serialize(response);
}

}  // namespace hlod::grpc_server
