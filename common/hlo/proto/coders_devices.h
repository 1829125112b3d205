// Coders of opcodes that communicate with other devices and with the host.
#pragma once

#include <algorithm>

#include "common/hlo/proto/coder.h"
#include "common/hlo/proto/residue.h"

namespace hlod::hlo::codec {

using GroupLists = google::protobuf::RepeatedPtrField<xla::ReplicaGroup>;

inline void ReadGroupLists(const GroupLists& field, ReplicaGroups& out) {
  for (const xla::ReplicaGroup& group : field) out.lists.push_back(Read(group.replica_ids()));
}
inline void WriteGroupLists(const ReplicaGroups& groups, GroupLists* field) {
  for (size_t i = 0; i < groups.lists.size(); ++i)
    Write(groups.lists[i], ElementAt(field, i)->mutable_replica_ids());
}
inline void ReadGroupIota(const xla::IotaReplicaGroupListProto& iota, ReplicaGroups& out) {
  out.count = iota.num_replica_groups();
  out.size = iota.num_devices_per_group();
  out.reshape = Read(iota.iota_reshape_dims());
  out.transpose.assign(iota.iota_transpose_perm().begin(), iota.iota_transpose_perm().end());
}
inline void WriteGroupIota(const ReplicaGroups& groups, xla::IotaReplicaGroupListProto* iota) {
  iota->set_num_replica_groups(groups.count);
  iota->set_num_devices_per_group(groups.size);
  Write(groups.reshape, iota->mutable_iota_reshape_dims());
  iota->mutable_iota_transpose_perm()->Assign(groups.transpose.begin(), groups.transpose.end());
}

// The newest field that is set is used; beside the device list a writer may have written the lists that older
// readers need.
inline void ReadGroups(const Proto& proto, ReplicaGroups& out) {
  using Form = ReplicaGroups::Form;
  if (proto.has_mesh_axes_replica_group_list()) {
    out.form = Form::kMesh;
    out.mesh = SerializeDeterministic(proto.mesh_axes_replica_group_list());
  } else if (proto.has_iota_collective_device_list()) {
    out.form = Form::kIota;
    ReadGroupIota(proto.iota_collective_device_list(), out);
  } else if (proto.collective_device_list().has_iota_replica_group_list()) {
    out.form = Form::kDeviceListIota;
    ReadGroupIota(proto.collective_device_list().iota_replica_group_list(), out);
  } else if (proto.has_collective_device_list()) {
    out.form = proto.replica_groups_size() > 0 ? Form::kBothLists : Form::kDeviceList;
    ReadGroupLists(proto.collective_device_list().replica_groups(), out);
  } else {
    out.form = Form::kList;
    ReadGroupLists(proto.replica_groups(), out);
  }
}

inline void WriteGroups(const ReplicaGroups& groups, Proto& proto) {
  using Form = ReplicaGroups::Form;
  switch (groups.form) {
    case Form::kMesh:
      // The decoder wrote these bytes, so they parse.
      if (!proto.mutable_mesh_axes_replica_group_list()->ParseFromString(groups.mesh))
        proto.clear_mesh_axes_replica_group_list();
      return;
    case Form::kIota: WriteGroupIota(groups, proto.mutable_iota_collective_device_list()); return;
    case Form::kDeviceListIota:
      WriteGroupIota(groups, proto.mutable_collective_device_list()->mutable_iota_replica_group_list());
      return;
    case Form::kBothLists: WriteGroupLists(groups, proto.mutable_replica_groups()); [[fallthrough]];
    case Form::kDeviceList:
      WriteGroupLists(groups, proto.mutable_collective_device_list()->mutable_replica_groups());
      return;
    case Form::kList: WriteGroupLists(groups, proto.mutable_replica_groups()); return;
  }
}

template <>
struct Coder<CollectiveAttributes> {
  static constexpr std::array kFields{Proto::kReplicaGroupsFieldNumber,
                                      Proto::kCollectiveDeviceListFieldNumber,
                                      Proto::kIotaCollectiveDeviceListFieldNumber,
                                      Proto::kMeshAxesReplicaGroupListFieldNumber,
                                      Proto::kChannelIdFieldNumber,
                                      Proto::kAllReduceIdFieldNumber,
                                      Proto::kDimensionsFieldNumber,
                                      Proto::kUseGlobalDeviceIdsFieldNumber,
                                      Proto::kConstrainLayoutFieldNumber};
  static Status Decode(In in, CollectiveAttributes& out) {
    ReadGroups(in.proto, out.groups);
    if (in.proto.all_reduce_id() > 0 && in.proto.channel_id() > 0)
      return InvalidArgument("all_reduce_id and channel_id are both set");
    // all_reduce_id is the older name of channel_id.
    out.channel_id = std::max<int64_t>({in.proto.channel_id(), in.proto.all_reduce_id(), 0});
    out.dimensions = Read(in.proto.dimensions());
    out.use_global_device_ids = in.proto.use_global_device_ids();
    out.constrain_layout = in.proto.constrain_layout();
    return OkStatus();
  }
  static void Encode(const CollectiveAttributes& a, const Tables&, Proto& p) {
    WriteGroups(a.groups, p);
    p.set_channel_id(a.channel_id);
    Write(a.dimensions, p.mutable_dimensions());
    p.set_use_global_device_ids(a.use_global_device_ids);
    p.set_constrain_layout(a.constrain_layout);
  }
};

template <>
struct Coder<PermuteAttributes> {
  static constexpr std::array kFields{Proto::kSourceTargetPairsFieldNumber, Proto::kChannelIdFieldNumber};
  static Status Decode(In in, PermuteAttributes& out) {
    for (const auto& pair : in.proto.source_target_pairs())
      out.pairs.emplace_back(pair.source(), pair.target());
    out.channel_id = std::max<int64_t>(in.proto.channel_id(), 0);
    return OkStatus();
  }
  static void Encode(const PermuteAttributes& a, const Tables&, Proto& p) {
    for (size_t i = 0; i < a.pairs.size(); ++i) {
      auto* pair = ElementAt(p.mutable_source_target_pairs(), i);
      pair->set_source(a.pairs[i].first);
      pair->set_target(a.pairs[i].second);
    }
    p.set_channel_id(a.channel_id);
  }
};

template <>
struct Coder<DomainAttributes> {
  static constexpr std::array kFields{Proto::kDomainEntryShardingFieldNumber,
                                      Proto::kDomainExitShardingFieldNumber};
  static Status Decode(In in, DomainAttributes& out) {
    out.entry_sharding = SerializeDeterministic(in.proto.domain_entry_sharding());
    out.exit_sharding = SerializeDeterministic(in.proto.domain_exit_sharding());
    return OkStatus();
  }
  static void Encode(const DomainAttributes& a, const Tables&, Proto& p) {
    // The decoder or the text parser wrote these bytes, so they parse.
    if (!p.mutable_domain_entry_sharding()->ParseFromString(a.entry_sharding))
      p.clear_domain_entry_sharding();
    if (!p.mutable_domain_exit_sharding()->ParseFromString(a.exit_sharding)) p.clear_domain_exit_sharding();
  }
};

template <>
struct Coder<ChannelAttributes> {
  static constexpr std::array kFields{Proto::kChannelIdFieldNumber, Proto::kIsHostTransferFieldNumber};
  static Status Decode(In in, ChannelAttributes& out) {
    out = {in.proto.channel_id(), in.proto.is_host_transfer()};
    return OkStatus();
  }
  static void Encode(const ChannelAttributes& a, const Tables&, Proto& p) {
    p.set_channel_id(a.channel_id);
    p.set_is_host_transfer(a.is_host_transfer);
  }
};

template <>
struct Coder<InfeedAttributes> {
  static constexpr std::array kFields{Proto::kInfeedConfigFieldNumber};
  static Status Decode(In in, InfeedAttributes& out) {
    out.config = in.proto.infeed_config();
    return OkStatus();
  }
  static void Encode(const InfeedAttributes& a, const Tables&, Proto& p) { p.set_infeed_config(a.config); }
};

template <>
struct Coder<OutfeedAttributes> {
  static constexpr std::array kFields{Proto::kOutfeedConfigFieldNumber, Proto::kOutfeedShapeFieldNumber};
  static Status Decode(In in, OutfeedAttributes& out) {
    out.config = in.proto.outfeed_config();
    if (!in.proto.has_outfeed_shape()) return InvalidArgument("outfeed_shape is missing");
    ASSIGN_OR_RETURN(out.shape, FromProto(in.proto.outfeed_shape()));
    return OkStatus();
  }
  static void Encode(const OutfeedAttributes& a, const Tables&, Proto& p) {
    p.set_outfeed_config(a.config);
    EncodeShape(a.shape, p.mutable_outfeed_shape());
  }
};

}  // namespace hlod::hlo::codec
