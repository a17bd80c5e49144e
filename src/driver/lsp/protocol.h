// What every request needs: JSON, the protocol's error codes, and reading of parameters.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "driver/lsp/positions.h"

namespace pldc::lsp {

using Json = nlohmann::json;

enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternal = -32603,
  kNotInitialized = -32002,
  kRequestFailed = -32803,
  kRequestCancelled = -32800,
};

// Ends a request with an error response.
struct RequestError : std::runtime_error {
  RequestError(ErrorCode c, const std::string& what) : std::runtime_error(what), code(c) {}
  ErrorCode code;
};

// A member of the parameters; an InvalidParams error if it is missing or of another type.
const Json& object_at(const Json& value, const char* key);
const Json& array_at(const Json& value, const char* key);
const std::string& text_at(const Json& value, const char* key);
Position position_at(const Json& value, const char* key);

Json to_json(Position position);

}  // namespace pldc::lsp
