#include "driver/lsp/protocol.h"

#include <fmt/format.h>

namespace pldc::lsp {
namespace {

const Json& member(const Json& value, const char* key, Json::value_t type, const char* type_name) {
  if (!value.is_object()) throw RequestError(kInvalidParams, fmt::format("'{}' is wanted of an object", key));
  const auto found = value.find(key);
  if (found == value.end()) throw RequestError(kInvalidParams, fmt::format("'{}' is missing", key));
  if (found->type() != type)
    throw RequestError(kInvalidParams, fmt::format("'{}' is not {}", key, type_name));
  return *found;
}

std::size_t count_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end() || !found->is_number_unsigned())
    throw RequestError(kInvalidParams, fmt::format("'{}' is not a number from 0 on", key));
  return found->get<std::size_t>();
}

}  // namespace

const Json& object_at(const Json& value, const char* key) {
  return member(value, key, Json::value_t::object, "an object");
}
const Json& array_at(const Json& value, const char* key) {
  return member(value, key, Json::value_t::array, "an array");
}
const std::string& text_at(const Json& value, const char* key) {
  return member(value, key, Json::value_t::string, "a string").get_ref<const std::string&>();
}
Position position_at(const Json& value, const char* key) {
  const Json& position = object_at(value, key);
  return {count_at(position, "line"), count_at(position, "character")};
}

Json to_json(Position position) { return {{"line", position.line}, {"character", position.character}}; }

}  // namespace pldc::lsp
