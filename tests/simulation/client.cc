// The client's half of the protocol, and the commands that it makes.
#include "tests/simulation/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/rpc/wire.h"

namespace hlod::simulation {
namespace {

constexpr size_t kLiveMax = 12;

hlo::Shape ShapeOf(size_t elements) { return hlo::Shape::Array(hlo::kF32, {static_cast<int64_t>(elements)}); }

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// the stream

std::shared_ptr<Wire> Client::Connect(session::Registry& registry) {
  wire_ = std::make_shared<Wire>();
  wire_->connection = std::make_unique<session::Connection>(
      registry, session::Peer{.local = true, .description = "simulated", .owner = name_});
  welcomed_ = false;
  sent_through_ = settled_through_ = 0;
  told_.clear();
  replied_.clear();
  v1::ClientMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_version_min(1);
  hello.set_version_max(1);
  hello.set_client(name_);
  if (session_ != 0) {
    hello.mutable_resume()->set_epoch(epoch_);
    hello.mutable_resume()->set_session(session_);
    hello.mutable_resume()->set_secret(secret_);
  }
  wire_->up.Write(message.SerializeAsString());
  return wire_;
}

void Client::Leave() {
  if (wire_ == nullptr) return;
  wire_->client_knows = true;
  wire_.reset();
  welcomed_ = false;
}

void Client::Forget() {
  Leave();
  session_ = 0;
  last_command_ = last_handle_ = acknowledged_through_ = 0;
  read_bytes_ = 0;
  unsettled_.clear();
  unacknowledged_.clear();
  expected_.clear();
  live_.clear();
  recent_ = nullptr;
  programs_.clear();
  uploads_.clear();
  downloads_.clear();
  replies_.clear();
}

void Client::SendOutbox() {
  if (!welcomed_) return;
  while (sent_through_ < last_command_) {
    v1::ClientMessage message;
    message.set_ack_through(std::min(acknowledged_through_, settled_through_));
    const size_t together = 1 + seed_.Below(4);
    // A settled command is not sent again, and an id must not be left out: commands that the daemon has
    // received may be.
    for (size_t i = 0; i < together && sent_through_ < last_command_; ++i) {
      const auto found = unsettled_.find(++sent_through_);
      if (found != unsettled_.end()) *message.add_commands() = found->second;
    }
    message.set_quiet(seed_.OneIn(4));
    wire_->up.Write(message.SerializeAsString());
  }
}

void Client::Act(bool may_make) {
  if (may_make && static_cast<int64_t>(unsettled_.size()) < traits_.in_flight_max) {
    switch (seed_.Below(14)) {
      case 0:
      case 1: MakeUpload(); break;
      case 2: traits_.placeholders ? MakePlaceholder() : MakeUpload(); break;
      case 3: MakeFill(); break;
      case 4: MakeProgram(); break;
      case 5:
      case 6: MakeExecute(false); break;
      case 7:
      case 8: MakeExecute(traits_.donates); break;
      case 9: MakeAbstract(); break;
      case 10:
      case 11: MakeDownload(); break;
      case 12: MakeCopy(); break;
      case 13: MakeFree(); break;
    }
  }
  if (!welcomed_) return;
  if (seed_.OneIn(2)) SendOutbox();
  if (seed_.OneIn(3) || !may_make) {  // An acknowledgement by itself.
    v1::ClientMessage message;
    // Acknowledged bytes are gone: first they are fetched.
    const uint64_t through =
        downloads_.empty() ? settled_through_ : std::min(settled_through_, *downloads_.begin() - 1);
    while (!unacknowledged_.empty() && *unacknowledged_.begin() <= through) {
      acknowledged_through_ = std::max(acknowledged_through_, *unacknowledged_.begin());
      unacknowledged_.erase(unacknowledged_.begin());
    }
    message.set_ack_through(std::min(acknowledged_through_, settled_through_));
    wire_->up.Write(message.SerializeAsString());
  }
  if (traits_.cancels && may_make && seed_.OneIn(6) && !unsettled_.empty()) {
    const auto any = std::next(unsettled_.begin(), static_cast<ptrdiff_t>(seed_.Below(unsettled_.size())));
    if (any->first > sent_through_) return;
    cancels_ += !std::exchange(expected_.at(any->first).cancelled, true);
    v1::ClientMessage message;
    message.mutable_cancel()->set_command(any->first);
    wire_->up.Write(message.SerializeAsString());
  }
}

void Client::Receive() {
  if (wire_ == nullptr) return;
  while (wire_ != nullptr) {
    const std::optional<std::string> bytes = wire_->stream->down.Read();
    if (!bytes.has_value()) break;
    v1::ServerMessage message;
    if (!message.ParseFromString(*bytes)) return Wrong("a message is no ServerMessage");
    Handle(message);
  }
  if (wire_ != nullptr && wire_->stream->end.has_value() && wire_->stream->down.in_flight() == 0 &&
      !wire_->stream->cut)
    OnEnd(*wire_->stream->end);
}

void Client::OnEnd(const absl::Status& status) {
  Leave();
  const ErrorKind kind = KindOf(status);
  if (status.ok() || kind == ErrorKind::kNone) return;  // Another stream goes on.
  // The world decides when a lease runs out and when a daemon starts anew; nothing else may end a session.
  if (kind != ErrorKind::kLostSession)
    Wrong(absl::StrFormat("its session ended with %s: %s", Name(kind), std::string(status.message())));
  Forget();
}

void Client::Handle(const v1::ServerMessage& message) {
  if (message.has_welcome()) {
    const v1::Welcome& welcome = message.welcome();
    if (welcomed_) Wrong("a second Welcome came");
    if (session_ != 0 && session_ != welcome.session()) Wrong("it resumed another session");
    if (welcome.received_through() > last_command_) Wrong("the daemon received what was not sent");
    welcomed_ = true;
    session_ = welcome.session();
    epoch_ = welcome.epoch();
    secret_ = welcome.secret();
    // Sends again all that is not settled, or only what the daemon has not received.
    sent_through_ =
        seed_.OneIn(2) || unsettled_.empty() ? welcome.received_through() : unsettled_.begin()->first - 1;
    sent_through_ = std::min(sent_through_, welcome.received_through());
  }
  for (const v1::Reply& reply : message.replies()) HandleReply(reply);
  for (const uint64_t command : message.settled()) {
    if (!told_.insert(command).second) Wrong(absl::StrFormat("command %d was told twice", command));
    Settle(command, nullptr);
  }
  if (message.settled_through() < settled_through_) Wrong("settled_through went back");
  settled_through_ = std::max(settled_through_, message.settled_through());
  while (!unsettled_.empty() && unsettled_.begin()->first <= settled_through_)
    Settle(unsettled_.begin()->first, nullptr);
}

void Client::HandleReply(const v1::Reply& reply) {
  const uint64_t command = reply.command();
  if (command == 0 || command > last_command_) return Wrong("a reply to what was not sent");
  if (!replied_.insert(command).second) Wrong(absl::StrFormat("command %d was replied to twice", command));
  const auto [known, is_new] = replies_.try_emplace(command, reply.SerializeAsString());
  if (!is_new && known->second != reply.SerializeAsString())
    return Wrong(absl::StrFormat("command %d got two different replies", command));
  unacknowledged_.insert(command);  // Also if it comes again: then the acknowledgement was lost.
  Settle(command, &reply);
}

void Client::Settle(uint64_t id, const v1::Reply* reply) {
  if (unsettled_.erase(id) == 0) return;  // Told again on a new connection.
  Command& command = expected_.at(id);
  command.outcome = reply != nullptr && reply->has_error() ? Outcome::kFailed : Outcome::kSucceeded;
  if (command.outcome == Outcome::kFailed) {
    command.kind = rpc::FromProto(reply->error()).kind;
    command.error = reply->error().text();
    cancelled_ += command.kind == ErrorKind::kCancelled;
  } else {
    if (command.donates != nullptr) command.donates->consumed = true;
    if (command.frees != nullptr) command.frees->freed = true;
  }
  for (const NodePtr& node : command.defines) node->outcome = command.outcome;
  if (command.compiles != nullptr) command.compiles->outcome = command.outcome;
  if (command.outcome == Outcome::kFailed) uploads_.erase(id);
  if (command.reads == nullptr || command.outcome == Outcome::kFailed) return;
  if (reply == nullptr) return Wrong(absl::StrCat(command.what, " succeeded without bytes"));
  if (reply->download().stream()) {
    downloads_.insert(id);
  } else if (reply->download().inline_() != Bytes(command.reads->value)) {
    Wrong(absl::StrCat(command.what, " read other values"));
  }
  read_bytes_ += static_cast<int64_t>(command.reads->value.size() * sizeof(float));
}

bool Client::idle() const {
  return unsettled_.empty() && downloads_.empty() && unacknowledged_.empty() && welcomed_ &&
         wire_->up.in_flight() == 0;
}

// -----------------------------------------------------------------------------------------------------------
// beside the stream

void Client::MoveBulk(session::Registry& registry) {
  if (session_ == 0) return;
  const absl::StatusOr<std::shared_ptr<session::Session>> session = registry.Authenticate(session_, secret_);
  if (!session.ok()) return;
  if (!downloads_.empty() && seed_.OneIn(2)) {
    const uint64_t command = *downloads_.begin();
    const auto kept = (*session)->transfers().FindDownload(command);
    if (!kept.ok())
      return Wrong(absl::StrFormat("the bytes of download %d are gone before they were fetched", command));
    const std::string bytes(reinterpret_cast<const char*>((*kept)->bytes.data),
                            static_cast<size_t>((*kept)->bytes.bytes));
    if (bytes != Bytes(expected_.at(command).reads->value)) Wrong("a stream brought other values");
    (*session)->transfers().CountDownload(**kept);
    // Another stream fetches them, too.
    if (seed_.OneIn(3)) (*session)->transfers().CountDownload(**kept);
    downloads_.erase(command);
    return;
  }
  if (uploads_.empty()) return;
  auto& [command, bulk] = *std::next(uploads_.begin(), static_cast<ptrdiff_t>(seed_.Below(uploads_.size())));
  device::SessionUploads& uploads = (*session)->session_device().uploads();
  if (!bulk.part.has_value() || seed_.OneIn(12)) {  // Begins, or begins again on another transfer.
    if (!uploads.ExpectsTransfer(command)) return;
    absl::StatusOr<device::UploadPart> part = uploads.Claim(command);
    if (!part.ok()) return;
    bulk.stale = std::move(bulk.part);
    bulk.part = *std::move(part);
    bulk.moved = 0;
  }
  if (bulk.stale.has_value() && uploads.AddReceived(command, bulk.stale->generation, 1))
    Wrong(absl::StrFormat("bytes of an old transfer were counted for upload %d", command));
  const size_t bytes = std::min(1 + seed_.Below(bulk.bytes.size()), bulk.bytes.size() - bulk.moved);
  if (seed_.OneIn(10)) {
    uploads.AbortTransfer(command, bulk.part->generation);
    bulk.part.reset();
    return;
  }
  if (!uploads.Owns(*bulk.part)) return bulk.part.reset();
  std::memcpy(bulk.part->target.data() + bulk.moved, bulk.bytes.data() + bulk.moved, bytes);
  bulk.moved += bytes;
  const bool all = bulk.moved == bulk.bytes.size();
  if (!uploads.AddReceived(command, bulk.part->generation, static_cast<int64_t>(bytes))) {
    bulk.part.reset();
  } else if (all) {
    uploads_.erase(command);
  }
}

// -----------------------------------------------------------------------------------------------------------
// commands

uint64_t Client::Add(v1::Command message, Command expected) {
  message.set_id(++last_command_);
  absl::StrAppendFormat(&expected.what, " (command %d)", last_command_);
  unsettled_[last_command_] = std::move(message);
  expected_[last_command_] = std::move(expected);
  return last_command_;
}

NodePtr Client::NewNode(std::vector<float> value) {
  auto node = std::make_shared<Node>();
  node->handle = ++last_handle_;
  node->elements = traits_.elements;
  node->placeholder = value.empty();
  node->value = std::move(value);
  live_.push_back(node);
  return node;
}

NodePtr Client::AnyNode() { return live_.empty() ? nullptr : live_[seed_.Below(live_.size())]; }

NodePtr Client::NodeToDonate() {
  const bool lives = std::find(live_.begin(), live_.end(), recent_) != live_.end();
  return lives && !seed_.OneIn(3) ? recent_ : AnyNode();
}

void Client::MakeUpload() {
  if (live_.size() >= kLiveMax) return MakeFree();
  std::vector<float> values(traits_.elements);
  for (float& value : values) value = static_cast<float>(seed_.Below(16));
  const bool streamed = traits_.streams && seed_.OneIn(2);
  const NodePtr node = NewNode(values);
  v1::Command message = streamed ? StreamUploadOf(node->handle, ShapeOf(traits_.elements))
                                 : UploadOf(values, node->handle, ShapeOf(traits_.elements));
  message.mutable_upload()->set_device(0);
  const std::string bytes = Bytes(values);
  int64_t staged = static_cast<int64_t>(bytes.size());
  for (const auto& [other, bulk] : uploads_) staged += static_cast<int64_t>(bulk.bytes.size());
  const uint64_t id = Add(message, {.what = "an upload",
                                    .defines = {node},
                                    .may_exceed_staging = staged > traits_.staging_bytes_max,
                                    .may_be_late = streamed,
                                    .may_lack_memory = true,
                                    .upload_bytes = static_cast<int64_t>(bytes.size())});
  if (streamed) uploads_[id].bytes = bytes;
}

void Client::MakePlaceholder() {
  if (live_.size() >= kLiveMax) return MakeFree();
  const NodePtr node = NewNode({});
  Add(PlaceholderOf(node->handle, ShapeOf(traits_.elements)),
      {.what = "a placeholder", .defines = {node}, .may_lack_memory = true});
}

// Fills a placeholder: the handle has another node from now on.
void Client::MakeFill() {
  const NodePtr old = AnyNode();
  if (old == nullptr || !old->placeholder || old->outcome != Outcome::kSucceeded) return;
  std::vector<float> values(traits_.elements, static_cast<float>(seed_.Below(16)));
  v1::Command message = UploadOf(values, old->handle, ShapeOf(traits_.elements));
  message.mutable_upload()->set_fill(true);
  std::erase(live_, old);
  auto node = std::make_shared<Node>(*old);
  node->placeholder = false;
  node->filled = true;
  node->outcome = Outcome::kUnknown;
  node->value = values;
  // When it fails, the placeholder stays; it is not used again.
  Add(message, {.what = "a fill",
                .uses = {old},
                .defines = {node},
                .may_lack_memory = true,
                .upload_bytes = static_cast<int64_t>(values.size() * sizeof(float))});
  live_.push_back(node);
}

void Client::MakeProgram() {
  if (programs_.size() >= 4) {
    const size_t gone = seed_.Below(programs_.size());
    Add(FreeOf({programs_[gone]->handle}),
        {.what = "a free of a program", .frees_program = programs_[gone], .may_lack_memory = true});
    programs_.erase(programs_.begin() + static_cast<ptrdiff_t>(gone));
    return;
  }
  const std::shared_ptr<Program> program = simulation::MakeProgram(seed_, traits_.elements, seed_.OneIn(2));
  program->handle = ++last_handle_;
  programs_.push_back(program);
  Add(CompileOf(program->handle, program->bytes),
      {.what = "a compile", .compiles = program, .may_lack_memory = true});
}

void Client::MakeExecute(bool donate) {
  const NodePtr a = donate ? NodeToDonate() : AnyNode();
  // The latest buffer is likely to be pending.
  const NodePtr b = live_.empty() || seed_.OneIn(2) ? AnyNode() : live_.back();
  if (a == nullptr || programs_.empty() || live_.size() + 2 > kLiveMax || a->placeholder || b->placeholder)
    return MakeFree();
  const std::shared_ptr<Program> program = programs_[seed_.Below(programs_.size())];
  donate = donate && a != b;
  if (donate) std::erase(live_, a);
  recent_ = donate ? b : a;
  std::vector<std::vector<float>> results = program->Evaluate(a->value, b->value);
  const NodePtr first = NewNode(std::move(results[0])), second = NewNode(std::move(results[1]));
  v1::Command message = ExecuteOf(program->handle, {a->handle, b->handle}, {first->handle, second->handle});
  if (donate) message.mutable_execute()->add_donated(0);
  Add(message, {.what = donate ? "an execute with a donation" : "an execute",
                .uses = {a, b},
                .defines = {first, second},
                .program = program,
                .donates = donate ? a : nullptr,
                .may_lack_memory = true,
                .executes = true});
  if (donate && seed_.OneIn(2)) UseDonated(a);
}

void Client::UseDonated(const NodePtr& node) {
  if (seed_.OneIn(2)) {
    Add(FreeOf({node->handle}), {.what = "a free of a donated buffer",
                                 .frees = node,
                                 .perhaps_consumed = node,
                                 .may_lack_memory = true});
    return;
  }
  Add(DownloadOf(node->handle), {.what = "a download of a donated buffer",
                                 .uses = {node},
                                 .reads = node,
                                 .perhaps_consumed = node,
                                 .may_lack_memory = true});
}

void Client::MakeAbstract() {
  const NodePtr a = AnyNode(), b = AnyNode();
  if (a == nullptr || a->filled || b->filled || programs_.empty() || live_.size() + 2 > kLiveMax)
    return MakeFree();
  const std::shared_ptr<Program> program = programs_[seed_.Below(programs_.size())];
  const std::vector<float> none(traits_.elements);
  std::vector<std::vector<float>> results =
      program->Evaluate(a->placeholder ? none : a->value, b->placeholder ? none : b->value);
  std::vector<NodePtr> nodes;
  for (int r = 0; r < 2; ++r) {
    const bool absent = (a->placeholder && program->uses[r][0]) || (b->placeholder && program->uses[r][1]);
    nodes.push_back(NewNode(absent ? std::vector<float>() : std::move(results[r])));
  }
  v1::Command message =
      ExecuteOf(program->handle, {a->handle, b->handle}, {nodes[0]->handle, nodes[1]->handle});
  message.mutable_execute()->set_abstract(true);
  Add(message, {.what = "an abstract execute",
                .uses = {a, b},
                .defines = nodes,
                .program = program,
                .may_lack_memory = true,
                .executes = true});
}

void Client::MakeDownload() {
  const NodePtr node = AnyNode();
  if (node == nullptr) return;
  recent_ = node;
  v1::Command message = DownloadOf(node->handle);
  if (traits_.streams && seed_.OneIn(3)) message.mutable_download()->set_stream(true);
  Add(message, {.what = "a download",
                .uses = {node},
                .reads = node->placeholder ? nullptr : node,
                .reads_placeholder = node->placeholder,
                .may_lack_memory = true});
}

void Client::MakeCopy() {
  const NodePtr from = AnyNode();
  if (from == nullptr || from->filled || live_.size() >= kLiveMax) return;
  const NodePtr node = NewNode(from->value);
  v1::Command message;
  message.mutable_copy()->set_source(from->handle);
  message.mutable_copy()->set_handle(node->handle);
  Add(message, {.what = "a copy", .uses = {from}, .defines = {node}, .may_lack_memory = true});
}

void Client::MakeFree() {
  const NodePtr node = AnyNode();
  if (node == nullptr) return;
  std::erase(live_, node);
  Add(FreeOf({node->handle}), {.what = "a free", .frees = node, .may_lack_memory = true});
}

void Client::FreeAll() {
  while (!live_.empty()) MakeFree();
}

// -----------------------------------------------------------------------------------------------------------
// judgements

void Client::JudgeAll() {
  for (const auto& [id, command] : expected_) {
    if (const std::string wrong = Judge(command); !wrong.empty()) return Wrong(wrong);
  }
}

Client::Counts Client::counts() const {
  Counts counts;
  counts.read = read_bytes_;
  const auto bytes_of = [](const NodePtr& node) {
    const bool real = node != nullptr && !node->placeholder && node->outcome == Outcome::kSucceeded;
    return real ? static_cast<int64_t>(node->value.size() * sizeof(float)) : 0;
  };
  std::set<NodePtr> there(live_.begin(), live_.end());
  for (const auto& [id, command] : expected_) {
    if (command.outcome != Outcome::kSucceeded) {  // The buffer may still be there.
      there.insert(command.donates);
      there.insert(command.frees);
      continue;
    }
    counts.uploaded += command.upload_bytes;
    counts.executes += command.executes;
  }
  for (const NodePtr& node : there) {
    if (node != nullptr && !node->consumed && !node->freed) counts.buffer_bytes += bytes_of(node);
  }
  return counts;
}

}  // namespace hlod::simulation
