#include "engine/gguf_types.h"

#include <array>
#include <iterator>

namespace swarmkv::internal {
namespace {

// By type number; a null name is a number that was given up or never assigned.
constexpr GgufTensorType kTensorTypes[] = {
    {"F32", 1, 4},        {"F16", 1, 2},       {"Q4_0", 32, 18},     {"Q4_1", 32, 20},
    {nullptr, 0, 0},      {nullptr, 0, 0},     {"Q5_0", 32, 22},     {"Q5_1", 32, 24},
    {"Q8_0", 32, 34},     {"Q8_1", 32, 36},    {"Q2_K", 256, 84},    {"Q3_K", 256, 110},
    {"Q4_K", 256, 144},   {"Q5_K", 256, 176},  {"Q6_K", 256, 210},   {"Q8_K", 256, 292},
    {"IQ2_XXS", 256, 66}, {"IQ2_XS", 256, 74}, {"IQ3_XXS", 256, 98}, {"IQ1_S", 256, 50},
    {"IQ4_NL", 32, 18},   {"IQ3_S", 256, 110}, {"IQ2_S", 256, 82},   {"IQ4_XS", 256, 136},
    {"I8", 1, 1},         {"I16", 1, 2},       {"I32", 1, 4},        {"I64", 1, 8},
    {"F64", 1, 8},        {"IQ1_M", 256, 56},  {"BF16", 1, 2},       {nullptr, 0, 0},
    {nullptr, 0, 0},      {nullptr, 0, 0},     {"TQ1_0", 256, 54},   {"TQ2_0", 256, 66},
    {nullptr, 0, 0},      {nullptr, 0, 0},     {nullptr, 0, 0},      {"MXFP4", 32, 17},
    {"NVFP4", 64, 36},    {"Q1_0", 128, 18},   {"Q2_0", 64, 18},
};

constexpr const char* kFileTypes[] = {
    "F32",   "F16",     "Q4_0",      "Q4_1",   nullptr,  nullptr,   nullptr,  "Q8_0",   "Q5_0",
    "Q5_1",  "Q2_K",    "Q3_K_S",    "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M", "Q5_K_S", "Q5_K_M",
    "Q6_K",  "IQ2_XXS", "IQ2_XS",    "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",
    "IQ3_M", "IQ2_S",   "IQ2_M",     "IQ4_XS", "IQ1_M",  "BF16",    nullptr,  nullptr,  nullptr,
    "TQ1_0", "TQ2_0",   "MXFP4_MOE", "NVFP4",  "Q1_0",   "Q2_0",
};

}  // namespace

std::optional<GgufTensorType> gguf_tensor_type(std::uint32_t type) {
  if (type >= std::size(kTensorTypes) || kTensorTypes[type].name == nullptr) return std::nullopt;
  return kTensorTypes[type];
}

std::string gguf_file_type_name(std::int64_t file_type) {
  if (file_type < 0 || file_type >= static_cast<std::int64_t>(std::size(kFileTypes))) return {};
  const char* name = kFileTypes[file_type];
  return name == nullptr ? std::string() : std::string(name);
}

std::uint32_t gguf_value_bytes(std::uint32_t value_type) {
  constexpr std::array<std::uint32_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return value_type < kBytes.size() ? kBytes[value_type] : 0;
}

}  // namespace swarmkv::internal
