#include "driver/lsp/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "driver/crash.h"
#include "driver/lsp/requests.h"
#include "support/version.h"

namespace pldc::lsp {
namespace {

constexpr std::size_t kDeepestJson = 1000;
// Texts that change without a pause are looked at this often all the same.
constexpr std::chrono::milliseconds kPatience{500};

// Brackets within each other, outside of strings.
bool too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

bool usable_id(const Json& id) { return id.is_number_integer() || id.is_string(); }

Json capabilities() {
  return {{"positionEncoding", "utf-16"},
          {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
          {"hoverProvider", true},
          {"definitionProvider", true},
          {"referencesProvider", true},
          {"documentHighlightProvider", true},
          {"documentSymbolProvider", true},
          {"documentFormattingProvider", true},
          {"completionProvider", {{"triggerCharacters", {".", "@", "="}}}},
          {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}, {"retriggerCharacters", {"="}}}},
          {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
          {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}}};
}

using Request = Json (*)(const Document&, const Analysis&, const Json&);
const std::map<std::string, Request, std::less<>>& requests() {
  static const std::map<std::string, Request, std::less<>> table = {
      {"textDocument/hover", hover},
      {"textDocument/definition", definition},
      {"textDocument/references", references},
      {"textDocument/documentHighlight", document_highlight},
      {"textDocument/documentSymbol", document_symbol},
      {"textDocument/completion", completion},
      {"textDocument/signatureHelp", signature_help},
      {"textDocument/codeAction", code_action},
      {"textDocument/semanticTokens/full", semantic_tokens},
  };
  return table;
}
constexpr std::string_view kFormatting = "textDocument/formatting";

// Runs what may find a bug of pldc: then a crash file is written, and the request fails.
template <class Work>
auto guarded(Session& session, const Document& document, Work&& work) {
  std::string what;
  const CrashScope scope(session.env().crash_directory, {"check", document.name()},
                         session.env().variable("PLDC_VERIFY").value_or(""), document.name(),
                         document.text());
  try {
    return work();
  } catch (const RequestError&) {
    throw;
  } catch (const std::bad_alloc&) {
    what = "out of memory";
  } catch (const std::exception& e) {
    what = e.what();
  }
  const std::string line = scope.write(what);
  session.err() << line;
  session.err().flush();
  throw RequestError(kInternal, line);
}

}  // namespace

// --- messages in and out
// ---------------------------------------------------------------------------------------------------

int Server::serve(int input) {
  while (state_ != State::Ended) {
    while (!at_end_ && fill(input, false)) {
    }
    if (!queue_.empty()) {
      Pending next = std::move(queue_.front());
      queue_.pop_front();
      handle(std::move(next));
      publish_new();
      if (std::chrono::steady_clock::now() > next_analysis_) analyse_all();
      continue;
    }
    if (at_end_) break;
    analyse_all();
    fill(input, true);
  }
  return code_;
}

// Reads what there is and takes the messages out of it; `wait`: until there is something. False if nothing came.
bool Server::fill(int input, bool wait) {
  pollfd waiting{input, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, wait ? -1 : 0);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return false;
  char bytes[65536];
  const ssize_t count = ::read(input, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return false;
  if (count <= 0) {
    at_end_ = true;
    return false;
  }
  framing_.append({bytes, static_cast<std::size_t>(count)});
  take_frames();
  return true;
}

void Server::take_frames() {
  while (const std::optional<Frame> frame = framing_.next()) {
    if (!frame->good) {
      queue_.push_back({Json(Json::value_t::discarded), frame->body});
    } else if (too_deep(frame->body)) {
      queue_.push_back(
          {Json(Json::value_t::discarded), fmt::format("nested more than {} deep", kDeepestJson)});
    } else {
      queue(Json::parse(frame->body, nullptr, false));
    }
  }
}

void Server::queue(Json message) {
  if (message.is_discarded()) {
    queue_.push_back({std::move(message), "this is no JSON"});
    return;
  }
  if (message.is_object() && message.value("method", Json()) == "$/cancelRequest") {
    const Json id =
        message.value("params", Json::object()).is_object() ? message["params"].value("id", Json()) : Json();
    for (Pending& pending : queue_) {
      if (pending.message.is_object() && pending.message.contains("method") && usable_id(id) &&
          pending.message.value("id", Json()) == id) {
        pending.cancelled = true;
      }
    }
    return;
  }
  queue_.push_back({std::move(message), {}});
}

void Server::send(const Json& message) {
  session_.out() << framed(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  session_.out().flush();
  if (!session_.out().good()) state_ = State::Ended;  // nobody reads
}

void Server::reply(const Json& id, Json result) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Server::fail(const Json& id, int code, const std::string& what) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", what}}}});
}

// --- one message
// ---------------------------------------------------------------------------------------------------

void Server::handle(Pending pending) {
  const Json& message = pending.message;
  if (message.is_discarded()) return fail(nullptr, kParseError, pending.wrong);
  if (!message.is_object()) return fail(nullptr, kInvalidRequest, "a message is an object");
  const auto id = message.find("id");
  const auto method = message.find("method");
  if (method == message.end()) {
    // An answer to a request of the server, which makes none.
    if (message.contains("result") || message.contains("error")) return;
    return fail(nullptr, kInvalidRequest, "a message has a method");
  }
  if (id != message.end() && !usable_id(*id))
    return fail(nullptr, kInvalidRequest, "the id of a request is a number or a string");
  if (!method->is_string())
    return fail(id != message.end() ? *id : Json(), kInvalidRequest, "a method is a string");
  const Json params = message.value("params", Json());
  if (!params.is_null() && !params.is_structured())
    return fail(id != message.end() ? *id : Json(), kInvalidRequest, "the parameters are an object");
  const std::string& name = method->get_ref<const std::string&>();
  if (id == message.end()) return notice(name, params);
  if (pending.cancelled) return fail(*id, kRequestCancelled, "cancelled");
  call(*id, name, params);
}

void Server::call(const Json& id, const std::string& method, const Json& params) {
  if (method == "initialize") {
    if (state_ != State::New) return fail(id, kInvalidRequest, "it is initialized already");
    state_ = State::Running;
    return reply(
        id, {{"capabilities", capabilities()}, {"serverInfo", {{"name", "pldc"}, {"version", kVersion}}}});
  }
  if (state_ == State::New) return fail(id, kNotInitialized, "the first request is 'initialize'");
  if (state_ != State::Running) return fail(id, kInvalidRequest, "it is shut down");
  if (method == "shutdown") {
    state_ = State::ShutDown;
    return reply(id, nullptr);
  }
  try {
    reply(id, answer(method, params));
  } catch (const RequestError& e) {
    fail(id, e.code, e.what());
  }
}

Json Server::answer(const std::string& method, const Json& params) {
  if (requests().count(method) == 0 && method != kFormatting)
    throw RequestError(kMethodNotFound, fmt::format("there is no method '{}'", method));
  Document* document = find(params);
  if (document == nullptr)
    throw RequestError(kInvalidParams,
                       fmt::format("'{}' is not open", text_at(params["textDocument"], "uri")));
  return guarded(session_, *document, [&] { return answer_about(*document, method, params); });
}

Json Server::answer_about(Document& document, const std::string& method, const Json& params) {
  const Analysis& analysis = document.analysis(session_.diag_options());
  if (method == kFormatting) {
    return formatting(document, analysis, session_.print_options_for(analysis.module, true));
  }
  return requests().find(method)->second(document, analysis, params);
}

// --- documents
// ---------------------------------------------------------------------------------------------------

Document* Server::find(const Json& params) {
  const auto found = documents_.find(text_at(object_at(params, "textDocument"), "uri"));
  return found != documents_.end() ? found->second.get() : nullptr;
}

void Server::notice(const std::string& method, const Json& params) {
  if (method == "exit") {
    if (state_ == State::ShutDown) code_ = kFine;
    state_ = State::Ended;
    return;
  }
  if (state_ != State::Running) return;
  try {
    if (method == "textDocument/didOpen") did_open(params);
    if (method == "textDocument/didChange") did_change(params);
    if (method == "textDocument/didClose") did_close(params);
  } catch (const RequestError& e) {
    // Nobody waits for an answer.
    send({{"jsonrpc", "2.0"},
          {"method", "window/logMessage"},
          {"params", {{"type", 1}, {"message", fmt::format("{}: {}", method, e.what())}}}});
  }
}

namespace {

std::optional<std::int64_t> version_in(const Json& document) {
  const auto found = document.find("version");
  if (found == document.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

void Server::did_open(const Json& params) {
  const Json& item = object_at(params, "textDocument");
  const std::string& uri = text_at(item, "uri");
  documents_[uri] = std::make_unique<Document>(uri, text_at(item, "text"), version_in(item));
}

void Server::did_change(const Json& params) {
  Document* document = find(params);
  if (document == nullptr) throw RequestError(kInvalidParams, "the document is not open");
  for (const Json& change : array_at(params, "contentChanges")) {
    const std::string& text = text_at(change, "text");
    const auto range = change.find("range");
    if (range == change.end() || range->is_null()) {
      document->replace(text);
    } else {
      document->replace(position_at(*range, "start"), position_at(*range, "end"), text);
    }
  }
  document->version = version_in(params["textDocument"]);
}

void Server::did_close(const Json& params) {
  const Document* document = find(params);
  if (document == nullptr) throw RequestError(kInvalidParams, "the document is not open");
  const std::string uri = document->uri();
  documents_.erase(uri);
  send({{"jsonrpc", "2.0"},
        {"method", "textDocument/publishDiagnostics"},
        {"params", {{"uri", uri}, {"diagnostics", Json::array()}}}});
}

void Server::analyse_all() {
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [uri, document] : documents_) {
    if (!document->changed()) continue;
    try {
      Document& changed = *document;
      guarded(session_, changed, [&] { return &changed.analysis(session_.diag_options()); });
    } catch (const RequestError& e) {
      // Said once for a state of the text.
      send({{"jsonrpc", "2.0"},
            {"method", "window/showMessage"},
            {"params", {{"type", 1}, {"message", e.what()}}}});
      document->give_up();
    }
  }
  publish_new();
  // Large texts less often: most of the time is for what the client wants.
  const auto now = std::chrono::steady_clock::now();
  next_analysis_ = now + kPatience + 3 * (now - begin);
}

void Server::publish_new() {
  for (const auto& [uri, document] : documents_) {
    if (!document->take_unpublished()) continue;
    send({{"jsonrpc", "2.0"},
          {"method", "textDocument/publishDiagnostics"},
          {"params", diagnostics(*document, document->analysis(session_.diag_options()))}});
  }
}

}  // namespace pldc::lsp
